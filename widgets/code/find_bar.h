// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/code/text_finder.h"

#include <QPointer>
#include <QWidget>

class QLabel;
class QLineEdit;
class QToolButton;

namespace cuda_agent::widgets {

/// The lines below the editors in which people find and replace. GUI thread.
class CodeFindBar : public QWidget {
    Q_OBJECT
  public:
    explicit CodeFindBar(QWidget *parent = nullptr);

    /// The text that is searched from now on; may be null.
    void setEditor(CodeEditor *editor);
    /// Shows the bar with what is selected in the editor, or the old pattern.
    void open(bool replacing);
    void close();
    /// The next match (1) or the one before (-1) from the caret; goes round.
    void step(int by);
    void replaceOne();
    void replaceAll();

  protected:
    bool eventFilter(QObject *watched, QEvent *event) override;

  private:
    QToolButton *toggle(const char *name, const QString &text, const QString &tip);
    QToolButton *button(const char *name, const QString &text, const QString &tip);
    void patternChanged();
    void search();
    void show(std::size_t match);
    void say();

    QPointer<CodeEditor> editor_;
    QLineEdit *find_;
    QLineEdit *replace_;
    QWidget *replaceRow_;
    QLabel *count_;
    QToolButton *matchCase_;
    QToolButton *wholeWord_;
    QToolButton *regex_;
    QToolButton *replaceOne_;
    QToolButton *replaceAll_;
    Found found_;
    long origin_ = 0;  ///< where a search while typing begins
    bool own_ = false; ///< the text changes by this bar's hand
};

} // namespace cuda_agent::widgets
