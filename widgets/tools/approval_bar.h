// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/session/state.h"

#include <QFrame>

#include <optional>

class QAction;
class QLabel;
class QLineEdit;
class QPlainTextEdit;

namespace cuda_agent::widgets {

/// A call of the agent's that waits for the engineer: what it is, and Allow, Allow All, Refuse.
/// Takes the focus from nobody. GUI thread.
class ApprovalBar : public QFrame {
    Q_OBJECT
  public:
    explicit ApprovalBar(QWidget *parent = nullptr);

    /// Nothing hides the bar. A reason that was being typed for another call is gone.
    void setCall(const std::optional<session::ToolCall> &call);
    const std::optional<session::ToolCall> &call() const { return call_; }
    QString shownArguments() const;

  signals:
    void allowed(const session::ToolCall &call);
    void allAllowed(const session::ToolCall &call);
    /// `reason` may be empty.
    void refused(const session::ToolCall &call, const QString &reason);

  protected:
    void paintEvent(QPaintEvent *event) override;

  private:
    QAction *act(const char *name, const QString &text, const QString &shortcut);
    void applyTheme();

    std::optional<session::ToolCall> call_;
    QLabel *title_;
    QPlainTextEdit *arguments_;
    QLineEdit *reason_;
    QAction *allow_, *allowAll_, *refuse_;
};

/// Arguments of a call for people: "name: value" lines, texts of several lines as they are, under
/// their name. Long texts lose their middle.
QString argumentsText(const Json &arguments);

} // namespace cuda_agent::widgets
