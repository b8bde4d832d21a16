// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/trace/trace_finder.h"

#include <QWidget>

class QLabel;
class QLineEdit;

namespace cuda_agent::widgets {

class TraceView;

/// The line below a trace in which people search it. Remembers the match it stands on by its place
/// among the matches; matches that are found later come behind it. GUI thread.
class FindBar : public QWidget {
    Q_OBJECT
  public:
    FindBar(TraceFinder *finder, TraceView *view, QWidget *parent = nullptr);

    /// Shows the bar with the old pattern marked, or `text` when there is one.
    void open(const QString &text);
    void close();
    /// 1 for the next match, -1 for the one before; goes round.
    void step(int by);
    /// The match that it stands on; -1 when none.
    int match() const { return match_; }

  protected:
    void keyPressEvent(QKeyEvent *event) override;

  private:
    void patternChanged(const QString &pattern);
    void finderChanged();
    void showCount();
    int firstFrom(int row) const;

    TraceFinder *finder_;
    TraceView *view_;
    QLineEdit *edit_;
    QLabel *count_;
    int match_ = -1;
    int from_ = 0;       ///< row at which an incremental search began
    bool fresh_ = false; ///< a pattern whose first match has not been shown yet
};

} // namespace cuda_agent::widgets
