// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QPlainTextEdit>
#include <QWidget>

class QToolButton;

namespace cuda_agent::widgets {

/// Where the engineer writes to the agent: Enter sends, Shift+Enter begins a line. Grows with its
/// text, to a few lines. GUI thread.
class MessageLine : public QWidget {
    Q_OBJECT
  public:
    explicit MessageLine(QWidget *parent = nullptr);

    /// What stands in the empty line; while nobody reads messages, nothing can be sent.
    void setReader(bool reads, const QString &hint);
    bool reads() const { return reads_; }
    QString text() const { return edit_->toPlainText(); }

  public slots:
    /// Sends what stands there, if anything does.
    void send();

  signals:
    void written(const QString &message);

  protected:
    bool eventFilter(QObject *watched, QEvent *event) override;
    void resizeEvent(QResizeEvent *event) override;

  private:
    void fit();
    void showState();

    QPlainTextEdit *edit_;
    QToolButton *send_;
    bool reads_ = false;
};

} // namespace cuda_agent::widgets
