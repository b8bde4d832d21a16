// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/code/code_editor.h"

#include <QStackedWidget>

namespace cuda_agent::widgets {

/// One file of a session: its newest text, which the user may edit, and the text that it had in a
/// turn that is looked at. They are two editors, so that looking back loses neither edits nor what
/// can be undone. GUI thread.
class FilePage : public QStackedWidget {
    Q_OBJECT
  public:
    enum class Kind { workspace, task };
    FilePage(QString path, Kind kind, QWidget *parent = nullptr);

    const QString &path() const { return path_; }
    Kind kind() const { return kind_; }

    /// The log has a newer version. The user's text stays when it differs from the log's.
    void setNewest(const std::string &blob, const QString &text, const QString &problem);
    const std::string &newestBlob() const { return newestBlob_; }
    const QString &newestText() const { return newest_; }
    /// Whether the log has this file at all.
    bool inLog() const { return !newestBlob_.empty(); }

    /// Shows the newest text.
    void showLive();
    /// Shows the text of an older moment.
    void showPast(const std::string &blob, const QString &text, const QString &problem);
    const std::string &pastBlob() const { return pastBlob_; }
    bool live() const { return currentWidget() == live_; }
    CodeEditor *editor() const { return live() ? live_ : past_; }
    CodeEditor *liveEditor() const { return live_; }
    /// Why the shown text is not there; empty when it is.
    const QString &problem() const { return live() ? problem_ : pastProblem_; }

    /// Protected files and ones that cannot be shown in full stay read-only.
    void setEditable(bool editable);

    /// The user's text differs from the log's newest.
    bool edited() const { return edited_; }
    QString text() const { return live_->text(); }
    /// Sets the user's text, as one edit that can be undone.
    void setText(const QString &text, const std::string &base);
    /// The version that the user's text began from.
    const std::string &base() const { return base_; }

    /// The log has another version than the one the user's text began from.
    bool conflict() const { return edited_ && base_ != newestBlob_; }
    void keepMine();
    void takeTheirs();

  signals:
    void edit();
    /// The log has another version.
    void newestChanged();
    /// The text is another one by more than typing: marks on it are to be set anew.
    void replaced();
    void zoomed(int zoom);
    /// The cursor of the shown text is in another line, from 1.
    void lineChanged(int line);

  private:
    CodeEditor *makeEditor();
    void textChanged();

    QString path_;
    Kind kind_;
    CodeEditor *live_ = nullptr;
    CodeEditor *past_ = nullptr; ///< made when it is first needed
    std::string newestBlob_;
    std::string base_;
    std::string pastBlob_;
    QString newest_;
    QString problem_;
    QString pastProblem_;
    int line_ = 0; ///< of the cursor, as it was last told
    bool edited_ = false;
    bool loading_ = false;
};

} // namespace cuda_agent::widgets
