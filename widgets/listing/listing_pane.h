// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/listing/listing_model.h"
#include "widgets/session/session_document.h"

#include <QTimer>
#include <QWidget>

#include <functional>

class QComboBox;
class QLabel;
class QLineEdit;
class QProgressBar;
class QStackedWidget;
class QTableView;
class QToolButton;

namespace cuda_agent::widgets {

/// What the compiler makes of the shown turn's kernels, edits included: SASS or PTX for any
/// architecture, whose card need not be there, each instruction under its line of source, with what
/// the line cost where the turn's profile has samples. Compiles only while it can be seen. GUI
/// thread; the document outlives the pane.
class ListingPane : public QWidget {
    Q_OBJECT
  public:
    /// `files` gives the texts of the shown turn's candidate, as the user sees them.
    using Files = std::function<std::map<std::string, std::string>()>;
    ListingPane(SessionDocument *document, Files files, QWidget *parent = nullptr);

    ListingModel &model() { return *model_; }
    /// How many instructions of what, or why there are none.
    QString note() const;
    bool busy() const { return maker_->busy(); }

  public slots:
    /// The texts may be others.
    void later();
    /// Selects what was made of a line, from 1; of another kernel file that one is listed.
    void showLine(const QString &path, int line);

  signals:
    /// The line of the row that the user went to.
    void lineChosen(QString file, int line);
    /// The user wants to work there.
    void locationActivated(QString file, int line, int column);

  protected:
    void showEvent(QShowEvent *event) override;

  private:
    // listing_pane.cpp
    void refresh();
    void take(const MadeListing &made);
    void takeCosts();
    void rowChanged(const QModelIndex &index);
    void selectLine(int line);
    void find(bool forward);
    void stop();
    void copy();
    void save();
    QString usualArchitecture() const;
    // listing_pane_parts.cpp
    void makeParts();
    QWidget *makeBar();
    void makeTable();
    void makeActions();
    void showState();
    void fillSources(const std::vector<std::string> &sources, const std::string &chosen);

    SessionDocument *document_;
    Files files_;
    ListingMaker *maker_;
    ListingModel *model_;
    ListingWish wish_; ///< what is shown or being made
    int wanted_ = 0;   ///< a line to select when its file is listed
    bool dirty_ = true;
    bool selecting_ = false; ///< a line, not the user a row
    bool chosen_ = false;    ///< the user chose the architecture
    QString noteText_;
    QString problem_;

    QComboBox *source_ = nullptr;
    QComboBox *architecture_ = nullptr;
    QComboBox *code_ = nullptr;
    QLineEdit *find_ = nullptr;
    QToolButton *stop_ = nullptr;
    QProgressBar *busyBar_ = nullptr;
    QLabel *note_ = nullptr;
    QStackedWidget *pages_ = nullptr; ///< why there is nothing | the table
    QLabel *nothing_ = nullptr;
    QTableView *table_ = nullptr;
    QAction *copyAction_ = nullptr;
    QAction *saveAction_ = nullptr;
    QAction *sourceAction_ = nullptr;
    QTimer timer_; ///< many keystrokes are one change
};

} // namespace cuda_agent::widgets
