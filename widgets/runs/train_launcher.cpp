// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/runs/train_launcher.h"

#include "core/base/paths.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QPointer>
#include <QProcess>

#include <unistd.h>
#include <vector>

namespace cuda_agent::widgets {

namespace {

constexpr qint64 lastWords = 16 << 10;

QString cudaAgentLearn() {
    std::error_code error;
    auto program = programDir() / "cuda-agent-learn";
    if (!std::filesystem::exists(program, error))
        program = workerDir() / "cuda-agent-learn";
    return QString::fromStdString(program.lexically_normal().string());
}

QString lastLine(const QString &file) {
    QFile log(file);
    if (!log.open(QIODevice::ReadOnly))
        return {};
    log.seek(std::max<qint64>(0, log.size() - lastWords));
    const QList<QByteArray> lines = log.read(lastWords).split('\n');
    for (auto line = lines.rbegin(); line != lines.rend(); ++line)
        if (const QString text = QString::fromUtf8(*line).trimmed().left(2000); !text.isEmpty())
            return text;
    return {};
}

/// Trainers of this program's life. Never deleted while they run: that would end them.
std::vector<QProcess *> &started() {
    static std::vector<QProcess *> processes;
    return processes;
}

} // namespace

QStringList TrainRequest::arguments() const {
    QStringList list{QStringLiteral("train"), recipe, QStringLiteral("--out"), folder};
    if (resume)
        list << QStringLiteral("--resume");
    return list;
}

TrainLauncher::TrainLauncher(QObject *parent) : QObject(parent), program_(cudaAgentLearn()) {}

TrainLauncher::~TrainLauncher() = default;

QString TrainLauncher::missing() const {
    if (QFileInfo(program_).isExecutable())
        return {};
    return tr("The trainer %1 is missing: it is built where PyTorch is installed. Run: %2")
        .arg(program_, QString::fromStdString(setupCommand()));
}

void TrainLauncher::start(const TrainRequest &request) {
    QDir().mkpath(request.folder);
    const QString log = QDir(request.folder).filePath(QStringLiteral("trainer.log"));
    auto *process = new QProcess;
    started().push_back(process);
    process->setStandardInputFile(QProcess::nullDevice());
    process->setProcessChannelMode(QProcess::MergedChannels);
    process->setStandardOutputFile(log, QIODevice::Append);
    // A session of its own: Ctrl-C at the window's terminal is not meant for the trainer.
    process->setChildProcessModifier([] { ::setsid(); });
    const QString folder = request.folder, program = program_;
    const auto ended = [self = QPointer(this), process, folder, program, log] {
        QString why;
        if (process->error() == QProcess::FailedToStart)
            why = tr("%1 cannot be started: %2").arg(program, process->errorString());
        else if (process->exitStatus() == QProcess::CrashExit)
            why = tr("The trainer of %1 was ended by a signal.").arg(folder);
        else if (process->exitCode() != 0 && process->exitCode() != 130)
            why = lastLine(log).isEmpty() ? tr("The trainer of %1 ended with exit code %2.")
                                                .arg(folder)
                                                .arg(process->exitCode())
                                          : lastLine(log);
        std::erase(started(), process);
        process->deleteLater();
        if (self && !why.isEmpty())
            emit self->failed(folder, why);
    };
    connect(process, &QProcess::finished, process, ended);
    connect(process, &QProcess::errorOccurred, process, [ended](QProcess::ProcessError error) {
        if (error == QProcess::FailedToStart)
            ended();
    });
    process->start(program_, request.arguments());
}

} // namespace cuda_agent::widgets
