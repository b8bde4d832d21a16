// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/code/code_pane.h"

#include "widgets/base/text.h"
#include "widgets/code/find_bar.h"
#include "widgets/code/moved_lines.h"

#include <QFile>
#include <QFileInfo>
#include <QFileSystemWatcher>
#include <QKeyEvent>
#include <QMessageBox>
#include <QPushButton>
#include <QStackedLayout>
#include <QTabBar>

namespace cuda_agent::widgets {

using session::EventType;

CodePane::CodePane(SessionDocument *document, QWidget *parent)
    : QWidget(parent), document_(document), store_(new EditStore(this)),
      taskWatch_(new QFileSystemWatcher(this)) {
    makeParts();
    makeActions();
    connect(taskWatch_, &QFileSystemWatcher::fileChanged, this, &CodePane::readTaskFile);
    connect(store_, &EditStore::failed, this, &CodePane::say);
    connect(document_, &SessionDocument::titleChanged, this, &CodePane::refresh);
    connect(document_, &SessionDocument::cursorMoved, this, &CodePane::refresh);
    connect(document_, &SessionDocument::shownTurnChanged, this, &CodePane::refresh);
    refresh();
}

CodePane::~CodePane() {
    store_->flush();
}

bool CodePane::atNewest() const {
    const SessionIndex &index = document_->index();
    return document_->atEnd() && document_->shownTurn() == index.turnAt(index.size());
}

QList<FilePage *> CodePane::allPages() const {
    QList<FilePage *> all;
    for (const auto &[path, page] : pages_)
        all += page;
    if (task_)
        all += task_;
    return all;
}

FilePage *CodePane::page(const std::string &path) {
    FilePage *&page = pages_[path];
    if (!page) {
        page = new FilePage(QString::fromStdString(path), FilePage::Kind::workspace, this);
        stack_->addWidget(page);
        connect(page, &FilePage::edit, this, &CodePane::edited);
        connect(page, &FilePage::replaced, this, [this, page] { remark(*page); });
        connect(page, &FilePage::zoomed, this, &CodePane::zoomAll);
        connect(page, &FilePage::lineChanged, this,
                [this, page](int line) { Q_EMIT lineChanged(page->path(), line); });
        page->liveEditor()->setMessagesShown(messagesShown_);
    }
    return page;
}

// --- following the document -------------------------------------------------------------------

void CodePane::refresh() {
    if (refreshing_)
        return;
    refreshing_ = true;
    editsTouched_ = false;
    if (document_->folder() != folder_)
        startOver();
    takeNewest();
    showTask();
    if (!broughtBack_ && document_->index().size() > 0) {
        broughtBack_ = true;
        if (!folder_.empty())
            bringBack(EditStore::load(folder_));
    }
    showFiles();
    showTabs();
    showInfo();
    showNotice();
    refreshing_ = false;
    if (editsTouched_)
        Q_EMIT editsChanged();
}

void CodePane::startOver() {
    store_->flush();
    find_->setEditor(nullptr);
    qDeleteAll(allPages());
    pages_.clear();
    marked_.clear();
    task_ = nullptr;
    taskBlob_.clear();
    forgetTaskFile();
    filesKey_.clear();
    noticeText_.clear();
    broughtBack_ = false;
    folder_ = document_->folder();
}

/// The log's newest versions, whatever moment is shown: edits are against them.
void CodePane::takeNewest() {
    const std::map<std::string, std::string> &files = document_->index().state().files;
    for (const auto &[path, blob] : files) {
        FilePage *file = page(path);
        if (file->newestBlob() == blob)
            continue;
        const Result<QString> text = document_->blob(blob);
        file->setNewest(blob, text ? *text : QString(),
                        text ? QString() : QString::fromStdString(text.error().message));
    }
    for (const auto &[path, file] : pages_) { // another log in the same folder
        if (file->inLog() && !files.contains(path))
            file->setNewest({}, {}, {});
    }
}

void CodePane::bringBack(const Edits &edits) {
    QStringList names;
    for (const auto &[path, edit] : edits) {
        FilePage *file = page(path);
        file->setText(edit.text, edit.base);
        if (file->edited())
            names += file->path();
    }
    if (!names.isEmpty())
        noticeText_ = tr("Unsaved edits of the last time are back: %1")
                          .arg(QLocale().createSeparatedList(names));
}

void CodePane::setTaskFile(const std::filesystem::path &file) {
    forgetTaskFile();
    taskPath_ = QString::fromStdString(file.string());
    makeTaskPage(QFileInfo(taskPath_).fileName());
    readTaskFile();
    refresh();
}

void CodePane::readTaskFile() {
    QFile file(taskPath_);
    const bool there = file.open(QIODevice::ReadOnly);
    task_->setNewest({}, there ? QString::fromUtf8(file.readAll()) : QString(),
                     there ? QString()
                           : tr("%1 cannot be read: %2.").arg(taskPath_, file.errorString()));
    if (there) // editors put another file in its place, which is watched anew
        taskWatch_->addPath(taskPath_);
    showInfo();
}

void CodePane::forgetTaskFile() {
    if (!taskPath_.isEmpty())
        taskWatch_->removePath(taskPath_);
    taskPath_.clear();
}

void CodePane::makeTaskPage(const QString &name) {
    if (task_) {
        find_->setEditor(nullptr);
        delete task_;
    }
    task_ = new FilePage(name, FilePage::Kind::task, this);
    stack_->addWidget(task_);
    connect(task_, &FilePage::zoomed, this, &CodePane::zoomAll);
}

void CodePane::showTask() {
    const Json &task = partOf(document_->start(), "task");
    const std::string blob = textOf(task, "blob").toStdString();
    if (blob.empty() || blob == taskBlob_)
        return;
    taskBlob_ = blob;
    forgetTaskFile();
    const QString name = QFileInfo(textOf(task, "file")).fileName();
    makeTaskPage(name.isEmpty() ? tr("%1.py").arg(document_->title()) : name);
    const Result<QString> text = document_->blob(blob);
    task_->setNewest(blob, text ? *text : QString(),
                     text ? QString() : QString::fromStdString(text.error().message));
}

void CodePane::showFiles() {
    const bool newest = atNewest();
    const SessionIndex &index = document_->index();
    const int shown = document_->shownTurn();
    if (!newest) {
        // Files change where one is written or the turn is another; stepping over other events
        // costs nothing.
        const TurnRange *turn = index.turn(shown, document_->cursor());
        const std::size_t end =
            turn ? std::min(turn->end, document_->cursor()) : document_->cursor();
        const session::Event *written = index.last(EventType::fileWritten, end);
        const QString key = QStringLiteral("%1 %2 %3 %4")
                                .arg(shown)
                                .arg(turn ? turn->begin : 0)
                                .arg(written ? written->sequence : -1)
                                .arg(pages_.size());
        if (key != filesKey_) {
            filesKey_ = key;
            history_.follow(index);
            const auto files = history_.files(index, end);
            for (const auto &[path, version] : files)
                page(path);
            for (const auto &[path, file] : pages_) {
                const auto found = files.find(path);
                if (found == files.end()) {
                    file->showPast({}, {}, {});
                    continue;
                }
                if (!file->live() && file->pastBlob() == found->second.blob)
                    continue;
                const Result<QString> text = document_->fileText(found->second);
                file->showPast(found->second.blob, text ? *text : QString(),
                               text ? QString() : QString::fromStdString(text.error().message));
            }
        }
    } else {
        filesKey_.clear();
        for (const auto &[path, file] : pages_)
            file->showLive();
    }
    for (const auto &[path, file] : pages_) {
        file->setEditable(editable_ && newest);
        showDiagnostics(*file);
    }
}

void CodePane::showDiagnostics(FilePage &page) {
    const session::Event *compiled =
        document_->index().lastIn(document_->shownTurn(), EventType::compiled, document_->cursor());
    const QString key =
        QStringLiteral("%1 %2 %3")
            .arg(compiled ? compiled->sequence : -1)
            .arg(page.live())
            .arg(QString::fromStdString(page.live() ? page.newestBlob() : page.pastBlob()));
    QString &marked = marked_[&page];
    if (marked == key)
        return;
    marked = key;
    std::vector<Diagnostic> diagnostics;
    const Json &all = partOf(document_->compiled(), "diagnostics");
    if (all.is_array()) {
        for (const Json &one : all) {
            if (pageNamed(textOf(one, "file")) != &page)
                continue;
            using Severity = Diagnostic::Severity;
            const QString severity = textOf(one, "severity");
            const bool error = severity.contains(QLatin1String("error"));
            const bool warning = severity.contains(QLatin1String("warning"));
            const auto whole = [&](const char *name) {
                return static_cast<int>(std::clamp(numberOf(one, name), 0.0, 1e8));
            };
            diagnostics.push_back({error     ? Severity::error
                                   : warning ? Severity::warning
                                             : Severity::note,
                                   whole("line"), whole("column"), textOf(one, "message")});
        }
    }
    if (page.live() && page.edited() && !diagnostics.empty()) {
        // They are about the log's text: to the same lines of the user's, where those still are.
        const std::vector<int> moved = movedLines(page.newestText(), page.text());
        const auto whither = [&](const Diagnostic &one) {
            const auto line = static_cast<std::size_t>(one.line);
            return line > moved.size() ? -1 : moved[line - 1];
        };
        std::erase_if(diagnostics,
                      [&](const Diagnostic &one) { return one.line > 0 && whither(one) < 0; });
        for (Diagnostic &one : diagnostics) {
            if (one.line > 0)
                one.line = whither(one) + 1;
        }
    }
    page.editor()->setMessagesShown(messagesShown_);
    page.editor()->setDiagnostics(std::move(diagnostics));
}

void CodePane::remark(FilePage &page) {
    marked_.erase(&page);
    if (!refreshing_)
        showDiagnostics(page);
}

/// Compilers print paths as they were given them: in full, or without the folder.
FilePage *CodePane::pageNamed(const QString &path) const {
    if (path.isEmpty())
        return nullptr;
    const auto exact = pages_.find(path.toStdString());
    if (exact != pages_.end())
        return exact->second;
    const QString wanted = QLatin1Char('/') + path;
    FilePage *best = nullptr;
    for (FilePage *file : allPages()) {
        const QString own = QLatin1Char('/') + file->path();
        if ((wanted.endsWith(own) || own.endsWith(wanted)) &&
            (!best || best->path().size() < file->path().size()))
            best = file;
    }
    return best;
}

// --- editing ----------------------------------------------------------------------------------

void CodePane::edited() {
    Edits kept;
    for (const auto &[path, file] : pages_) {
        if (file->edited())
            kept[path] = {file->text(), file->base()};
    }
    if (!folder_.empty() && (broughtBack_ || !kept.empty()))
        store_->keep(folder_, std::move(kept));
    editsTouched_ = true;
    if (refreshing_)
        return;
    showTabs();
    showInfo();
    showNotice();
    Q_EMIT editsChanged();
}

void CodePane::setEditable(bool editable) {
    if (editable == editable_)
        return;
    editable_ = editable;
    for (const auto &[path, file] : pages_)
        file->setEditable(editable_ && atNewest());
    showInfo();
}

std::map<std::string, std::string> CodePane::edits() const {
    std::map<std::string, std::string> result;
    for (const auto &[path, file] : pages_) {
        if (file->edited())
            result[path] = file->text().toStdString();
    }
    return result;
}

bool CodePane::hasEdits() const {
    return std::any_of(pages_.begin(), pages_.end(),
                       [](const auto &entry) { return entry.second->edited(); });
}

void CodePane::keyPressEvent(QKeyEvent *event) {
    // Tab belongs to the text: Escape is the way out of it.
    if (event->key() != Qt::Key_Escape)
        QWidget::keyPressEvent(event);
    else if (find_->isVisible())
        find_->close();
    else
        tabs_->setFocus(Qt::OtherFocusReason);
}

void CodePane::discardEdits() {
    for (const auto &[path, file] : pages_) {
        if (file->edited())
            file->takeTheirs();
    }
    noticeText_.clear();
    store_->flush();
    refresh();
}

/// Null when the shown turn has no such file.
FilePage *CodePane::showPageNamed(const QString &path) {
    FilePage *file = pageNamed(path);
    for (int tab = 0; file && tab < tabs_->count(); ++tab) {
        if (tabs_->tabData(tab).value<void *>() != file)
            continue;
        tabs_->setCurrentIndex(tab);
        chosen_ = file;
        return file;
    }
    return nullptr;
}

void CodePane::goTo(const QString &path, int line, int column) {
    if (FilePage *file = showPageNamed(path))
        file->editor()->goTo(line, column);
    else
        say(tr("There is no file %1 in this turn.").arg(path));
}

void CodePane::reveal(const QString &path, int line) {
    if (FilePage *file = showPageNamed(path))
        file->editor()->reveal(line, 1);
}

void CodePane::restoreTurn() {
    const int turn = document_->shownTurn();
    if (turn == 0 || atNewest())
        return;
    if (!hasEdits()) {
        loadTurn(turn);
        return;
    }
    auto *box =
        new QMessageBox(QMessageBox::Question, tr("Restore turn %1").arg(turn),
                        tr("There are unsaved edits. Restoring turn %1 replaces them.").arg(turn),
                        QMessageBox::NoButton, this);
    box->setAttribute(Qt::WA_DeleteOnClose);
    box->addButton(tr("Replace"), QMessageBox::AcceptRole);
    box->addButton(QMessageBox::Cancel);
    connect(box, &QMessageBox::buttonClicked, this, [this, turn, box](QAbstractButton *button) {
        if (box->buttonRole(button) == QMessageBox::AcceptRole)
            loadTurn(turn);
    });
    box->open();
}

void CodePane::loadTurn(int turn) {
    const SessionIndex &index = document_->index();
    std::map<std::string, QString> texts;
    for (const auto &[path, version] : index.filesAfterTurn(turn, index.size())) {
        const Result<QString> text = document_->fileText(version);
        if (!text) {
            say(tr("Turn %1 cannot be restored: %2")
                    .arg(turn)
                    .arg(QString::fromStdString(text.error().message)));
            return;
        }
        texts[path] = *text;
    }
    document_->selectTurn(0);
    document_->toEnd();
    for (const auto &[path, file] : pages_) {
        const auto found = texts.find(path);
        if (found != texts.end())
            file->setText(found->second, file->newestBlob());
        else if (file->edited())
            file->takeTheirs();
    }
    say(hasEdits() ? tr("The files of turn %1 are back as unsaved edits. Check makes them a turn.")
                         .arg(turn)
                   : tr("The newest files are those of turn %1 already.").arg(turn));
    refresh();
}

} // namespace cuda_agent::widgets
