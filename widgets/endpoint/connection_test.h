// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/policy/endpoint/endpoint.h"

#include <QObject>

#include <stop_token>

namespace cuda_agent::widgets {

/// How a test went. (A struct: signals carry no Result.)
struct ConnectionAnswer {
    Result<policy::EndpointTest> test;
};

/// Tests an endpoint on another thread; one test at a time, a newer one replaces the older. GUI
/// thread. Its end stops a test under way without waiting for it.
class ConnectionTest : public QObject {
    Q_OBJECT
  public:
    explicit ConnectionTest(QObject *parent = nullptr) : QObject(parent) {}
    ~ConnectionTest() override { stop_.request_stop(); }

    void start(const policy::EndpointConfig &config);
    /// `finished` follows.
    void stop() { stop_.request_stop(); }
    bool busy() const { return busy_; }

  signals:
    void finished(const ConnectionAnswer &answer);

  private:
    std::stop_source stop_;
    int number_ = 0;
    bool busy_ = false;
};

/// What a test found out, in words, a line each.
QString testText(const policy::EndpointTest &test);

} // namespace cuda_agent::widgets
