// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/roofline/roofline_pane.h"

#include "widgets/base/text.h"
#include "widgets/base/theme.h"
#include "widgets/plot/marks.h"
#include "widgets/plot/plot.h"
#include "widgets/roofline/profile_model.h"

#include <QAction>
#include <QApplication>
#include <QBoxLayout>
#include <QClipboard>
#include <QHeaderView>
#include <QLabel>
#include <QLocale>
#include <QSplitter>
#include <QTableView>

#include <algorithm>
#include <cmath>

namespace cuda_agent::widgets {

namespace {

QString plainTick(double value) {
    return QLocale().toString(value, 'g', 3);
}

} // namespace

RooflinePane::RooflinePane(SessionDocument *document, QWidget *parent)
    : QWidget(parent), document_(document), model_(new ProfileModel(this)) {
    setAccessibleName(tr("Roofline and profile"));
    plot_ = new Plot(tr("Roofline"), this);
    plot_->setMinimumHeight(90);
    plot_->setEmptyText(tr("The device's roofline with one point a turn is drawn here.\nPress Run: "
                           "each correct candidate is timed and adds a point."));
    plot_->setReadout([this](int series, int point) { return pointText(series, point); });
    note_ = new QLabel(this);
    note_->setAccessibleName(tr("Where the values come from"));
    note_->setTextFormat(Qt::PlainText);
    note_->setWordWrap(true);
    note_->setMinimumWidth(1);
    note_->setContentsMargins(6, 2, 6, 2);
    table_ = new QTableView(this);
    table_->setAccessibleName(tr("What the shown turn reached"));
    table_->setModel(model_);
    table_->setSelectionBehavior(QAbstractItemView::SelectRows);
    table_->setEditTriggers(QAbstractItemView::NoEditTriggers);
    table_->setShowGrid(false);
    table_->setWordWrap(false);
    table_->setTabKeyNavigation(false);
    table_->setFrameShape(QFrame::NoFrame);
    table_->setMinimumHeight(40);
    table_->verticalHeader()->hide();
    table_->verticalHeader()->setDefaultSectionSize(fontMetrics().height() + 6);
    table_->horizontalHeader()->setHighlightSections(false);
    table_->horizontalHeader()->setStretchLastSection(true);
    splitter_ = new QSplitter(Qt::Vertical, this);
    splitter_->addWidget(plot_);
    splitter_->addWidget(table_);
    splitter_->setStretchFactor(0, 3);
    splitter_->setStretchFactor(1, 2);
    splitter_->setSizes({600, 300});
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(note_);
    layout->addWidget(splitter_, 1);
    setFocusProxy(plot_);

    timer_.setSingleShot(true);
    timer_.setInterval(60);
    connect(&timer_, &QTimer::timeout, this, [this] {
        if (isVisible())
            refresh();
    });
    connect(document, &SessionDocument::reset, this, &RooflinePane::later);
    connect(document, &SessionDocument::advanced, this, &RooflinePane::later);
    connect(document, &SessionDocument::shownTurnChanged, this, &RooflinePane::later);
    connect(plot_, &Plot::pointClicked, this, [this](int series, int point) {
        if (series == turnSeries_)
            document_->selectTurn(data_.turns[static_cast<std::size_t>(point)].turn);
    });
    connect(&Theme::instance(), &Theme::changed, this, &RooflinePane::retheme);
    makeActions();
    retheme();
    refresh();
}

void RooflinePane::makeActions() {
    auto *copy = new QAction(tr("Copy Profile Table"), this);
    copy->setObjectName(QStringLiteral("roofline.copyTable"));
    copy->setShortcutContext(Qt::WidgetWithChildrenShortcut);
    connect(copy, &QAction::triggered, this,
            [this] { QApplication::clipboard()->setText(model_->text()); });
    addAction(copy);
    table_->addAction(copy);
    table_->setContextMenuPolicy(Qt::ActionsContextMenu);
    const auto beside = [this](const QString &text, const char *name, const QKeySequence &key,
                               int direction) {
        auto *action = new QAction(text, this);
        action->setObjectName(QLatin1String(name));
        action->setShortcut(key);
        action->setShortcutContext(Qt::WidgetWithChildrenShortcut);
        connect(action, &QAction::triggered, this, [this, direction] {
            const int shown = document_->shownTurn();
            int wanted = 0;
            for (const RoofPoint &point : data_.turns) {
                if (direction < 0 && point.turn < shown)
                    wanted = point.turn;
                if (direction > 0 && point.turn > shown && wanted == 0)
                    wanted = point.turn;
            }
            if (wanted > 0)
                document_->selectTurn(wanted);
        });
        addAction(action);
    };
    beside(tr("Select Timed Turn Before"), "roofline.previous", Qt::Key_PageUp, -1);
    beside(tr("Select Timed Turn After"), "roofline.next", Qt::Key_PageDown, 1);
}

void RooflinePane::later() {
    dirty_ = true;
    if (!timer_.isActive())
        timer_.start();
}

void RooflinePane::showEvent(QShowEvent *event) {
    QWidget::showEvent(event);
    if (dirty_)
        refresh();
}

void RooflinePane::retheme() {
    QPalette palette = note_->palette();
    palette.setColor(QPalette::WindowText, Theme::instance().colors().muted);
    note_->setPalette(palette);
    table_->viewport()->update();
}

QString RooflinePane::note() const {
    return note_->text();
}

void RooflinePane::refresh() {
    dirty_ = false;
    timer_.stop();
    data_ = rooflineOf(*document_);
    const int turn = document_->shownTurn();
    model_->setData(data_, turn, document_->verdict(), document_->compiled());
    table_->resizeColumnsToContents();
    const bool any = !data_.turns.empty() || !data_.baselines.empty();
    note_->setVisible(any);
    table_->setVisible(any && model_->rowCount() > 0);
    turnSeries_ = firstBaseline_ = -1;
    if (!any) {
        plot_->setDecoration({});
        plot_->setSeries({});
        return;
    }
    QStringList notes{
        tr("From counted bytes and operations; hardware counters arrive with the profiler.")};
    if (!(data_.bytes > 0))
        notes += tr("The log does not say how many bytes the task moves.");
    else if (data_.onlyBandwidth())
        notes += tr("No products or convolutions to count: only the bandwidth is drawn.");
    if (!(data_.ceilings.bandwidth > 0))
        notes += tr("The log has no bandwidth of this device.");
    else if (data_.ceilings.derived)
        notes += tr("Ceiling from the verdict's limit.");
    note_->setText(notes.join(QLatin1Char(' ')));
    if (data_.onlyBandwidth())
        drawBandwidth();
    else
        drawRoofs();
}

void RooflinePane::drawRoofs() {
    std::vector<Series> all;
    const RoofCeilings &roof = data_.ceilings;
    const double at = data_.intensity();
    const double peak = std::max(roof.fp32, roof.tf32);
    const double ridge = roof.bandwidth > 0 && peak > 0 ? peak / roof.bandwidth : at;
    const double from = std::min(at, ridge) / 10;
    const double to = std::max(at, ridge) * 10;
    const auto add = [&](const QString &name, std::vector<double> x, std::vector<double> y,
                         int color) {
        Series series;
        series.name = name;
        series.x = std::move(x);
        series.y = std::move(y);
        series.color = color;
        all.push_back(std::move(series));
    };
    if (roof.bandwidth > 0) {
        const double end = peak > 0 ? ridge : to;
        add(tr("memory copy %1").arg(bandwidthText(roof.bandwidth)), {from, end},
            {from * roof.bandwidth, end * roof.bandwidth}, 6);
    }
    const auto flat = [&](const QString &name, double rate, int color) {
        const double start = roof.bandwidth > 0 ? rate / roof.bandwidth : from;
        add(name, {start, to}, {rate, rate}, color);
    };
    if (roof.fp32 > 0)
        flat(tr("fp32 %1").arg(rateText(roof.fp32)), roof.fp32, 2);
    if (roof.tf32 > 0)
        flat(tr("tensor cores (TF32) %1").arg(rateText(roof.tf32)), roof.tf32, 3);
    turnSeries_ = static_cast<int>(all.size());
    Series turns;
    turns.name = tr("turns");
    turns.points = true;
    for (const RoofPoint &point : data_.turns) {
        turns.x.push_back(at);
        turns.y.push_back(point.rate);
    }
    all.push_back(std::move(turns));
    firstBaseline_ = static_cast<int>(all.size());
    for (std::size_t i = 0; i < data_.baselines.size(); ++i) {
        add(data_.baselines[i].baseline, {at}, {data_.baselines[i].rate}, i == 0 ? 1 : 4);
        all.back().points = true;
        all.back().line = false;
    }
    plot_->setTitles(tr("arithmetic intensity, FLOP/byte"), tr("achieved rate"));
    plot_->setLogarithmic(true, true);
    plot_->canvas().xAxis->setTicker(QSharedPointer<QCPAxisTicker>(new LogTicker(&plainTick)));
    plot_->canvas().yAxis->setTicker(QSharedPointer<QCPAxisTicker>(new LogTicker(&rateText)));
    plot_->setDecoration([this](QCustomPlot &canvas) { decorate(canvas); });
    plot_->setSeries(std::move(all));
}

void RooflinePane::drawBandwidth() {
    std::vector<Series> all;
    turnSeries_ = 0;
    Series turns;
    turns.name = tr("turns");
    turns.points = true;
    for (const RoofPoint &point : data_.turns) {
        turns.x.push_back(point.turn);
        turns.y.push_back(point.bandwidth);
    }
    all.push_back(std::move(turns));
    plot_->setTitles(tr("turn"), tr("achieved bandwidth"));
    plot_->setLogarithmic(false, false);
    plot_->canvas().xAxis->setTicker(QSharedPointer<QCPAxisTicker>(new WholeTicker));
    plot_->canvas().yAxis->setTicker(QSharedPointer<QCPAxisTicker>(new TextTicker(&bandwidthText)));
    plot_->setDecoration([this](QCustomPlot &canvas) { decorate(canvas); });
    plot_->setSeries(std::move(all));
}

void RooflinePane::decorate(QCustomPlot &canvas) const {
    const Colors &colors = Theme::instance().colors();
    const bool flat = data_.onlyBandwidth();
    const int shown = document_->shownTurn();
    double most = data_.ceilings.bandwidth;
    for (const RoofPoint &point : data_.turns) {
        most = std::max(most, point.bandwidth);
        if (point.turn != shown)
            continue;
        addRing(canvas, flat ? point.turn : data_.intensity(), flat ? point.bandwidth : point.rate,
                colors.accent);
        if (!flat) // along x it is told already
            addText(canvas, data_.intensity(), point.rate, colors.text,
                    QStringLiteral("   ") + tr("turn %1").arg(shown),
                    Qt::AlignLeft | Qt::AlignVCenter);
    }
    if (!flat) {
        if (canvas.legend->visible())
            return;
        // Too small for the legend: the ceilings say themselves what they are.
        for (const Series &series : plot_->series())
            if (series.y.size() == 2 && series.y[0] == series.y[1])
                addText(canvas, series.x[1], series.y[1], colors.muted, series.name,
                        Qt::AlignRight | Qt::AlignBottom);
        return;
    }
    if (data_.ceilings.bandwidth > 0)
        addLevel(canvas, data_.ceilings.bandwidth, colors.warning,
                 tr("memory copy of this device: %1").arg(bandwidthText(data_.ceilings.bandwidth)));
    const RoofPoint *best = nullptr;
    for (const RoofPoint &point : data_.baselines)
        if (!best || point.seconds < best->seconds)
            best = &point;
    if (best) {
        most = std::max(most, best->bandwidth);
        addLevel(canvas, best->bandwidth, colors.muted,
                 tr("best stock (%1): %2").arg(best->baseline, bandwidthText(best->bandwidth)),
                 Qt::AlignLeft | Qt::AlignBottom);
    }
    if (!plot_->follow())
        return;
    const double first = data_.turns.empty() ? 1 : data_.turns.front().turn;
    const double last = data_.turns.empty() ? 1 : data_.turns.back().turn;
    canvas.xAxis->setRange(first - 0.5, std::max(last, first + 3) + 0.5);
    canvas.yAxis->setRange(0, most * 1.25);
}

QString RooflinePane::pointText(int series, int point) const {
    const auto describe = [&](const QString &name, const RoofPoint &at) {
        QString text =
            tr("%1: %2\n%3").arg(name, timeText(at.seconds), bandwidthText(at.bandwidth));
        if (!data_.onlyBandwidth())
            text = tr("%1, %2").arg(text, rateText(at.rate));
        return text;
    };
    const auto at = static_cast<std::size_t>(point);
    if (series == turnSeries_ && at < data_.turns.size())
        return describe(tr("Turn %1").arg(data_.turns[at].turn), data_.turns[at]);
    const auto baseline = static_cast<std::size_t>(series - firstBaseline_);
    if (firstBaseline_ >= 0 && series >= firstBaseline_ && baseline < data_.baselines.size())
        return describe(data_.baselines[baseline].baseline, data_.baselines[baseline]);
    const auto &all = plot_->series();
    return series >= 0 && static_cast<std::size_t>(series) < all.size()
               ? all[static_cast<std::size_t>(series)].name
               : QString();
}

} // namespace cuda_agent::widgets
