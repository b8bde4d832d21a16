// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QProcess>
#include <QTimer>

#include <optional>

namespace cuda_agent::widgets {

/// What `cuda-agent synthesize` is asked for.
struct SynthesisRequest {
    QString recipe, folder;
    QString device;             ///< empty: as the program chooses
    std::optional<qint64> seed; ///< nothing: the recipe's
    int tasks = 0;              ///< 0: as many as the recipe says

    QStringList arguments() const;
};

/// A synthesis as a child process: `cuda-agent synthesize`. It is told to stop as by Ctrl-C, which
/// leaves a folder that can be gone on with. GUI thread.
class SynthesisProcess : public QObject {
    Q_OBJECT
  public:
    enum class State { idle, running, stopping };

    explicit SynthesisProcess(QObject *parent = nullptr);
    /// Stops it and waits.
    ~SynthesisProcess() override;

    /// The program to run; by default the cuda-agent beside this one.
    void setProgram(const QString &program) { program_ = program; }
    /// How long it may take to end after each of SIGINT and SIGTERM. By default 10 s.
    void setPatience(int milliseconds) { patience_ = milliseconds; }

    /// False while one runs.
    bool start(const SynthesisRequest &request);
    /// SIGINT, when that does not end it SIGTERM, at last SIGKILL. Returns at once.
    void stop();
    /// Stops it and waits for its end.
    void finish();

    State state() const { return state_; }
    const SynthesisRequest &request() const { return request_; }
    /// Why the last one ended badly, in its own last words; empty when it did not.
    const QString &error() const { return error_; }

  signals:
    void stateChanged();

  private:
    void readErrors();
    void ended();
    void becomes(State state);
    void escalate();

    QProcess process_;
    QTimer waiting_;
    QString program_;
    SynthesisRequest request_;
    QByteArray errors_; ///< the end of what it wrote there
    QString error_;
    int patience_ = 10'000;
    int pressed_ = 0; ///< signals sent
    State state_ = State::idle;
};

} // namespace cuda_agent::widgets
