// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/code/code_editor.h"

#include "widgets/base/theme.h"
#include "widgets/code/cuda_lexer.h"

#include <Qsci/qscicommandset.h>
#include <Qsci/qscilexer.h>
#include <Qsci/qscistyle.h>
#include <Qsci/qscistyledtext.h>

#include <QDragEnterEvent>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QMimeData>
#include <QToolTip>

#include <map>

namespace cuda_agent::widgets {

namespace {

constexpr int numberMargin = 0;
constexpr int markMargin = 1;
constexpr int foldMargin = 2;
constexpr int errorMarker = 1;
constexpr int warningMarker = 2;
constexpr int noteMarker = 3;
constexpr int errorSquiggle = 8;
constexpr int warningSquiggle = 9;
constexpr int highlight = 10;
constexpr int errorStyle = 60; ///< above those of the lexers that are used here
constexpr int warningStyle = 61;

int markerOf(Diagnostic::Severity severity) {
    switch (severity) {
    case Diagnostic::Severity::error:
        return errorMarker;
    case Diagnostic::Severity::warning:
        return warningMarker;
    case Diagnostic::Severity::note:
        break;
    }
    return noteMarker;
}

QColor mixed(const QColor &a, const QColor &b, double part) {
    const auto mix = [&](int x, int y) { return int(x + (y - x) * part); };
    return QColor(mix(a.red(), b.red()), mix(a.green(), b.green()), mix(a.blue(), b.blue()));
}

/// A disc with a cross, a triangle, or a ring: told apart by shape as well as by colour.
QPixmap markPixmap(int marker, const QColor &color, const QColor &base, int side, qreal scale) {
    QPixmap pixmap(QSize(side, side) * scale);
    pixmap.setDevicePixelRatio(scale);
    pixmap.fill(Qt::transparent);
    QPainter painter(&pixmap);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    painter.setBrush(color);
    const qreal s = side;
    const QRectF box(1, 1, s - 2, s - 2);
    if (marker == errorMarker) {
        painter.drawEllipse(box);
        painter.setPen(QPen(base, s / 9));
        painter.drawLine(QPointF(s * .35, s * .35), QPointF(s * .65, s * .65));
        painter.drawLine(QPointF(s * .65, s * .35), QPointF(s * .35, s * .65));
    } else if (marker == warningMarker) {
        painter.drawPolygon(
            QPolygonF({QPointF(s / 2, 1), QPointF(s - 1, s - 1.5), QPointF(1, s - 1.5)}));
        painter.setPen(QPen(base, s / 9));
        painter.drawLine(QPointF(s / 2, s * .4), QPointF(s / 2, s * .66));
        painter.drawPoint(QPointF(s / 2, s * .8));
    } else {
        painter.setBrush(Qt::NoBrush);
        painter.setPen(QPen(color, s / 8));
        painter.drawEllipse(box.adjusted(1, 1, -1, -1));
    }
    return pixmap;
}

} // namespace

CodeEditor::CodeEditor(const QString &path, QWidget *parent) : QsciScintilla(parent) {
    setUtf8(true);
    setAccessibleName(tr("Text of %1").arg(path));
    setFrameShape(QFrame::NoFrame);
    setEolMode(EolUnix);
    setTabWidth(4);
    setIndentationsUseTabs(false);
    setAutoIndent(true);
    setBackspaceUnindents(true);
    setBraceMatching(SloppyBraceMatch);
    setScrollWidth(1);
    setScrollWidthTracking(true);
    setMarginOptions(MoSublineSelect);
    setMarginType(numberMargin, NumberMargin);
    setMarginType(markMargin, SymbolMargin);
    setMarginMarkerMask(markMargin, 1 << errorMarker | 1 << warningMarker | 1 << noteMarker);
    setMarginMarkerMask(numberMargin, 0);
    setAnnotationDisplay(AnnotationIndented);
    indicatorDefine(SquiggleIndicator, errorSquiggle);
    indicatorDefine(SquiggleIndicator, warningSquiggle);
    indicatorDefine(StraightBoxIndicator, highlight);
    setIndicatorDrawUnder(true, highlight);
    if (QsciLexer *lexer = lexerFor(path, this))
        setLexer(lexer);
    freeKeys();
    applyTheme();
    connect(&Theme::instance(), &Theme::changed, this, &CodeEditor::applyTheme);
    connect(this, &QsciScintilla::linesChanged, this, &CodeEditor::fitLineNumbers);
    connect(this, &QsciScintillaBase::SCN_MODIFIED, this, [this](int, int type) {
        // Queued: marks must not be set while Scintilla is at it.
        if ((type & (SC_PERFORMED_UNDO | SC_PERFORMED_REDO)) && (type & SC_LASTSTEPINUNDOREDO))
            QMetaObject::invokeMethod(this, &CodeEditor::undone, Qt::QueuedConnection);
    });
    connect(this, &QsciScintillaBase::SCN_ZOOM, this, [this] {
        digits_ = 0;
        fitLineNumbers();
        Q_EMIT zoomed(static_cast<int>(SendScintilla(SCI_GETZOOM)));
    });
}

void CodeEditor::freeKeys() {
    // Keys of the pane's own commands, which Scintilla would take for something else.
    for (const int key :
         {int(Qt::CTRL) | int(Qt::Key_L), int(Qt::CTRL) | int(Qt::Key_Return),
          int(Qt::CTRL) | int(Qt::Key_PageUp), int(Qt::CTRL) | int(Qt::Key_PageDown),
          int(Qt::CTRL) | int(Qt::SHIFT) | int(Qt::Key_L), int(Qt::Key_Escape)}) {
        if (QsciCommand *command = standardCommands()->boundTo(key)) {
            if (command->key() == key)
                command->setKey(0);
            else
                command->setAlternateKey(0);
        }
    }
}

void CodeEditor::applyTheme() {
    const Colors &c = Theme::instance().colors();
    const QFont font = Theme::instance().codeFont();
    if (QsciLexer *own = lexer()) {
        colorLexer(*own);
    } else {
        setFont(font);
        setColor(c.text);
        setPaper(c.base);
    }
    setMarginsFont(font);
    setMarginsForegroundColor(c.muted);
    setMarginsBackgroundColor(c.panel);
    setFolding(BoxedTreeFoldStyle, foldMargin);
    setFoldMarginColors(c.panel, c.panel);
    for (int marker = SC_MARKNUM_FOLDEREND; marker <= int(SC_MARKNUM_FOLDEROPEN); ++marker) {
        SendScintilla(SCI_MARKERSETFORE, static_cast<uintptr_t>(marker), c.panel);
        SendScintilla(SCI_MARKERSETBACK, static_cast<uintptr_t>(marker), c.muted);
    }
    setCaretForegroundColor(c.text);
    setCaretLineVisible(true);
    setCaretLineBackgroundColor(mixed(c.base, c.accent, 0.08));
    setSelectionBackgroundColor(mixed(c.base, c.accent, 0.35));
    resetSelectionForegroundColor();
    setMatchedBraceForegroundColor(c.accent);
    setMatchedBraceBackgroundColor(mixed(c.base, c.accent, 0.25));
    setUnmatchedBraceForegroundColor(c.bad);
    setUnmatchedBraceBackgroundColor(c.base);
    setIndentationGuidesForegroundColor(c.border);
    setIndentationGuidesBackgroundColor(c.base);
    setWhitespaceForegroundColor(c.border);
    setIndicatorForegroundColor(c.bad, errorSquiggle);
    setIndicatorForegroundColor(c.warning, warningSquiggle);
    setIndicatorForegroundColor(c.series[4], highlight);
    SendScintilla(SCI_INDICSETALPHA, highlight, 60);
    SendScintilla(SCI_INDICSETOUTLINEALPHA, highlight, 160);
    drawMarks();
    digits_ = 0;
    fitLineNumbers();
    showDiagnostics();
}

void CodeEditor::drawMarks() {
    const Colors &c = Theme::instance().colors();
    const int side = std::max(8, QFontMetrics(Theme::instance().codeFont()).ascent());
    // Scintilla draws a pixmap pixel by pixel, whatever the scale of the screen.
    markerDefine(markPixmap(errorMarker, c.bad, c.base, side, 1), errorMarker);
    markerDefine(markPixmap(warningMarker, c.warning, c.base, side, 1), warningMarker);
    markerDefine(markPixmap(noteMarker, c.muted, c.base, side, 1), noteMarker);
    setMarginWidth(markMargin, side + 4);
}

void CodeEditor::fitLineNumbers() {
    const int digits = std::max<int>(3, QString::number(lines()).size());
    if (digits == digits_)
        return;
    digits_ = digits;
    setMarginWidth(numberMargin, QString(digits + 1, QLatin1Char('9')));
}

void CodeEditor::showText(const QString &text) {
    const bool readOnly = isReadOnly();
    setReadOnly(false);
    diagnostics_.clear();
    handles_.clear();
    const long first = SendScintilla(SCI_GETFIRSTVISIBLELINE);
    int line = 0;
    int column = 0;
    getCursorPosition(&line, &column);
    setEolMode(text.contains(QLatin1String("\r\n")) ? EolWindows : EolUnix);
    setText(text); // empties the undo history as well
    setReadOnly(readOnly);
    setCursorPosition(std::min(line, lines() - 1), 0); // versions of one file resemble each other
    SendScintilla(SCI_SETFIRSTVISIBLELINE, first);
    showDiagnostics();
}

void CodeEditor::replaceText(const QString &text) {
    const bool readOnly = isReadOnly();
    setReadOnly(false);
    // Only the lines that differ, so that caret, folds and marks of the others stay.
    const QByteArray before = this->text().toUtf8();
    const QByteArray after = text.toUtf8();
    const auto same = [&](qsizetype i, qsizetype j) { return before[i] == after[j]; };
    qsizetype begin = 0;
    const qsizetype shorter = std::min(before.size(), after.size());
    while (begin < shorter && same(begin, begin))
        ++begin;
    begin = before.left(begin).lastIndexOf('\n') + 1;
    qsizetype end = 0;
    while (end < shorter - begin && same(before.size() - 1 - end, after.size() - 1 - end))
        ++end;
    const qsizetype tail = before.indexOf('\n', before.size() - end); // its first whole line
    end = tail < 0 ? 0 : before.size() - 1 - tail;
    if (begin < before.size() - end || begin < after.size() - end)
        replaceRanges({{long(begin), long(before.size() - end)}},
                      {QString::fromUtf8(after.mid(begin, after.size() - end - begin))});
    setReadOnly(readOnly);
}

void CodeEditor::goTo(int line, int column) {
    reveal(line, column);
    setFocus(Qt::OtherFocusReason);
}

void CodeEditor::reveal(int line, int column) {
    const int at = std::clamp(line - 1, 0, std::max(0, lines() - 1));
    const long begin = SendScintilla(SCI_POSITIONFROMLINE, at);
    const long end = SendScintilla(SCI_GETLINEENDPOSITION, at);
    long position = std::min(begin + std::max(0, column - 1), end);
    if (position > begin && position < end) // not into the middle of a character
        position = SendScintilla(SCI_POSITIONBEFORE, SendScintilla(SCI_POSITIONAFTER, position));
    SendScintilla(SCI_ENSUREVISIBLE, at);
    SendScintilla(SCI_GOTOPOS, position);
    const long first = SendScintilla(SCI_VISIBLEFROMDOCLINE, at) -
                       std::max(1L, SendScintilla(SCI_LINESONSCREEN) / 3);
    SendScintilla(SCI_SETFIRSTVISIBLELINE, std::max(0L, first));
    SendScintilla(SCI_SCROLLCARET);
}

void CodeEditor::setDiagnostics(std::vector<Diagnostic> diagnostics) {
    diagnostics_ = std::move(diagnostics);
    markerDeleteAll(errorMarker);
    markerDeleteAll(warningMarker);
    markerDeleteAll(noteMarker);
    handles_.clear();
    for (const Diagnostic &diagnostic : diagnostics_) {
        const int line = std::min(diagnostic.line, lines()) - 1;
        handles_.push_back(line < 0 ? -1 : markerAdd(line, markerOf(diagnostic.severity)));
    }
    showDiagnostics();
}

void CodeEditor::setMessagesShown(bool shown) {
    messagesShown_ = shown;
    showDiagnostics();
}

int CodeEditor::lineOf(std::size_t diagnostic) const {
    if (diagnostic >= handles_.size() || handles_[diagnostic] < 0)
        return -1;
    return markerLine(handles_[diagnostic]);
}

QStringList CodeEditor::messagesAt(int line) const {
    QStringList result;
    for (std::size_t i = 0; i < diagnostics_.size(); ++i) {
        if (lineOf(i) == line)
            result += diagnostics_[i].message;
    }
    return result;
}

void CodeEditor::showDiagnostics() {
    const Colors &c = Theme::instance().colors();
    clearAnnotations();
    const int lastLine = std::max(0, lines() - 1);
    for (const int indicator : {errorSquiggle, warningSquiggle})
        clearIndicatorRange(0, 0, lastLine, lineLength(lastLine), indicator);
    QFont font = Theme::instance().codeFont();
    font.setItalic(true);
    const QsciStyle bad(errorStyle, QString(), c.bad, mixed(c.base, c.bad, 0.12), font);
    const QsciStyle warning(warningStyle, QString(), c.warning, mixed(c.base, c.warning, 0.12),
                            font);
    std::map<int, QList<QsciStyledText>> messages;
    for (std::size_t i = 0; i < diagnostics_.size(); ++i) {
        const Diagnostic &diagnostic = diagnostics_[i];
        const int line = lineOf(i);
        if (line < 0)
            continue;
        const bool error = diagnostic.severity == Diagnostic::Severity::error;
        const long begin = SendScintilla(SCI_POSITIONFROMLINE, line);
        const long end = SendScintilla(SCI_GETLINEENDPOSITION, line);
        long from = begin + std::max(0, diagnostic.column - 1);
        long to = SendScintilla(SCI_WORDENDPOSITION, std::min(from, end), 1L);
        if (diagnostic.column <= 0 || from >= end) { // the whole line
            from = SendScintilla(SCI_GETLINEINDENTPOSITION, line);
            to = end;
        }
        to = std::max(to, std::min(from + 1, end));
        if (diagnostic.severity != Diagnostic::Severity::note && to > from) {
            SendScintilla(SCI_SETINDICATORCURRENT, error ? errorSquiggle : warningSquiggle);
            SendScintilla(SCI_INDICATORFILLRANGE, from, to - from);
        }
        if (!messagesShown_ || diagnostic.message.isEmpty())
            continue;
        QList<QsciStyledText> &texts = messages[line];
        const QsciStyle &style = error ? bad : warning;
        if (!texts.isEmpty())
            texts += QsciStyledText(QStringLiteral("\n"), style);
        texts += QsciStyledText(diagnostic.message, style);
    }
    for (const auto &[line, texts] : messages)
        annotate(line, texts);
}

void CodeEditor::select(ByteRange range) {
    const long first = SendScintilla(SCI_LINEFROMPOSITION, range.begin);
    const long last = SendScintilla(SCI_LINEFROMPOSITION, range.end);
    for (long line = first; line <= last; ++line)
        SendScintilla(SCI_ENSUREVISIBLE, line);
    SendScintilla(SCI_SETSEL, range.begin, range.end);
    SendScintilla(SCI_SCROLLCARET);
}

ByteRange CodeEditor::selection() const {
    return {SendScintilla(SCI_GETSELECTIONSTART), SendScintilla(SCI_GETSELECTIONEND)};
}

void CodeEditor::setHighlights(const std::vector<ByteRange> &ranges) {
    SendScintilla(SCI_SETINDICATORCURRENT, highlight);
    SendScintilla(SCI_INDICATORCLEARRANGE, 0UL, SendScintilla(SCI_GETLENGTH));
    for (const ByteRange &range : ranges)
        SendScintilla(SCI_INDICATORFILLRANGE, range.begin, range.end - range.begin);
}

void CodeEditor::replaceRanges(const std::vector<ByteRange> &ranges, const QStringList &texts) {
    beginUndoAction();
    for (std::size_t i = ranges.size(); i-- > 0;) {
        const QByteArray bytes = texts[static_cast<qsizetype>(i)].toUtf8();
        SendScintilla(SCI_SETTARGETRANGE, static_cast<uintptr_t>(ranges[i].begin), ranges[i].end);
        SendScintilla(SCI_REPLACETARGET, static_cast<uintptr_t>(bytes.size()), bytes.constData());
    }
    endUndoAction();
}

void CodeEditor::keyPressEvent(QKeyEvent *event) {
    if (event->key() == Qt::Key_Escape)
        event->ignore(); // Scintilla takes every key; this one is the pane's
    else
        QsciScintilla::keyPressEvent(event);
}

void CodeEditor::dragEnterEvent(QDragEnterEvent *event) {
    if (event->mimeData()->hasUrls())
        event->ignore(); // a file that is dropped is for the window to open
    else
        QsciScintilla::dragEnterEvent(event);
}

bool CodeEditor::viewportEvent(QEvent *event) {
    if (event->type() == QEvent::ToolTip) {
        const QPoint at = static_cast<QHelpEvent *>(event)->pos();
        const long position =
            SendScintilla(SCI_POSITIONFROMPOINT, static_cast<uintptr_t>(at.x()), long(at.y()));
        const QStringList messages =
            messagesAt(static_cast<int>(SendScintilla(SCI_LINEFROMPOSITION, position)));
        // Compilers print what candidates say: plain text, never markup.
        QString text;
        for (const QString &message : messages)
            text += QStringLiteral("<p style='white-space:pre-wrap'>%1</p>")
                        .arg(message.toHtmlEscaped());
        if (text.isEmpty())
            QToolTip::hideText();
        else
            QToolTip::showText(viewport()->mapToGlobal(at), text, viewport());
        return true;
    }
    return QsciScintilla::viewportEvent(event);
}

} // namespace cuda_agent::widgets
