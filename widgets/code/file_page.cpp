// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/code/file_page.h"

#include <utility>

namespace cuda_agent::widgets {

namespace {

/// Scintilla's texts end at a NUL.
QString shownText(QString text) {
    return text.replace(QChar(QChar::Null), QChar(0x2400));
}

} // namespace

FilePage::FilePage(QString path, Kind kind, QWidget *parent)
    : QStackedWidget(parent), path_(std::move(path)), kind_(kind) {
    live_ = makeEditor();
    live_->setReadOnly(true);
    connect(live_, &QsciScintilla::textChanged, this, &FilePage::textChanged);
    connect(live_, &CodeEditor::undone, this, &FilePage::replaced);
}

CodeEditor *FilePage::makeEditor() {
    auto *editor = new CodeEditor(path_, this);
    addWidget(editor);
    connect(editor, &CodeEditor::zoomed, this, &FilePage::zoomed);
    connect(editor, &QsciScintilla::cursorPositionChanged, this, [this, editor](int line, int) {
        if (editor == this->editor() && std::exchange(line_, line + 1) != line + 1)
            Q_EMIT lineChanged(line + 1);
    });
    return editor;
}

void FilePage::setNewest(const std::string &blob, const QString &text, const QString &problem) {
    newestBlob_ = blob;
    problem_ = problem;
    if (text.contains(QChar(QChar::Null)))
        problem_ = tr("%1 is not a text: it is shown in part and cannot be edited.").arg(path_);
    newest_ = shownText(text);
    if (edited_) {
        textChanged(); // it may have become what the user has
        Q_EMIT newestChanged();
        return;
    }
    loading_ = true;
    live_->showText(newest_);
    loading_ = false;
    newest_ = live_->text(); // as the editor holds it
    base_ = blob;
    Q_EMIT newestChanged();
}

void FilePage::showLive() {
    setCurrentWidget(live_);
}

void FilePage::showPast(const std::string &blob, const QString &text, const QString &problem) {
    if (!past_) {
        past_ = makeEditor();
        past_->zoomTo(static_cast<int>(live_->SendScintilla(QsciScintilla::SCI_GETZOOM)));
    }
    if (pastBlob_ != blob || pastProblem_ != problem) {
        pastBlob_ = blob;
        pastProblem_ = problem;
        past_->showText(shownText(text));
        past_->setReadOnly(true);
    }
    setCurrentWidget(past_);
}

void FilePage::setEditable(bool editable) {
    live_->setReadOnly(!editable || kind_ == Kind::task || !problem_.isEmpty());
}

void FilePage::textChanged() {
    if (loading_)
        return;
    edited_ = live_->text() != newest_;
    if (!edited_)
        base_ = newestBlob_;
    Q_EMIT edit();
}

void FilePage::setText(const QString &text, const std::string &base) {
    base_ = base;
    loading_ = true;
    live_->replaceText(shownText(text));
    loading_ = false;
    edited_ = live_->text() != newest_;
    if (!edited_)
        base_ = newestBlob_;
    Q_EMIT replaced();
    Q_EMIT edit();
}

void FilePage::keepMine() {
    base_ = newestBlob_;
    Q_EMIT edit();
}

void FilePage::takeTheirs() {
    setText(newest_, newestBlob_);
}

} // namespace cuda_agent::widgets
