// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "tests/source_dir.h"

#include <QProcess>
#include <QString>

namespace cuda_agent::widgets {

/// The chat endpoint of the engine's tests (tests/core/endpoint/chat_server.py) as a process.
class ChatProcess {
  public:
    explicit ChatProcess(const QString &script = {}) {
        QStringList arguments{
            QStringLiteral("-B"),
            QString::fromStdString((sourceDir() / "tests/core/endpoint/chat_server.py").string())};
        if (!script.isEmpty())
            arguments += script;
        process_.setProcessChannelMode(QProcess::ForwardedErrorChannel);
        process_.start(QStringLiteral("python3"), arguments);
        if (process_.waitForReadyRead(20'000))
            port_ = process_.readLine().trimmed().toInt();
    }
    ~ChatProcess() {
        process_.kill();
        process_.waitForFinished(5000);
    }
    bool started() const { return port_ > 0; }
    /// What it was asked so far, as JSON.
    QByteArray requests() const {
        QProcess ask;
        ask.start(QStringLiteral("python3"),
                  {QStringLiteral("-c"),
                   QStringLiteral("import sys, urllib.request as r; "
                                  "sys.stdout.write(r.urlopen(sys.argv[1]).read().decode())"),
                   url().chopped(3) + QStringLiteral("/requests")});
        return ask.waitForFinished(20'000) ? ask.readAllStandardOutput() : QByteArray();
    }
    QString url() const { return QStringLiteral("http://127.0.0.1:%1/v1").arg(port_); }

  private:
    QProcess process_;
    int port_ = 0;
};

} // namespace cuda_agent::widgets
