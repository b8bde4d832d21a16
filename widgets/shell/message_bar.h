// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFrame>

class QAction;
class QLabel;
class QToolButton;

namespace cuda_agent::widgets {

/// A line above the panes that says what went wrong and what to do; stays until it is closed.
class MessageBar : public QFrame {
    Q_OBJECT
  public:
    enum class Kind { information, warning, error };
    explicit MessageBar(QWidget *parent = nullptr);
    /// `remedy`, what helps, becomes a button; it outlives the bar.
    void say(const QString &text, Kind kind, QAction *remedy = nullptr);
    /// Empty while nothing is said.
    QString text() const;

  protected:
    void paintEvent(QPaintEvent *event) override;

  private:
    QLabel *label_ = nullptr;
    QToolButton *remedy_ = nullptr, *close_ = nullptr;
    Kind kind_ = Kind::information;
};

} // namespace cuda_agent::widgets
