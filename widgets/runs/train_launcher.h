// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QStringList>

class QProcess;

namespace cuda_agent::widgets {

/// What `cuda-agent-learn train` is asked for.
struct TrainRequest {
    QString recipe, folder;
    bool resume = false; ///< from the last checkpoint of the folder

    QStringList arguments() const;
};

/// Starts trainers as processes of their own: they go on when the window is closed, for training
/// takes long, and are steered through their folders. What they print goes to trainer.log in the
/// run's folder. GUI thread.
class TrainLauncher : public QObject {
    Q_OBJECT
  public:
    explicit TrainLauncher(QObject *parent = nullptr);
    /// Trainers that run go on.
    ~TrainLauncher() override;

    /// By default the cuda-agent-learn beside this program.
    void setProgram(const QString &program) { program_ = program; }
    const QString &program() const { return program_; }
    /// What to do about a program that is not there; empty when it is.
    QString missing() const;
    void start(const TrainRequest &request);

  signals:
    /// The trainer of the folder ended badly, or could not be started; its own last words.
    void failed(const QString &folder, const QString &why);

  private:
    QString program_;
};

} // namespace cuda_agent::widgets
