// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/progress/progress_pane.h"

#include "widgets/base/command.h"
#include "widgets/base/text.h"
#include "widgets/base/theme.h"
#include "widgets/plot/marks.h"
#include "widgets/plot/plot.h"

#include <QAction>
#include <QBoxLayout>
#include <QComboBox>
#include <QLabel>
#include <QLocale>

#include <algorithm>
#include <cmath>

namespace cuda_agent::widgets {

namespace {

QString percentText(double part) {
    return ProgressPane::tr("%1 %").arg(QLocale().toString(part * 100, 'f', 0));
}

QString factorTick(double value) {
    return value < 0 ? QString() : QLocale().toString(value, 'g', 3) + QChar(0x00d7);
}

QString percentTick(double value) {
    return value < 0 ? QString() : percentText(value);
}

} // namespace

ProgressPane::ProgressPane(SessionDocument *document, QWidget *parent)
    : QWidget(parent), document_(document) {
    setAccessibleName(tr("Progress"));
    choice_ = new QComboBox(this);
    choice_->setAccessibleName(tr("What speed-ups compare with"));
    choice_->addItem(tr("against eager"));
    choice_->addItem(tr("against torch.compile"));
    choice_->addItem(tr("part of the limit"));
    summary_ = new QLabel(this);
    summary_->setAccessibleName(tr("Best so far"));
    summary_->setTextFormat(Qt::PlainText);
    summary_->setMinimumWidth(1);
    plot_ = new Plot(tr("Progress over turns"), this);
    plot_->setEmptyText(tr("The speed-up of every turn is drawn here, with the milestones of the "
                           "reward.\nPress Run: each verdict adds a point."));
    plot_->setReadout([this](int series, int point) {
        const TurnResult *result = resultAt(series, point);
        return result ? turnText(*result) : tr("best so far");
    });
    setFocusProxy(plot_);

    auto *bar = new QHBoxLayout;
    bar->setContentsMargins(6, 3, 6, 3);
    bar->setSpacing(8);
    bar->addWidget(choice_);
    bar->addWidget(summary_, 1);
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addLayout(bar);
    layout->addWidget(plot_, 1);

    timer_.setSingleShot(true);
    timer_.setInterval(60);
    connect(&timer_, &QTimer::timeout, this, [this] {
        if (isVisible())
            refresh();
    });
    connect(document, &SessionDocument::reset, this, &ProgressPane::later);
    connect(document, &SessionDocument::advanced, this, &ProgressPane::later);
    connect(document, &SessionDocument::shownTurnChanged, this, &ProgressPane::later);
    connect(choice_, &QComboBox::activated, this,
            [this](int index) { setAgainst(static_cast<Against>(index)); });
    connect(plot_, &Plot::pointClicked, this, [this](int series, int point) {
        if (const TurnResult *result = resultAt(series, point))
            document_->selectTurn(result->turn);
    });
    makeActions();
    refresh();
}

void ProgressPane::makeActions() {
    const auto add = [this](const QString &text, const char *name, const QKeySequence &key,
                            const std::function<void()> &run) {
        addCommand(this, name, text, key, run);
    };
    add(tr("Speed-Up Against Eager"), "progress.eager", {}, [this] { setAgainst(Against::eager); });
    add(tr("Speed-Up Against torch.compile"), "progress.compile", {},
        [this] { setAgainst(Against::compile); });
    add(tr("Part of the Limit"), "progress.limit", {}, [this] { setAgainst(Against::limit); });
    add(tr("Select Turn Before in Plot"), "progress.previous", Qt::Key_PageUp,
        [this] { selectBeside(-1); });
    add(tr("Select Turn After in Plot"), "progress.next", Qt::Key_PageDown,
        [this] { selectBeside(1); });
}

void ProgressPane::setAgainst(Against against) {
    against_ = against;
    choice_->setCurrentIndex(static_cast<int>(against));
    refresh();
    plot_->showAll(); // another scale
}

void ProgressPane::later() {
    dirty_ = true;
    if (!timer_.isActive())
        timer_.start();
}

void ProgressPane::showEvent(QShowEvent *event) {
    QWidget::showEvent(event);
    if (dirty_)
        refresh();
}

const TurnResult *ProgressPane::resultAt(int series, int point) const {
    const auto s = static_cast<std::size_t>(series);
    const auto p = static_cast<std::size_t>(point);
    if (series < 0 || point < 0 || s >= places_.size() || p >= places_[s].size())
        return nullptr;
    return &data_.turns[places_[s][p]];
}

QString ProgressPane::turnText(const TurnResult &result) const {
    const QString head =
        result.engineer ? tr("Turn %1, by hand").arg(result.turn) : tr("Turn %1").arg(result.turn);
    if (!result.compiled)
        return tr("%1: does not compile").arg(head);
    if (!result.correct)
        return tr("%1: wrong").arg(head);
    const QString text = tr("%1: correct, reward %2").arg(head).arg(result.reward);
    if (!(result.speedup > 0))
        return tr("%1\n%2").arg(text, timeText(result.seconds));
    const QString how = against_ == Against::eager     ? tr("%1 against eager")
                        : against_ == Against::compile ? tr("%1 against torch.compile")
                                                       : tr("%1 of the limit");
    return tr("%1\n%2, %3")
        .arg(text, timeText(result.seconds),
             how.arg(against_ == Against::limit ? percentText(result.speedup)
                                                : timesText(result.speedup)));
}

void ProgressPane::refresh() {
    dirty_ = false;
    timer_.stop();
    data_ = progressOf(*document_, against_);
    // Series: the turns, the wrong ones, the best so far.
    Series right, wrong, best;
    right.name = against_ == Against::limit ? tr("part of the limit") : tr("speed-up");
    right.points = true;
    right.line = false;
    wrong.name = tr("wrong or not compiled");
    wrong.points = true;
    wrong.line = false;
    wrong.color = 1;
    best.name = tr("best so far");
    best.step = true;
    best.color = 2;
    places_.assign(2, {});
    double most = 0;
    for (const Milestone &milestone : data_.milestones)
        most = std::max(most, milestone.speedup);
    double record = 0;
    int bestTurn = 0;
    for (std::size_t i = 0; i < data_.turns.size(); ++i) {
        const TurnResult &result = data_.turns[i];
        if (result.correct && result.speedup > record) {
            record = result.speedup;
            bestTurn = result.turn;
        }
        if (result.correct && result.speedup > 0) {
            right.x.push_back(result.turn);
            right.y.push_back(result.speedup);
            places_[0].push_back(i);
        }
        if (record > 0) {
            best.x.push_back(result.turn);
            best.y.push_back(record);
        }
    }
    floor_ = -0.08 * std::max({most, record, 0.1});
    for (std::size_t i = 0; i < data_.turns.size(); ++i)
        if (!data_.turns[i].correct) {
            wrong.x.push_back(data_.turns[i].turn);
            wrong.y.push_back(floor_);
            places_[1].push_back(i);
        }
    for (Series *series : {&right, &wrong, &best})
        if (series->x.empty())
            series->name.clear(); // nothing for the legend
    QString note;
    if (data_.turns.empty())
        note = QString();
    else if (bestTurn > 0)
        note = tr("best: turn %1, %2")
                   .arg(bestTurn)
                   .arg(against_ == Against::limit ? percentText(record) : timesText(record));
    else if (!data_.comparable && std::any_of(data_.turns.begin(), data_.turns.end(),
                                              [](const TurnResult &r) { return r.correct; }))
        note = tr("This log has no time to compare with; choose another comparison.");
    else
        note = tr("no correct candidate yet");
    summary_->setText(note);
    summary_->setToolTip(note);

    const bool limit = against_ == Against::limit;
    plot_->setTitles(tr("turn"), limit ? tr("part of the limit") : tr("speed-up"));
    if (data_.turns.empty()) {
        plot_->setDecoration({});
        plot_->setSeries({});
        return;
    }
    QSharedPointer<QCPAxisTicker> turns(new WholeTicker);
    QSharedPointer<QCPAxisTicker> factors(new TextTicker(limit ? &percentTick : &factorTick));
    plot_->canvas().xAxis->setTicker(turns);
    plot_->canvas().yAxis->setTicker(factors);
    plot_->setDecoration([this](QCustomPlot &canvas) { draw(canvas); });
    plot_->setSeries({std::move(right), std::move(wrong), std::move(best)});
}

void ProgressPane::draw(QCustomPlot &plot) const {
    const Colors &colors = Theme::instance().colors();
    double most = 0;
    const bool wide = plot.axisRect()->width() > 320;
    for (const Milestone &milestone : data_.milestones) {
        // The third is never below the second: written away from each other they stay readable.
        const bool crowded = milestone.reward == 1 && plot.axisRect()->height() < 120;
        const QString text = crowded                 ? QString()
                             : !wide                 ? tr("reward %1").arg(milestone.reward)
                             : milestone.reward == 1 ? tr("1: correct")
                             : milestone.reward == 2 ? tr("2: 5 % faster than eager")
                                                     : tr("3: and 5 % faster than torch.compile");
        addLevel(plot, milestone.speedup, colors.muted, text,
                 milestone.reward == 2 ? Qt::AlignLeft | Qt::AlignBottom
                                       : Qt::AlignLeft | Qt::AlignTop);
        most = std::max(most, milestone.speedup);
    }
    const int shown = document_->shownTurn();
    for (const TurnResult &result : data_.turns) {
        if (result.correct)
            most = std::max(most, result.speedup);
        if (result.turn == shown)
            addRing(plot, shown, result.correct && result.speedup > 0 ? result.speedup : floor_,
                    colors.accent);
    }
    if (!plot_->follow())
        return;
    plot.yAxis->setRange(2 * floor_, std::max(most * 1.3, 0.1));
    const double last = data_.turns.back().turn;
    const double first = data_.turns.front().turn;
    plot.xAxis->setRange(first - 0.5, std::max(last, first + 3) + 0.5);
}

void ProgressPane::selectBeside(int direction) {
    const int shown = document_->shownTurn();
    int wanted = 0;
    for (const TurnResult &result : data_.turns) {
        if (direction < 0 && result.turn < shown)
            wanted = result.turn;
        if (direction > 0 && result.turn > shown && wanted == 0)
            wanted = result.turn;
    }
    if (wanted > 0)
        document_->selectTurn(wanted);
}

} // namespace cuda_agent::widgets
