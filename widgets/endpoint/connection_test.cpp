// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/endpoint/connection_test.h"

#include "widgets/base/text.h"

#include <QFutureWatcher>
#include <QtConcurrent>

namespace cuda_agent::widgets {

void ConnectionTest::start(const policy::EndpointConfig &config) {
    stop_.request_stop();
    stop_ = std::stop_source();
    busy_ = true;
    const int number = ++number_;
    using Answer = Result<policy::EndpointTest>;
    auto *watcher = new QFutureWatcher<Answer>(this); // dies with this object: no late answer
    connect(watcher, &QFutureWatcherBase::finished, this, [this, watcher, number] {
        watcher->deleteLater();
        if (number != number_)
            return;
        busy_ = false;
        Q_EMIT finished({watcher->future().takeResult()});
    });
    watcher->setFuture(QtConcurrent::run([config, stop = stop_.get_token()]() -> Answer {
        return policy::testEndpoint(config, stop);
    }));
}

QString testText(const policy::EndpointTest &test) {
    const QStringList lines{
        test.model.empty()
            ? ConnectionTest::tr("It answers.")
            : ConnectionTest::tr("It answers as %1.").arg(QString::fromStdString(test.model)),
        ConnectionTest::tr("Whole answer after %1, its first piece after %2.")
            .arg(timeText(test.seconds), timeText(test.firstSeconds)),
        test.tools ? ConnectionTest::tr("It calls tools.")
                   : ConnectionTest::tr("It does not call tools: it answered in words. An agent "
                                        "needs a model that calls tools; some servers need an "
                                        "option for that."),
        test.usage ? ConnectionTest::tr("It counts tokens.")
                   : ConnectionTest::tr("It does not count tokens; this program estimates them.")};
    return lines.join(QLatin1Char('\n'));
}

} // namespace cuda_agent::widgets
