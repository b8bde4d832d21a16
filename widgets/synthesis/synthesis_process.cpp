// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/synthesis/synthesis_process.h"

#include "core/base/paths.h"

#include <csignal>
#include <utility>

namespace cuda_agent::widgets {

namespace {

constexpr qsizetype mostErrors = 16 << 10;
constexpr int incomplete = 1; ///< exit code: the asked-for thing does not hold
constexpr int signalsInTurn[] = {SIGINT, SIGTERM, SIGKILL};

QString cudaAgent() {
    std::error_code error;
    auto program = programDir() / "cuda-agent";
    if (!std::filesystem::exists(program, error))
        program = workerDir() / "cuda-agent";
    return QString::fromStdString(program.lexically_normal().string());
}

} // namespace

QStringList SynthesisRequest::arguments() const {
    QStringList list{QStringLiteral("synthesize"), recipe, QStringLiteral("--out"), folder};
    if (seed)
        list << QStringLiteral("--seed") << QString::number(*seed);
    if (tasks > 0)
        list << QStringLiteral("--tasks") << QString::number(tasks);
    if (!device.isEmpty())
        list << QStringLiteral("--device") << device;
    return list;
}

SynthesisProcess::SynthesisProcess(QObject *parent) : QObject(parent), program_(cudaAgent()) {
    process_.setStandardInputFile(QProcess::nullDevice());
    process_.setStandardOutputFile(QProcess::nullDevice());
    waiting_.setSingleShot(true);
    connect(&waiting_, &QTimer::timeout, this, &SynthesisProcess::escalate);
    connect(&process_, &QProcess::readyReadStandardError, this, &SynthesisProcess::readErrors);
    connect(&process_, &QProcess::finished, this, &SynthesisProcess::ended);
    connect(&process_, &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
        if (error == QProcess::FailedToStart)
            ended();
    });
}

SynthesisProcess::~SynthesisProcess() {
    finish();
}

void SynthesisProcess::becomes(State state) {
    if (std::exchange(state_, state) != state)
        emit stateChanged();
}

bool SynthesisProcess::start(const SynthesisRequest &request) {
    if (state_ != State::idle)
        return false;
    request_ = request;
    errors_.clear();
    error_.clear();
    pressed_ = 0;
    state_ = State::running;
    emit stateChanged();
    process_.start(program_, request.arguments());
    return true;
}

void SynthesisProcess::stop() {
    if (state_ != State::running)
        return;
    becomes(State::stopping);
    if (process_.state() == QProcess::Starting)
        process_.waitForStarted();
    escalate();
}

void SynthesisProcess::escalate() {
    if (process_.state() != QProcess::Running || pressed_ >= 3)
        return;
    ::kill(static_cast<pid_t>(process_.processId()), signalsInTurn[pressed_++]);
    waiting_.start(patience_);
}

void SynthesisProcess::finish() {
    stop();
    while (process_.state() != QProcess::NotRunning && pressed_ <= 3) {
        const int left = waiting_.remainingTime();
        if (process_.waitForFinished(left > 0 ? left : patience_) || pressed_ == 3)
            break;
        escalate();
    }
}

void SynthesisProcess::readErrors() {
    errors_ += process_.readAllStandardError();
    if (errors_.size() > mostErrors)
        errors_ = errors_.right(mostErrors);
}

void SynthesisProcess::ended() {
    waiting_.stop();
    readErrors();
    const bool asked = pressed_ > 0;
    const bool good = process_.error() != QProcess::FailedToStart &&
                      process_.exitStatus() == QProcess::NormalExit && process_.exitCode() == 0;
    if (process_.error() == QProcess::FailedToStart) {
        error_ = tr("%1 cannot be started: %2").arg(program_, process_.errorString());
    } else if (!good && !asked) {
        const QList<QByteArray> lines = errors_.split('\n');
        for (auto line = lines.rbegin(); line != lines.rend() && error_.isEmpty(); ++line)
            error_ = QString::fromUtf8(*line).trimmed().left(2000);
        if (error_.isEmpty() && process_.exitCode() == incomplete)
            error_ = tr("The set is not whole. Start the synthesis again with the same folder to "
                        "go on.");
        if (error_.isEmpty())
            error_ = process_.exitStatus() == QProcess::CrashExit
                         ? tr("The synthesis was ended by a signal.")
                         : tr("The synthesis ended with exit code %1.").arg(process_.exitCode());
    }
    becomes(State::idle);
}

} // namespace cuda_agent::widgets
