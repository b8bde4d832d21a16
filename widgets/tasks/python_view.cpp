// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/tasks/python_view.h"

#include "widgets/base/theme.h"

#include <Qsci/qscilexerpython.h>

namespace cuda_agent::widgets {

PythonView::PythonView(QWidget *parent)
    : QsciScintilla(parent), python_(new QsciLexerPython(this)) {
    setUtf8(true);
    setAccessibleName(tr("Source of the task"));
    setFolding(PlainFoldStyle, 2);
    setMarginLineNumbers(0, true);
    setMarginWidth(1, 0);
    setScrollWidth(1);
    setScrollWidthTracking(true);
    setTabWidth(4);
    setLexer(python_);
    setReadOnly(true);
    setAcceptDrops(false); // a dropped folder is the page's
    viewport()->setAcceptDrops(false);
    // Tab leaves the view: nothing is typed here.
    SendScintilla(SCI_CLEARCMDKEY, SCK_TAB);
    SendScintilla(SCI_CLEARCMDKEY, SCK_TAB + (SCMOD_SHIFT << 16));
    connect(&Theme::instance(), &Theme::changed, this, &PythonView::applyTheme);
    applyTheme();
}

void PythonView::show(const QString &text, bool python) {
    setLexer(python ? python_ : nullptr);
    setReadOnly(false);
    setText(text);
    setModified(false);
    setReadOnly(true);
    setCursorPosition(0, 0);
    applyTheme();
}

void PythonView::applyTheme() {
    const Colors &colors = Theme::instance().colors();
    const QFont font = Theme::instance().codeFont();
    const auto paint = [&](int style, const QColor &color) { python_->setColor(color, style); };
    python_->setDefaultFont(font);
    python_->setDefaultPaper(colors.base);
    python_->setDefaultColor(colors.text);
    python_->setFont(font);
    python_->setPaper(colors.base);
    python_->setColor(colors.text);
    paint(QsciLexerPython::Keyword, colors.accent);
    paint(QsciLexerPython::HighlightedIdentifier, colors.accent);
    for (const int style : {QsciLexerPython::Comment, QsciLexerPython::CommentBlock})
        paint(style, colors.muted);
    for (const int style :
         {QsciLexerPython::DoubleQuotedString, QsciLexerPython::SingleQuotedString,
          QsciLexerPython::TripleDoubleQuotedString, QsciLexerPython::TripleSingleQuotedString,
          QsciLexerPython::DoubleQuotedFString, QsciLexerPython::SingleQuotedFString,
          QsciLexerPython::TripleDoubleQuotedFString, QsciLexerPython::TripleSingleQuotedFString})
        paint(style, colors.good);
    paint(QsciLexerPython::Number, colors.warning);
    paint(QsciLexerPython::Decorator, colors.warning);
    QFont bold = font;
    bold.setBold(true);
    python_->setFont(bold, QsciLexerPython::ClassName);
    python_->setFont(bold, QsciLexerPython::FunctionMethodName);
    setFont(font);
    setColor(colors.text);
    setPaper(colors.base);
    setCaretForegroundColor(colors.text);
    setMarginsFont(font);
    setMarginsBackgroundColor(colors.panel);
    setMarginsForegroundColor(colors.muted);
    setFoldMarginColors(colors.panel, colors.panel);
    setMarginWidth(0, QStringLiteral(" %1 ").arg(std::max(lines(), 99)));
    setSelectionBackgroundColor(palette().color(QPalette::Highlight));
    setSelectionForegroundColor(palette().color(QPalette::HighlightedText));
}

} // namespace cuda_agent::widgets
