// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/trace/trace_model.h"

#include <QObject>
#include <QTimer>

#include <string>
#include <vector>

namespace cuda_agent::widgets {

/// Finds text in all cards of a trace, folded or not: in titles and bodies, ignoring the case of
/// Latin letters. Works in slices of a few milliseconds between other events and goes on when cards
/// are added. GUI thread.
class TraceFinder : public QObject {
    Q_OBJECT
  public:
    struct Match {
        int row = 0;
        bool title = false;
        std::size_t begin = 0; ///< bytes of the body (of the title's UTF-8)
        std::size_t end = 0;
    };
    /// Further matches are not kept.
    static constexpr std::size_t most = 100'000;

    explicit TraceFinder(TraceModel *model, QObject *parent = nullptr);

    const QString &pattern() const { return pattern_; }
    /// Starts over; an empty pattern finds nothing.
    void setPattern(const QString &pattern);
    /// Sorted by row, title before body, then place.
    const std::vector<Match> &matches() const { return matches_; }
    /// Those of one row: [first, second) in matches().
    std::pair<int, int> matchesOf(int row) const;
    bool busy() const { return timer_.isActive(); }

  signals:
    /// There are more matches, or none any more, or the search is through.
    void changed();

  private:
    void start();
    void work();
    bool searchSome(int row);
    void forgetFrom(int row);

    TraceModel *model_;
    QString pattern_;
    std::string needle_; ///< UTF-8, small Latin letters
    std::vector<Match> matches_;
    int row_ = 0;          ///< searched next
    std::size_t byte_ = 0; ///< of its body
    QTimer timer_;
};

/// Where `needle` (small Latin letters) begins in text[from, limit), ignoring the case of Latin
/// letters; npos when nowhere. A match may end behind `limit`.
std::size_t findFolded(std::string_view text, std::string_view needle, std::size_t from,
                       std::size_t limit);
/// Small Latin letters; everything else stays.
std::string foldCase(std::string_view text);

} // namespace cuda_agent::widgets
