// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/runs/run_follower.h"

#include "widgets/runs/run_worker.h"

namespace cuda_agent::widgets {

RunFollower::RunFollower(QObject *parent) : QObject(parent), worker_(new RunWorker(this)) {
    qRegisterMetaType<RunSummary>();
    qRegisterMetaType<std::shared_ptr<Curves>>();
    qRegisterMetaType<std::shared_ptr<Rollouts>>();
    worker_->moveToThread(&thread_);
    connect(&thread_, &QThread::finished, worker_, &QObject::deleteLater);
    thread_.setObjectName(QStringLiteral("runs"));
    thread_.start();
}

RunFollower::~RunFollower() {
    stopping_ = true;
    thread_.quit();
    thread_.wait();
}

void RunFollower::add(const QString &folder) {
    QMetaObject::invokeMethod(worker_, [worker = worker_, folder] { worker->add(folder); });
}

void RunFollower::remove(const QString &run) {
    QMetaObject::invokeMethod(worker_, [worker = worker_, run] { worker->remove(run); });
}

void RunFollower::reload(const QString &run) {
    QMetaObject::invokeMethod(worker_, [worker = worker_, run] { worker->reload(run); });
}

void RunFollower::request(const CurveRequest &request) {
    const quint64 number = ++requests_;
    {
        const QMutexLocker lock(&mutex_);
        newest_[request.metric] = number;
    }
    QMetaObject::invokeMethod(
        worker_, [worker = worker_, request, number] { worker->answer(request, number); });
}

void RunFollower::exportCsv(const QString &file, const QStringList &folders,
                            const QStringList &names, const QStringList &metrics,
                            double smoothing) {
    QMetaObject::invokeMethod(worker_, [=, worker = worker_] {
        worker->exportCsv(file, folders, names, metrics, smoothing);
    });
}

void RunFollower::ask(const QString &run, learn::RunOrder order) {
    QMetaObject::invokeMethod(worker_, [worker = worker_, run, order] { worker->ask(run, order); });
}

void RunFollower::setInterval(int milliseconds) {
    QMetaObject::invokeMethod(
        worker_, [worker = worker_, milliseconds] { worker->setInterval(milliseconds); });
}

} // namespace cuda_agent::widgets
