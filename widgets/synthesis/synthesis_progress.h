// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QByteArray>
#include <QString>
#include <QVector>

#include <deque>
#include <limits>
#include <optional>

namespace cuda_agent::widgets {

/// What progress.json says (core/synthesis/README.md). A field that is missing or of another type
/// counts as 0, a time as unknown.
struct SynthesisProgress {
    enum class State { running, done, stopped };
    struct Rejection {
        QString reason;
        double count = 0;
        bool operator==(const Rejection &) const = default;
    };

    State state = State::running;
    QString stage;
    double wanted = 0, proposed = 0, checked = 0, timed = 0, compiled = 0, accepted = 0;
    QVector<Rejection> rejected;                            ///< most frequent first
    double seconds = 0;                                     ///< that it ran
    double left = std::numeric_limits<double>::quiet_NaN(); ///< seconds; NaN unknown

    /// Nothing when the text is no such object: it may be half written.
    static std::optional<SynthesisProgress> parse(const QByteArray &text);
};

/// Counts a second, over the last half minute of a synthesis. NaN until two values are known.
class SynthesisRates {
  public:
    void add(const SynthesisProgress &progress);
    void clear() { seen_.clear(); }
    double of(double SynthesisProgress::*count) const;

  private:
    std::deque<SynthesisProgress> seen_;
};

} // namespace cuda_agent::widgets
