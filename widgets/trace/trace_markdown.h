// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/trace/trace_model.h"

#include <QObject>
#include <QTimer>

#include <string>

namespace cuda_agent::widgets {

/// One card as Markdown: a heading for a turn, text for thoughts, fenced blocks for tool calls and
/// results. Ends with an empty line. UTF-8.
std::string markdownOf(const Card &card);

/// Rows [first, end) of a trace as Markdown.
std::string markdownOf(const TraceModel &model, int first, int end);

/// Writes a whole trace as Markdown in slices of a few milliseconds between other events. A trace
/// that starts over meanwhile ends the job without a result. GUI thread.
class MarkdownJob : public QObject {
    Q_OBJECT
  public:
    explicit MarkdownJob(TraceModel *model, QObject *parent = nullptr);

    /// Of the rows that are there now; a job under way is dropped.
    void start();
    bool busy() const { return timer_.isActive(); }

  signals:
    void finished(const QString &markdown);

  private:
    void work();

    TraceModel *model_;
    QTimer timer_;
    int row_ = 0, end_ = 0;
    QString text_;
};

} // namespace cuda_agent::widgets
