// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <Qsci/qsciscintilla.h>

#include <QString>

#include <vector>

namespace cuda_agent::widgets {

/// What a compiler says about a place.
struct Diagnostic {
    enum class Severity { error, warning, note };
    Severity severity = Severity::error;
    int line = 0;   ///< from 1; 0 when it is about the whole file
    int column = 0; ///< from 1, in bytes as compilers count; 0 when not known
    QString message;
};

/// A place in a text as Scintilla counts: bytes of UTF-8.
struct ByteRange {
    long begin = 0;
    long end = 0;
    bool operator==(const ByteRange &) const = default;
};

/// One text with line numbers, folding, brace matching and the marks of a compiler, in the colours
/// of the theme. Knows nothing of files or sessions. GUI thread.
class CodeEditor : public QsciScintilla {
    Q_OBJECT
  public:
    /// `path` tells the language.
    explicit CodeEditor(const QString &path, QWidget *parent = nullptr);

    /// Another text: nothing to undo, no marks.
    void showText(const QString &text);
    /// The same as one edit that can be undone.
    void replaceText(const QString &text);
    /// From 1; clamped to what is there. Unfolds, selects nothing and takes the focus.
    void goTo(int line, int column);
    /// The same without the focus.
    void reveal(int line, int column);

    void setDiagnostics(std::vector<Diagnostic> diagnostics);
    void setMessagesShown(bool shown);
    /// Messages of a line (from 0), wherever editing has moved it since.
    QStringList messagesAt(int line) const;
    /// Line (from 0) where the n-th diagnostic stands now; -1 when its line was deleted.
    int lineOf(std::size_t diagnostic) const;

    void select(ByteRange range);
    ByteRange selection() const;
    void setHighlights(const std::vector<ByteRange> &ranges);
    /// Last first, as one step of undo. `texts` has one entry a range.
    void replaceRanges(const std::vector<ByteRange> &ranges, const QStringList &texts);

  signals:
    /// Ctrl and wheel, or the keys for it.
    void zoomed(int zoom);
    /// Something was undone or done again; comes after the text has changed.
    void undone();

  protected:
    bool viewportEvent(QEvent *event) override;
    void keyPressEvent(QKeyEvent *event) override;
    void dragEnterEvent(QDragEnterEvent *event) override;

  private:
    void freeKeys();
    void applyTheme();
    void drawMarks();
    void showDiagnostics();
    void fitLineNumbers();

    std::vector<Diagnostic> diagnostics_;
    std::vector<int> handles_; ///< marker of each diagnostic; -1 when none
    bool messagesShown_ = true;
    int digits_ = 0;
};

} // namespace cuda_agent::widgets
