// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/diff/diff_view.h"

#include "widgets/base/command.h"
#include "widgets/diff/diff_area.h"
#include "widgets/diff/turn_list.h"

#include <QAbstractItemView>
#include <QAction>
#include <QApplication>
#include <QBoxLayout>
#include <QClipboard>
#include <QComboBox>
#include <QLabel>
#include <QSignalBlocker>
#include <QToolButton>

#include <algorithm>
#include <set>

namespace cuda_agent::widgets {

namespace {

QComboBox *makeBox(const QString &name, QWidget *parent) {
    auto *box = new QComboBox(parent);
    box->setAccessibleName(name);
    box->setToolTip(name);
    // Does not measure thousands of turns, and a small dock stays small.
    box->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    box->setMinimumContentsLength(6);
    box->setMinimumWidth(48);
    return box;
}

const FileVersion *versionIn(const std::map<std::string, FileVersion> &files,
                             const std::string &path) {
    const auto found = files.find(path);
    return found == files.end() ? nullptr : &found->second;
}

bool differs(const FileVersion *a, const FileVersion *b) {
    return (a == nullptr) != (b == nullptr) || (a && b && a->blob != b->blob);
}

bool isSource(const std::string &path) {
    return path.ends_with(".cu") || path.ends_with(".cuh");
}

} // namespace

DiffView::DiffView(SessionDocument *document, QWidget *parent)
    : QWidget(parent), document_(document), turns_(new TurnList(document, this)) {
    setAccessibleName(tr("Differences between turns"));
    fileBox_ = makeBox(tr("File"), this);
    fileBox_->setMinimumContentsLength(10);
    turnABox_ = makeBox(tr("Older version: turn"), this);
    turnBBox_ = makeBox(tr("Newer version: turn"), this);
    for (QComboBox *box : {turnABox_, turnBBox_})
        box->setModel(turns_);
    const int widest = fontMetrics().horizontalAdvance(tr("Turn %1: does not compile").arg(10000));
    for (QComboBox *box : {turnABox_, turnBBox_}) // wider than the box in a small dock
        box->view()->setMinimumWidth(widest + 40);
    summary_ = new QLabel(this);
    summary_->setWordWrap(true);
    summary_->setTextFormat(Qt::PlainText);
    summary_->setAccessibleName(tr("Summary of the differences"));
    position_ = new QLabel(this);
    position_->setAccessibleName(tr("Current change"));
    area_ = new DiffArea(this);
    area_->setAccessibleName(tr("Two versions side by side"));
    nothing_ = new QLabel(tr("Two versions of a file stand here side by side as soon as a turn has "
                             "written one.\nPress Run, or open a session."),
                          this);
    nothing_->setAlignment(Qt::AlignCenter);
    nothing_->setWordWrap(true);
    nothing_->setMargin(12);
    makeActions();

    const auto button = [this](QAction *action, Qt::ArrowType arrow) {
        auto *result = new QToolButton(this);
        result->setDefaultAction(action);
        result->setArrowType(arrow);
        result->setAutoRaise(true);
        result->setAccessibleName(action->text());
        return result;
    };
    rest_ = new QWidget(this);
    auto *choice = new QHBoxLayout;
    choice->setContentsMargins(4, 4, 4, 0);
    choice->setSpacing(4);
    choice->addWidget(fileBox_, 2);
    choice->addWidget(turnABox_, 2);
    choice->addWidget(new QLabel(QStringLiteral("→"), this));
    choice->addWidget(turnBBox_, 2);
    auto *status = new QHBoxLayout;
    status->setContentsMargins(6, 2, 4, 2);
    status->setSpacing(4);
    status->addWidget(summary_, 1);
    status->addWidget(position_);
    status->addWidget(button(previous_, Qt::UpArrow));
    status->addWidget(button(next_, Qt::DownArrow));
    auto *restLayout = new QVBoxLayout(rest_);
    restLayout->setContentsMargins(0, 0, 0, 0);
    restLayout->setSpacing(0);
    restLayout->addLayout(choice);
    restLayout->addLayout(status);
    restLayout->addWidget(area_, 1);
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(nothing_, 1);
    layout->addWidget(rest_, 1);

    connect(fileBox_, &QComboBox::activated, this, [this](int row) {
        path_ = fileBox_->itemData(row).toString();
        pathChosen_ = true;
        showTexts();
    });
    const auto chosen = [this] {
        showDiff(turns_->turnAt(turnABox_->currentIndex()),
                 turns_->turnAt(turnBBox_->currentIndex()), path_);
    };
    connect(turnABox_, &QComboBox::activated, this, chosen);
    connect(turnBBox_, &QComboBox::activated, this, chosen);
    connect(area_, &DiffArea::currentChanged, this, &DiffView::showPosition);
    connect(document, &SessionDocument::shownTurnChanged, this, [this] {
        dirty_ = true;
        if (isVisible())
            refresh();
    });
    refresh();
}

void DiffView::makeActions() {
    previous_ = addCommand(this, "diff.previousChange", tr("Previous Change"),
                           QKeySequence(Qt::SHIFT | Qt::Key_F7));
    connect(previous_, &QAction::triggered, this, [this] { area_->step(-1); });
    next_ = addCommand(this, "diff.nextChange", tr("Next Change"), Qt::Key_F7);
    connect(next_, &QAction::triggered, this, [this] { area_->step(1); });
    follow_ = addCommand(this, "diff.follow", tr("Compare the Shown Turn with the One Before"));
    follow_->setCheckable(true);
    follow_->setChecked(true);
    connect(follow_, &QAction::triggered, this, [this](bool on) {
        if (on)
            follow();
        else
            following_ = false;
    });
    auto *swap = addCommand(this, "diff.swap", tr("Swap the Two Versions"));
    connect(swap, &QAction::triggered, this, [this] {
        if (turnA_ >= 0)
            showDiff(turnB_, turnA_, path_);
    });
    auto *copy = addCommand(this, "diff.copy", tr("Copy Lines"), QKeySequence::Copy);
    connect(copy, &QAction::triggered, this, [this] {
        const QString text = area_->selectedText();
        if (!text.isEmpty())
            QApplication::clipboard()->setText(text);
    });
    area_->addActions({copy, next_, previous_, swap, follow_});
    area_->setContextMenuPolicy(Qt::ActionsContextMenu);
}

void DiffView::showDiff(int turnA, int turnB, const QString &path) {
    following_ = false;
    follow_->setChecked(false);
    turnA_ = turnA;
    turnB_ = turnB;
    path_ = path;
    pathChosen_ = !path.isEmpty();
    refresh();
}

void DiffView::follow() {
    following_ = true;
    follow_->setChecked(true);
    refresh();
}

QString DiffView::summary() const {
    return summary_->text();
}

void DiffView::showEvent(QShowEvent *event) {
    QWidget::showEvent(event);
    if (dirty_)
        refresh();
}

int DiffView::turnBefore(int turn) const {
    int any = -1;
    for (int row = turns_->rowOf(turn) - 1; row >= 0; --row) {
        const int candidate = turns_->turnAt(row);
        if (document_->verdictOf(candidate).is_object())
            return candidate;
        if (any < 0)
            any = candidate;
    }
    return any; // without a verdict it is still a version
}

void DiffView::chooseTurns() {
    if (following_) {
        turnB_ = document_->shownTurn();
        turnA_ = turnBefore(turnB_);
    }
    if (turns_->rowOf(turnB_) < 0) // has not begun at the cursor
        turnB_ = turns_->turnAt(turns_->rowCount() - 1);
    if (turns_->rowOf(turnA_) < 0)
        turnA_ = turnBefore(turnB_);
    const QSignalBlocker blockA(turnABox_), blockB(turnBBox_);
    turnABox_->setCurrentIndex(turns_->rowOf(turnA_));
    turnBBox_->setCurrentIndex(turns_->rowOf(turnB_));
}

std::map<std::string, FileVersion> DiffView::filesOf(int turn) const {
    const SessionIndex &index = document_->index();
    if (turn > 0)
        return index.filesAfterTurn(turn, document_->cursor());
    if (turn < 0)
        return {};
    std::size_t begin = document_->cursor();
    for (const TurnRange *range : index.turns(document_->cursor()))
        begin = std::min(begin, range->begin);
    return index.files(begin);
}

void DiffView::refresh() {
    dirty_ = false;
    turns_->refresh();
    chooseTurns();
    filesA_ = filesOf(turnA_);
    filesB_ = filesOf(turnB_);
    const bool any = !filesA_.empty() || !filesB_.empty();
    nothing_->setVisible(!any);
    rest_->setVisible(any);
    for (QAction *action : {next_, previous_})
        action->setEnabled(any);
    showFiles();
    showTexts();
}

void DiffView::showFiles() {
    std::set<std::string> paths;
    for (const auto *files : {&filesA_, &filesB_}) {
        for (const auto &[path, version] : *files)
            paths.insert(path);
    }
    if (!pathChosen_ || !paths.contains(path_.toStdString())) {
        // What is looked for most: a changed source, then any change, then a source.
        std::string best;
        int bestRank = -1;
        for (const std::string &path : paths) {
            const bool changed = differs(versionIn(filesA_, path), versionIn(filesB_, path));
            const bool same = path == path_.toStdString();
            const int rank = (changed ? 4 : 0) + (isSource(path) ? 2 : 0) + (same ? 1 : 0);
            if (rank > bestRank) {
                best = path;
                bestRank = rank;
            }
        }
        path_ = QString::fromStdString(best);
        pathChosen_ = false;
    }
    const QSignalBlocker block(fileBox_);
    QStringList names, texts;
    for (const std::string &path : paths) {
        const FileVersion *a = versionIn(filesA_, path);
        const FileVersion *b = versionIn(filesB_, path);
        const QString name = QString::fromStdString(path);
        names << name;
        texts << (turnA_ < 0           ? name
                  : !a                 ? tr("%1 (new)").arg(name)
                  : !b                 ? tr("%1 (gone)").arg(name)
                  : a->blob != b->blob ? tr("%1 (changed)").arg(name)
                                       : name);
    }
    if (texts != fileTexts_) { // else an open list stays as it is
        fileBox_->clear();
        int widest = 0;
        for (qsizetype i = 0; i < names.size(); ++i) {
            fileBox_->addItem(texts[i], names[i]);
            widest = std::max(widest, fontMetrics().horizontalAdvance(texts[i]));
        }
        fileBox_->view()->setMinimumWidth(std::min(widest + 40, 600));
        fileTexts_ = texts;
    }
    fileBox_->setCurrentIndex(fileBox_->findData(path_));
}

QString DiffView::turnName(int turn) const {
    return turn == 0 ? tr("the start") : tr("turn %1").arg(turn);
}

void DiffView::showTexts() {
    const std::string path = path_.toStdString();
    const FileVersion *a = versionIn(filesA_, path);
    const FileVersion *b = versionIn(filesB_, path);
    // Only one turn: its text stands on both sides, without a change.
    const bool single = turnA_ < 0 || turnA_ == turnB_;
    if (single)
        a = b;
    const auto key = [](const FileVersion *version) { return version ? version->blob : "-"; };
    const std::string now = path + '\n' + key(a) + '\n' + key(b);
    QString problem;
    if (now != shown_) {
        const bool samePlace = shown_.starts_with(path + '\n') && !following_;
        QString texts[2];
        const FileVersion *const versions[] = {a, b};
        for (int side = 0; side < 2 && problem.isEmpty(); ++side) {
            if (!versions[side])
                continue;
            Result<QString> text = document_->fileText(*versions[side]);
            if (text)
                texts[side] = std::move(*text);
            else
                problem = tr("%1 of %2 cannot be read: %3")
                              .arg(path_, turnName(side == 0 ? turnA_ : turnB_),
                                   QString::fromStdString(text.error().message));
        }
        if (problem.isEmpty())
            shown_ = now;
        else
            texts[0] = texts[1] = QString(), shown_.clear();
        area_->setTexts(texts[0], texts[1], samePlace);
    }
    if (!problem.isEmpty()) {
        summary_->setText(problem);
    } else if (path_.isEmpty()) {
        summary_->clear();
    } else if (single) {
        summary_->setText(
            turnA_ < 0
                ? tr("There is one version only: %1 of %2.").arg(path_, turnName(turnB_))
                : tr("The same turn is chosen twice: %1 of %2.").arg(path_, turnName(turnB_)));
    } else if (area_->changeCount() == 0 && a && b) {
        summary_->setText(tr("No difference: %1 is the same in %2 and %3.")
                              .arg(path_, turnName(turnA_), turnName(turnB_)));
    } else if (!a) {
        summary_->setText(
            tr("New in %1; lines: %2.").arg(turnName(turnB_)).arg(area_->linesAdded()));
    } else if (!b) {
        summary_->setText(
            tr("Gone in %1; lines: %2.").arg(turnName(turnB_)).arg(area_->linesRemoved()));
    } else {
        summary_->setText(tr("Lines added: %1, removed: %2.")
                              .arg(area_->linesAdded())
                              .arg(area_->linesRemoved()));
    }
    showPosition();
}

void DiffView::showPosition() {
    const int count = area_->changeCount();
    position_->setText(count == 0 ? QString()
                       : area_->currentChange() < 0
                           ? tr("Changes: %1").arg(count)
                           : tr("Change %1 of %2").arg(area_->currentChange() + 1).arg(count));
    next_->setEnabled(count > 0);
    previous_->setEnabled(count > 0);
}

} // namespace cuda_agent::widgets
