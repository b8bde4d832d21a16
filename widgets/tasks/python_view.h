// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <Qsci/qsciscintilla.h>

class QsciLexerPython;

namespace cuda_agent::widgets {

/// Python source to look at: highlighted, foldable, not to be edited.
class PythonView : public QsciScintilla {
    Q_OBJECT
  public:
    explicit PythonView(QWidget *parent = nullptr);
    /// Plain text, such as a line that is no JSON, is shown without colours.
    void show(const QString &text, bool python = true);

  private:
    void applyTheme();

    QsciLexerPython *python_;
};

} // namespace cuda_agent::widgets
