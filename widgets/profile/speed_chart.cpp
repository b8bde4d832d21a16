// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/profile/speed_chart.h"

#include "widgets/base/theme.h"
#include "widgets/plot/marks.h"
#include "widgets/profile/profile_words.h"

#include <algorithm>

namespace cuda_agent::widgets {

namespace {

constexpr int memoryColor = 0;
constexpr int computeColor = 1;

QString tickText(double percent) {
    return percentText(percent / 100).remove(QStringLiteral(".0")).remove(QStringLiteral(",0"));
}

} // namespace

SpeedChart::SpeedChart(QWidget *parent) : Plot(tr("Speed of light"), parent) {
    setZoomable(false);
    setLegendAllowed(false); // the bars have their names beside them
    setTitles(tr("of the measured ceiling; dotted: of the data sheet"), {});
    setReadout([this](int series, int) {
        const auto at = static_cast<std::size_t>(std::max(0, series));
        return at < bars_.size() ? bars_[at].readout : QString();
    });
}

QString SpeedChart::barText(int bar) const {
    return bars_.at(static_cast<std::size_t>(bar)).text;
}

void SpeedChart::setLaunch(const ProfiledLaunch &launch) {
    bars_.clear();
    std::vector<Series> all;
    QStringList described;
    for (const SpeedOfLight &roof : launch.roofs) {
        if (!(roof.amount > 0) || (!roof.ofMeasured && !roof.ofDatasheet))
            continue;
        Bar bar;
        bar.name = levelName(roof.name);
        bar.memory = roof.memory;
        bar.measured = 100 * roof.ofMeasured.value_or(0);
        bar.datasheet = 100 * roof.ofDatasheet.value_or(0);
        bar.text = roof.ofMeasured ? percentText(roof.ofMeasured)
                                   : tr("%1 of the data sheet").arg(percentText(roof.ofDatasheet));
        bar.readout = roofText(roof);
        described += bar.readout;
        Series series;
        series.name = bar.name;
        for (const double value : {bar.datasheet, bar.measured})
            if (value > 0) {
                series.x.push_back(value);
                series.y.push_back(static_cast<double>(bars_.size() + 1));
            }
        std::ranges::sort(series.x);
        series.line = false;
        series.inLegend = false;
        series.color = bar.memory ? memoryColor : computeColor;
        all.push_back(std::move(series));
        bars_.push_back(std::move(bar));
    }
    setDecoration({});
    setSeries(std::move(all));
    if (bars_.empty())
        return;
    setDecoration([this](QCustomPlot &plot) { draw(plot); });
    setAccessibleDescription(described.join(QLatin1Char('\n')));
}

void SpeedChart::draw(QCustomPlot &plot) const {
    const Colors &colors = Theme::instance().colors();
    QSharedPointer<QCPAxisTickerText> names(new QCPAxisTickerText);
    double greatest = 100;
    for (std::size_t i = 0; i < bars_.size(); ++i) {
        const Bar &bar = bars_[i];
        const double row = static_cast<double>(i + 1);
        names->addTick(row, bar.name);
        QColor color =
            colors.series[static_cast<std::size_t>(bar.memory ? memoryColor : computeColor)];
        auto *bars = new QCPBars(plot.yAxis, plot.xAxis);
        bars->setPen(QPen(color));
        color.setAlpha(150);
        bars->setBrush(color);
        bars->setWidth(0.6);
        bars->setData({row}, {bar.measured > 0 ? bar.measured : bar.datasheet});
        bars->removeFromLegend();
        if (bar.datasheet > 0 && bar.measured > 0) {
            auto *mark = new QCPItemLine(&plot);
            mark->setPen(QPen(colors.text, 2, Qt::DotLine));
            mark->start->setCoords(bar.datasheet, row - 0.3);
            mark->end->setCoords(bar.datasheet, row + 0.3);
            mark->setSelectable(false);
        }
        addText(plot, bar.greatest(), row, colors.text, bar.text, Qt::AlignLeft | Qt::AlignVCenter);
        greatest = std::max(greatest, bar.greatest());
    }
    addUpright(plot, 100, colors.warning, {});
    plot.yAxis->setTicker(names);
    plot.yAxis->setTickLength(0);
    plot.yAxis->grid()->setVisible(false);
    plot.yAxis->setRangeReversed(true);
    plot.yAxis->setRange(0.4, static_cast<double>(bars_.size()) + 0.6);
    const int width = std::max(plot.axisRect()->width(), 60);
    auto ticker = QSharedPointer<TextTicker>::create(&tickText);
    ticker->setTickCount(std::clamp(width / 70, 2, 6));
    plot.xAxis->setTicker(ticker);
    plot.xAxis->setSubTicks(false);
    const int words = plot.fontMetrics().horizontalAdvance(QStringLiteral("100.0 %")) + 12;
    plot.xAxis->setRange(0, greatest * width / std::max<double>(width - words, width * 0.5));
}

} // namespace cuda_agent::widgets
