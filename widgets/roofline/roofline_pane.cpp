// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/roofline/roofline_pane.h"

#include "widgets/base/command.h"
#include "widgets/base/text.h"
#include "widgets/base/theme.h"
#include "widgets/plot/marks.h"
#include "widgets/plot/plot.h"
#include "widgets/roofline/profile_model.h"
#include "widgets/roofline/roof_names.h"

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

/// Share of the greatest bandwidth below which there is no room for a text under a level.
constexpr double lowLevel = 0.15;

QString plainTick(double value) {
    return QLocale().toString(value, 'g', 6); // 1000, not 1E+03
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
    splitter_->setStretchFactor(1, 1);
    splitter_->setSizes({700, 250});
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
    // A zoom along one axis turns the roofs, and their names with them.
    labels_.setSingleShot(true);
    labels_.setInterval(0);
    connect(&labels_, &QTimer::timeout, this, [this] {
        // While the range follows the data, each change of it is followed by a decoration anyway.
        if (roofs_ > 0 && !plot_->follow())
            plot_->setDecoration([this](QCustomPlot &canvas) { decorate(canvas); });
    });
    for (QCPAxis *axis : {plot_->canvas().xAxis, plot_->canvas().yAxis})
        connect(axis, qOverload<const QCPRange &>(&QCPAxis::rangeChanged), &labels_,
                qOverload<>(&QTimer::start));
    makeActions();
    retheme();
    refresh();
}

void RooflinePane::makeActions() {
    auto *copy = addCommand(this, "roofline.copyTable", tr("Copy Profile Table"), {},
                            [this] { QApplication::clipboard()->setText(model_->text()); });
    table_->addAction(copy);
    table_->setContextMenuPolicy(Qt::ActionsContextMenu);
    const auto beside = [this](const QString &text, const char *name, const QKeySequence &key,
                               int direction) {
        addCommand(this, name, text, key, [this, direction] {
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
    setTextColor(note_, Theme::instance().colors().muted);
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
    roofs_ = 0;
    if (!any) {
        plot_->setDecoration({});
        plot_->setSeries({});
        return;
    }
    QStringList notes{tr("Counted bytes and operations, no hardware counters.")};
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
    const double peak = std::max({roof.fp32, roof.tf32, roof.half});
    const double ridge = roof.bandwidth > 0 && peak > 0 ? peak / roof.bandwidth : at;
    double fastest = roof.bandwidth;
    for (const RoofLevel &level : roof.levels)
        fastest = std::max(fastest, level.bandwidth);
    const double nearRidge = fastest > 0 && peak > 0 ? peak / fastest : at;
    // Enough to either side of the ridges for names along the roofs.
    const double from = std::min({at / 4, ridge / 40, nearRidge / 25});
    const double to = std::max(at, ridge) * 6;
    const auto add = [&](const QString &name, std::vector<double> x, std::vector<double> y,
                         int color) {
        Series series;
        series.name = name;
        series.x = std::move(x);
        series.y = std::move(y);
        series.color = color;
        all.push_back(std::move(series));
    };
    const auto slope = [&](const QString &name, double bandwidth, int color) {
        const double end = peak > 0 ? peak / bandwidth : to;
        add(name, {from, end}, {from * bandwidth, end * bandwidth}, color);
        all.back().inLegend = false;
    };
    for (const RoofLevel &level : roof.levels)
        slope(
            tr("%1 %2", "memory level: bandwidth").arg(level.name, bandwidthText(level.bandwidth)),
            level.bandwidth, 5);
    if (roof.bandwidth > 0)
        slope(tr("memory %1").arg(bandwidthText(roof.bandwidth)), roof.bandwidth, 6);
    const auto flat = [&](const QString &name, double rate, int color) {
        if (!(rate > 0))
            return;
        add(name, {fastest > 0 ? rate / fastest : from, to}, {rate, rate}, color);
        all.back().inLegend = false;
    };
    flat(tr("fp32 %1").arg(rateText(roof.fp32)), roof.fp32, 2);
    flat(tr("TF32 %1").arg(rateText(roof.tf32)), roof.tf32, 3);
    flat(tr("16-bit %1").arg(rateText(roof.half)), roof.half, 7);
    roofs_ = static_cast<int>(all.size());
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
            addText(canvas, data_.intensity(), point.rate, colors.text, turnText(shown),
                    Qt::AlignLeft | Qt::AlignVCenter);
    }
    if (!flat) {
        if (plot_->follow()) {
            QStringList names;
            for (const Series &series : plot_->series())
                if (!series.inLegend)
                    names += series.name;
            leaveRoomForNames(canvas, names);
        }
        nameRoofs(canvas);
        return;
    }
    if (data_.ceilings.bandwidth > 0)
        addLevel(canvas, data_.ceilings.bandwidth, colors.warning,
                 tr("memory copy of this device: %1").arg(bandwidthText(data_.ceilings.bandwidth)));
    // Caches only where turns reach past the main memory: they are many times faster.
    const double reached = most;
    for (auto level = data_.ceilings.levels.rbegin(); level != data_.ceilings.levels.rend();
         ++level) {
        if (!(reached > data_.ceilings.bandwidth) || !(level->bandwidth > data_.ceilings.bandwidth))
            continue;
        addLevel(canvas, level->bandwidth, colors.warning,
                 tr("%1 %2", "memory level: bandwidth")
                     .arg(level->name, bandwidthText(level->bandwidth)),
                 Qt::AlignRight | Qt::AlignTop); // the last cache may be no faster than memory
        most = std::max(most, level->bandwidth);
        if (level->bandwidth >= reached)
            break;
    }
    const RoofPoint *best = nullptr;
    for (const RoofPoint &point : data_.baselines)
        if (!best || point.seconds < best->seconds)
            best = &point;
    if (best) {
        most = std::max(most, best->bandwidth);
        // Below its line, where the roofs' names are not; but the axis would cut that off.
        const bool low = best->bandwidth < lowLevel * most;
        addLevel(canvas, best->bandwidth, colors.muted,
                 tr("best stock (%1): %2").arg(best->baseline, bandwidthText(best->bandwidth)),
                 Qt::AlignLeft | (low ? Qt::AlignTop : Qt::AlignBottom));
    }
    if (!plot_->follow())
        return;
    const double first = data_.turns.empty() ? 1 : data_.turns.front().turn;
    const double last = data_.turns.empty() ? 1 : data_.turns.back().turn;
    canvas.xAxis->setRange(first - 0.5, std::max(last, first + 3) + 0.5);
    canvas.yAxis->setRange(0, most * 1.25);
}

void RooflinePane::nameRoofs(QCustomPlot &canvas) const {
    std::vector<NamedRoof> roofs;
    std::vector<QRectF> taken;
    const auto &all = plot_->series();
    for (std::size_t i = 0; i < all.size(); ++i) {
        const Series &series = all[i];
        if (static_cast<int>(i) < roofs_) {
            // "L2" where there is no room for "L2 6.5 TB/s".
            roofs.push_back({{series.x[0], series.y[0]},
                             {series.x[1], series.y[1]},
                             {series.name, series.name.section(QLatin1Char(' '), 0, 0)}});
            continue;
        }
        for (std::size_t point = 0; point < series.x.size(); ++point)
            taken.push_back(pixelsOfMark(canvas, series.x[point], series.y[point]));
    }
    for (const RoofPoint &point : data_.turns)
        if (point.turn == document_->shownTurn())
            taken.push_back(
                pixelsOfText(canvas, data_.intensity(), point.rate, turnText(point.turn)));
    drawRoofNames(canvas, roofs, taken);
}

QString RooflinePane::turnText(int turn) const {
    return QStringLiteral("   ") + tr("turn %1").arg(turn);
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
