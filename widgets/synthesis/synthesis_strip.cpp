// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/synthesis/synthesis_strip.h"

#include "widgets/base/text.h"
#include "widgets/base/theme.h"
#include "widgets/plot/bar_chart.h"
#include "widgets/synthesis/crawl_dialog.h"
#include "widgets/synthesis/rejections_model.h"
#include "widgets/synthesis/stage_bar.h"
#include "widgets/synthesis/synthesis_follower.h"
#include "widgets/synthesis/synthesis_process.h"

#include <QDir>
#include <QHeaderView>
#include <QKeyEvent>
#include <QLocale>
#include <QScrollArea>
#include <QSplitter>
#include <QTableView>
#include <QToolButton>

#include <cmath>

namespace cuda_agent::widgets {

namespace {

const QString shownKey = QStringLiteral("data/rejections");
constexpr int detailsHeight = 170;

QString number(double count) {
    return QLocale().toString(static_cast<qlonglong>(count));
}

/// "45 s", "12 min", "3 h 20 min".
QString spanText(double seconds) {
    const auto whole = static_cast<qlonglong>(seconds);
    if (whole < 120)
        return SynthesisStrip::tr("%1 s").arg(whole);
    if (whole < 7200)
        return SynthesisStrip::tr("%1 min").arg(whole / 60);
    return SynthesisStrip::tr("%1 h %2 min").arg(whole / 3600).arg(whole / 60 % 60);
}

QLabel *newLabel(QWidget *parent, const QString &name) {
    auto *label = new QLabel(parent);
    label->setTextFormat(Qt::PlainText);
    label->setAccessibleName(name);
    label->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    return label;
}

QToolButton *newButton(QWidget *parent, const char *name, const QString &text) {
    auto *button = new QToolButton(parent);
    button->setObjectName(QLatin1String(name));
    button->setText(text);
    button->setFocusPolicy(Qt::StrongFocus);
    return button;
}

} // namespace

SynthesisStrip::SynthesisStrip(SynthesisFollower *follower, SynthesisProcess *process,
                               QWidget *parent)
    : QWidget(parent), follower_(follower), process_(process),
      rejections_(new RejectionsModel(this)), state_(newLabel(this, tr("State of the synthesis"))),
      counts_(newLabel(this, tr("Candidates so far"))),
      rates_(newLabel(this, tr("Speed and time left"))), error_(newLabel(this, tr("Error"))),
      bar_(new StageBar(this)),
      detailsButton_(newButton(this, "synthesis.rejections", tr("Rejections"))),
      crawlButton_(newButton(this, "synthesis.operators", tr("Operators…"))),
      stopButton_(newButton(this, "synthesis.stop", tr("Stop"))), details_(makeDetails()) {
    setAccessibleName(tr("Synthesis"));
    QFont bold = state_->font();
    bold.setBold(true);
    state_->setFont(bold);
    counts_->setTextFormat(Qt::RichText);
    counts_->setWordWrap(true);
    rates_->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    error_->setWordWrap(true);
    error_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    detailsButton_->setCheckable(true);
    detailsButton_->setToolTip(tr("Candidates that became no tasks, by reason"));
    crawlButton_->setToolTip(tr("What the crawl found, kept and dropped"));
    stopButton_->setToolTip(tr("Stops the synthesis; started again with the same folder it goes "
                               "on from where it was"));
    auto *head = new QHBoxLayout;
    head->addWidget(state_, 3);
    head->addWidget(rates_, 4);
    head->addWidget(detailsButton_);
    head->addWidget(crawlButton_);
    head->addWidget(stopButton_);
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(6, 2, 6, 2);
    column->setSpacing(3);
    column->addLayout(head);
    column->addWidget(bar_);
    column->addWidget(counts_);
    column->addWidget(error_);
    column->addWidget(details_);
    connect(detailsButton_, &QToolButton::toggled, this, [this](bool on) {
        QSettings().setValue(shownKey, on);
        refresh();
    });
    connect(crawlButton_, &QToolButton::clicked, this, &SynthesisStrip::openCrawl);
    connect(stopButton_, &QToolButton::clicked, process_, &SynthesisProcess::stop);
    connect(follower_, &SynthesisFollower::changed, this, &SynthesisStrip::refresh);
    connect(process_, &SynthesisProcess::stateChanged, this, &SynthesisStrip::refresh);
    connect(&Theme::instance(), &Theme::changed, this, &SynthesisStrip::refresh);
    detailsButton_->setChecked(QSettings().value(shownKey, true).toBool());
    refresh();
}

QWidget *SynthesisStrip::makeDetails() {
    auto *splitter = new QSplitter(Qt::Horizontal, this);
    table_ = new QTableView(splitter);
    table_->setModel(rejections_);
    table_->setAccessibleName(tr("Rejections by reason"));
    table_->setObjectName(QStringLiteral("synthesis.reasons"));
    table_->setSelectionBehavior(QAbstractItemView::SelectRows);
    table_->setSelectionMode(QAbstractItemView::SingleSelection);
    table_->setEditTriggers(QAbstractItemView::NoEditTriggers);
    table_->setTabKeyNavigation(false);
    table_->setShowGrid(false);
    table_->setAlternatingRowColors(true);
    table_->setWordWrap(false);
    table_->verticalHeader()->hide();
    table_->verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
    table_->verticalHeader()->setDefaultSectionSize(fontMetrics().height() + 5);
    table_->horizontalHeader()->setHighlightSections(false);
    table_->horizontalHeader()->setSectionResizeMode(RejectionsModel::reasonColumn,
                                                     QHeaderView::Stretch);
    // Enter, or a double click where the desktop wants two.
    connect(table_, &QTableView::activated, this, [this](const QModelIndex &index) {
        emit reasonChosen(rejections_->reason(index.row()));
    });
    auto *scroll = new QScrollArea(splitter);
    scroll->setWidgetResizable(true);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scroll->setFocusPolicy(Qt::NoFocus);
    auto *page = new QWidget(scroll);
    auto *column = new QVBoxLayout(page);
    column->setContentsMargins(0, 0, 0, 0);
    chart_ = new BarChart(tr("Rejections by reason"), BarChart::Kind::names, page);
    column->addWidget(chart_);
    column->addStretch(1);
    scroll->setWidget(page);
    connect(chart_, &BarChart::barActivated, this,
            [this](int bar) { emit reasonChosen(chart_->bars().value(bar).name); });
    splitter->addWidget(table_);
    splitter->addWidget(scroll);
    splitter->setSizes({500, 500});
    splitter->setFixedHeight(detailsHeight);
    return splitter;
}

QString SynthesisStrip::stateText() const {
    return state_->text();
}
QString SynthesisStrip::countsText() const {
    return counts_->text();
}
QString SynthesisStrip::ratesText() const {
    return rates_->text();
}

void SynthesisStrip::showRejections(bool shown) {
    detailsButton_->setChecked(shown);
}

void SynthesisStrip::setRoomy(bool roomy) {
    if (roomy == roomy_)
        return;
    roomy_ = roomy;
    refresh();
}

void SynthesisStrip::openCrawl() {
    if (crawl_) {
        crawl_->raise();
        crawl_->activateWindow();
        return;
    }
    crawl_ =
        new CrawlDialog(QDir(follower_->folder()).filePath(QStringLiteral("crawl.json")), window());
    crawl_->open();
}

void SynthesisStrip::refresh() {
    using State = SynthesisProgress::State;
    const auto &progress = follower_->progress();
    const bool ours = process_->request().folder == follower_->folder();
    const bool running = ours && process_->state() != SynthesisProcess::State::idle;
    const bool stopping = ours && process_->state() == SynthesisProcess::State::stopping;
    const double silent = follower_->silentFor();
    const Colors &colors = Theme::instance().colors();
    QColor color = colors.text;
    QString state, rates;
    if (stopping) {
        state = tr("Synthesis is stopping");
        color = colors.warning;
    } else if (!follower_->files().folder && progress) {
        state = tr("The folder of the synthesis is gone");
        color = colors.bad;
    } else if (!progress) {
        state = running ? tr("Synthesis is starting") : tr("Synthesis that has not begun");
    } else if (progress->state == State::done) {
        state = tr("Synthesis is done");
        color = colors.good;
    } else if (progress->state == State::stopped) {
        state = tr("Synthesis was stopped");
        color = colors.warning;
    } else if (silent > 0) {
        state = tr("Synthesis not heard of for %1").arg(spanText(silent));
        color = colors.warning;
    } else {
        state = progress->stage.isEmpty() ? tr("Synthesis is running")
                                          : tr("Synthesis is running: %1").arg(progress->stage);
        color = colors.accent;
    }
    if (progress) {
        const auto part = [&](int stage, const QString &text) {
            return QStringLiteral("<span style='color:%1'>■</span>&nbsp;%2")
                .arg(StageBar::color(stage).name(),
                     text.toHtmlEscaped().replace(u' ', QLatin1String("&nbsp;")));
        };
        double rejected = 0;
        for (const auto &each : progress->rejected)
            rejected += each.count;
        QStringList parts{part(0, tr("%1 proposed").arg(number(progress->proposed))),
                          part(1, tr("%1 checked").arg(number(progress->checked))),
                          part(2, tr("%1 timed").arg(number(progress->timed))),
                          part(3, tr("%1 compiled").arg(number(progress->compiled))),
                          part(4, tr("%1 of %2 accepted")
                                      .arg(number(progress->accepted), number(progress->wanted)))};
        parts << tr("%1 rejected").arg(number(rejected)).replace(u' ', QLatin1String("&nbsp;"));
        counts_->setText(parts.join(QLatin1String("&nbsp;&nbsp; ")));
        QStringList words;
        if (progress->state == State::running && silent <= 0) {
            const auto rate = [&](double SynthesisProgress::*count, const QString &text) {
                const double value = follower_->rates().of(count);
                if (value > 0)
                    words << text.arg(QLocale().toString(value, 'f', value < 10 ? 1 : 0));
            };
            rate(&SynthesisProgress::proposed, tr("%1 proposed/s"));
            rate(&SynthesisProgress::checked, tr("%1 checked/s"));
            rate(&SynthesisProgress::timed, tr("%1 timed/s"));
            rate(&SynthesisProgress::compiled, tr("%1 compiled/s"));
            rate(&SynthesisProgress::accepted, tr("%1 accepted/s"));
            if (std::isfinite(progress->left))
                words << tr("%1 left").arg(spanText(progress->left));
        } else if (progress->seconds > 0) {
            words << tr("ran for %1").arg(spanText(progress->seconds));
        }
        rates = words.join(QStringLiteral("  ·  "));
        bar_->display(*progress);
        rejections_->set(progress->rejected);
        QVector<BarChart::Bar> bars;
        for (const auto &each : progress->rejected)
            bars << BarChart::Bar{each.reason, each.count, 0, 0, false};
        chart_->setBars(bars);
    } else {
        counts_->clear();
        rejections_->set({});
        chart_->setBars({});
    }
    setTextColor(state_, color);
    state_->setText(state);
    state_->setToolTip(state);
    setTextColor(rates_, colors.muted);
    rates_->setText(rates);
    rates_->setToolTip(rates);
    setTextColor(error_, colors.bad);
    error_->setText(ours ? process_->error() : QString());
    error_->setVisible(!error_->text().isEmpty());
    bar_->setVisible(progress.has_value());
    counts_->setVisible(progress.has_value());
    const bool rejected = progress && !progress->rejected.isEmpty();
    detailsButton_->setVisible(rejected && roomy_);
    details_->setVisible(rejected && roomy_ && detailsButton_->isChecked());
    crawlButton_->setVisible(follower_->files().crawl);
    stopButton_->setVisible(running);
    stopButton_->setEnabled(!stopping);
}

} // namespace cuda_agent::widgets
