// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QElapsedTimer>
#include <QEventLoop>
#include <QTimer>

#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <functional>

namespace cuda_agent::widgets {

/// Watches the event loop of this thread: the longest time in which a timer of no delay was not
/// served. A stretch in which the scheduler took the processor away (other programs run) counts
/// with the time that this thread itself computed.
class LoopWatch : public QObject {
  public:
    LoopWatch() {
        timer_.setInterval(1);
        timer_.setTimerType(Qt::PreciseTimer);
        connect(&timer_, &QTimer::timeout, this, [this] { served(); });
        served();
        longest = 0;
        timer_.start();
    }
    /// Serves events until it holds; false when that takes too long. Unlike QTest::qWait it does
    /// not sleep in between.
    bool until(const std::function<bool()> &holds, int within = 30'000) {
        QEventLoop loop;
        QTimer ask;
        bool good = false;
        connect(&ask, &QTimer::timeout, &loop, [&] {
            good = holds();
            if (good)
                loop.quit();
        });
        ask.start(5);
        QTimer::singleShot(within, &loop, &QEventLoop::quit);
        loop.exec();
        return good;
    }
    void wait(int milliseconds) {
        until([] { return false; }, milliseconds);
    }
    double longest = 0; ///< ms

  private:
    void served() {
        timespec now{}, own{};
        rusage use{};
        clock_gettime(CLOCK_MONOTONIC, &now);
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &own);
        getrusage(RUSAGE_THREAD, &use);
        const auto ms = [](const timespec &time) {
            return static_cast<double>(time.tv_sec) * 1e3 +
                   static_cast<double>(time.tv_nsec) * 1e-6;
        };
        const double wall = ms(now) - wall_, computed = ms(own) - own_;
        longest = std::max(longest, use.ru_nivcsw > taken_ ? std::min(wall, computed) : wall);
        wall_ = ms(now);
        own_ = ms(own);
        taken_ = use.ru_nivcsw;
    }

    QTimer timer_;
    double wall_ = 0, own_ = 0;
    long taken_ = 0;
};

} // namespace cuda_agent::widgets
