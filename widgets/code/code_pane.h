// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/code/edit_store.h"
#include "widgets/code/file_history.h"
#include "widgets/code/file_page.h"
#include "widgets/session/session_document.h"

#include <QPointer>
#include <QWidget>

class QBoxLayout;
class QFileSystemWatcher;
class QLabel;
class QStackedLayout;
class QTabBar;
class QToolButton;

namespace cuda_agent::widgets {

class CodeFindBar;
class DiffView;

/// The files of the shown turn, the task file beside them, and two versions of a file side by side.
/// The newest files can be edited while the agent rests; what is edited is kept on the disk until
/// it is in the log or discarded. GUI thread; the document outlives the pane.
class CodePane : public QWidget {
    Q_OBJECT
  public:
    explicit CodePane(SessionDocument *document, QWidget *parent = nullptr);
    ~CodePane() override;

    /// The task of a session that is to begin in the document's folder: its file is shown as it is
    /// on the disk, also when it changes there, until the log has it.
    void setTaskFile(const std::filesystem::path &file);
    /// Whether the user may edit now. Only the newest files can be edited, whatever this says.
    void setEditable(bool editable);
    /// Path in the workspace -> UTF-8 text of the files that differ from the log's newest version.
    std::map<std::string, std::string> edits() const;
    bool hasEdits() const;
    void discardEdits();

    /// The editor that is seen; null when there is none.
    CodeEditor *editor() const;

  public slots:
    /// From 1; a column of 0 is the line's begin. The path may be one that a compiler printed.
    void goTo(const QString &path, int line, int column);
    /// The same for the line's begin, without the focus, where there is such a file.
    void reveal(const QString &path, int line);
    /// Loads the shown turn's files as edits of the newest ones and selects the last turn. Asks
    /// before unsaved edits are lost.
    void restoreTurn();
    /// The shown file in the shown turn and the one before, side by side.
    void compare();
    /// The shown file of the log beside the user's edits of it.
    void showEdits();

  signals:
    void editsChanged();
    void checkRequested();
    /// The cursor of the shown file is in another line, from 1.
    void lineChanged(QString path, int line);

  protected:
    void keyPressEvent(QKeyEvent *event) override;
    void resizeEvent(QResizeEvent *event) override;

  private:
    // code_pane.cpp
    void refresh();
    void startOver();
    void takeNewest();
    void bringBack(const Edits &edits);
    void showTask();
    void makeTaskPage(const QString &name);
    void readTaskFile();
    void forgetTaskFile();
    void showFiles();
    void showDiagnostics(FilePage &page);
    /// Sets them anew after the text has become another one.
    void remark(FilePage &page);
    void showTabs();
    void edited();
    bool atNewest() const;
    FilePage *page(const std::string &path);
    FilePage *current() const;
    FilePage *pageNamed(const QString &path) const;
    FilePage *showPageNamed(const QString &path);
    QList<FilePage *> allPages() const;
    void loadTurn(int turn);
    // code_pane_parts.cpp
    void makeParts();
    void tabChosen(int tab);
    void showInfo();
    void showNotice();
    void say(const QString &notice);
    FilePage *firstConflict() const;
    void showDifference(FilePage &page);
    // code_pane_actions.cpp
    void makeActions();
    QAction *action(const char *name, const QString &text, const QList<QKeySequence> &keys = {});
    void askLine();
    void askDiscard();
    void zoomAll(int zoom);
    void stepTab(int by);

    SessionDocument *document_;
    FileHistory history_;
    EditStore *store_;
    QFileSystemWatcher *taskWatch_;
    std::map<std::string, FilePage *> pages_; ///< of the workspace
    FilePage *task_ = nullptr;
    std::map<FilePage *, QString> marked_; ///< which diagnostics of which text a page shows
    std::filesystem::path folder_;
    QString filesKey_; ///< what showFiles last showed
    std::string taskBlob_;
    QString taskPath_; ///< of setTaskFile(), until the log has a task
    bool broughtBack_ = false;
    bool editable_ = false;
    bool messagesShown_ = true;
    bool refreshing_ = false;
    bool editsTouched_ = false; ///< since the last refresh began
    QString noticeText_;

    QTabBar *tabs_ = nullptr;
    QPointer<QWidget> chosen_; ///< the page that the user looks at when it is there
    QLabel *info_ = nullptr;
    QWidget *notice_ = nullptr;
    QBoxLayout *noticeRow_ = nullptr;
    QLabel *noticeLabel_ = nullptr;
    QToolButton *keepMine_ = nullptr;
    QToolButton *takeTheirs_ = nullptr;
    QToolButton *showDifference_ = nullptr;
    QToolButton *dismiss_ = nullptr;
    QStackedLayout *stack_ = nullptr;
    QLabel *empty_ = nullptr;
    DiffView *diff_ = nullptr;
    CodeFindBar *find_ = nullptr;
    QAction *check_ = nullptr;
    QAction *restore_ = nullptr;
    QAction *discard_ = nullptr;
    QAction *compare_ = nullptr;
    QAction *showEdits_ = nullptr;
    QAction *undo_ = nullptr;
    QAction *redo_ = nullptr;
};

} // namespace cuda_agent::widgets
