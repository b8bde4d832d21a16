// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/verdict/times_chart.h"

#include "widgets/base/text.h"
#include "widgets/base/theme.h"
#include "widgets/plot/marks.h"
#include "widgets/verdict/verdict_words.h"

#include <QLocale>

#include <algorithm>

namespace cuda_agent::widgets {

namespace {

int colorOf(const QString &key) {
    return key == QLatin1String("candidate") ? 0 : key.startsWith(QLatin1String("eager")) ? 6 : 1;
}

QString tickText(double seconds) {
    return seconds == 0 ? QStringLiteral("0") : timeText(seconds);
}

} // namespace

TimesChart::TimesChart(QWidget *parent) : Plot(tr("Times"), parent) {
    setZoomable(false);
    setLegendAllowed(false); // the bars have their names beside them
    setEmptyText(tr("Times are measured once the candidate is correct."));
    setReadout([this](int series, int) {
        const Bar &bar = bars_[static_cast<std::size_t>(series)];
        return tr("%1: %2\n95 % interval %3 to %4")
            .arg(bar.name, timeText(bar.seconds), timeText(bar.low), timeText(bar.high));
    });
}

void TimesChart::setVerdict(const Json &verdict) {
    bars_.clear();
    const Json &times = partOf(verdict, "times");
    if (times.is_object())
        for (const auto &[key, time] : times.items()) {
            const double seconds = numberOf(time, "seconds");
            if (!(seconds > 0))
                continue;
            const QString name = QString::fromStdString(key);
            bars_.push_back({timeName(name), name, seconds, numberOf(time, "low", seconds),
                             numberOf(time, "high", seconds), timeText(seconds)});
        }
    const double candidate = numberOf(partOf(times, "candidate"), "seconds");
    std::sort(bars_.begin(), bars_.end(), [](const Bar &a, const Bar &b) {
        const bool first = a.key == QLatin1String("candidate");
        if (first != (b.key == QLatin1String("candidate")))
            return first;
        return a.seconds < b.seconds;
    });
    fraction_ = numberOf(verdict, "fraction_of_limit");
    limit_ = numberOf(verdict, "limit_seconds", candidate * fraction_);
    std::vector<Series> series;
    for (std::size_t i = 0; i < bars_.size(); ++i) {
        Bar &bar = bars_[i];
        bar.brief = bar.text;
        if (candidate > 0 && bar.key != QLatin1String("candidate")) {
            const QString factor = timesText(bar.seconds / candidate);
            bar.brief = tr("%1, %2", "time of a baseline, speed-up over it").arg(bar.text, factor);
            bar.text = tr("%1, candidate %2", "time of a baseline, speed-up over it")
                           .arg(bar.text, factor);
        } else if (fraction_ > 0) {
            const QString part = QLocale().toString(fraction_ * 100, 'f', 0);
            bar.brief = tr("%1, %2 %", "time, part of the limit").arg(bar.text, part);
            bar.text = tr("%1, %2 % of the limit").arg(bar.text, part);
        }
        Series values;
        values.name = bar.name;
        values.x = {std::min(bar.low, bar.seconds), bar.seconds, std::max(bar.high, bar.seconds)};
        values.y.assign(3, static_cast<double>(i + 1));
        values.line = false;
        values.color = colorOf(bar.key);
        series.push_back(std::move(values));
    }
    // Bars first: setSeries draws the decoration too.
    setSeries(std::move(series));
    if (bars_.empty())
        setDecoration({});
    else
        setDecoration([this](QCustomPlot &plot) { draw(plot); });
    setMinimumHeight(bars_.empty()
                         ? 80
                         : static_cast<int>(bars_.size()) * (fontMetrics().height() + 14) +
                               3 * fontMetrics().height() + 34);
    QStringList words;
    for (const Bar &bar : bars_)
        words += tr("%1 %2", "name of a bar, its text").arg(bar.name, bar.text);
    setAccessibleDescription(words.join(QLatin1String("; ")));
}

void TimesChart::draw(QCustomPlot &plot) const {
    const Colors &colors = Theme::instance().colors();
    QSharedPointer<QCPAxisTickerText> names(new QCPAxisTickerText);
    double greatest = limit_;
    const int width = std::max(plot.axisRect()->width(), 60);
    const auto widestOf = [&](QString Bar::*text) {
        int widest = 0;
        for (const Bar &bar : bars_)
            widest = std::max(widest, plot.fontMetrics().horizontalAdvance(bar.*text) + 12);
        return widest;
    };
    const bool brief = widestOf(&Bar::text) > width * 0.6;
    const int widest = widestOf(brief ? &Bar::brief : &Bar::text);
    for (std::size_t i = 0; i < bars_.size(); ++i) {
        const Bar &bar = bars_[i];
        const double row = static_cast<double>(i + 1);
        names->addTick(row, bar.name);
        auto *bars = new QCPBars(plot.yAxis, plot.xAxis);
        QColor color = colors.series[static_cast<std::size_t>(colorOf(bar.key))];
        bars->setPen(QPen(color));
        color.setAlpha(150);
        bars->setBrush(color);
        bars->setWidth(0.62);
        bars->setData({row}, {bar.seconds});
        bars->removeFromLegend();
        auto *errors = new QCPErrorBars(plot.yAxis, plot.xAxis);
        errors->setDataPlottable(bars);
        errors->setErrorType(QCPErrorBars::etValueError);
        errors->setPen(QPen(colors.text, 1.5));
        errors->setWhiskerWidth(8);
        errors->setSymbolGap(0);
        errors->setData({std::max(0.0, bar.seconds - bar.low)},
                        {std::max(0.0, bar.high - bar.seconds)});
        errors->removeFromLegend();
        const double end = std::max(bar.high, bar.seconds);
        addText(plot, end, row, colors.text, brief ? bar.brief : bar.text,
                Qt::AlignLeft | Qt::AlignVCenter);
        greatest = std::max(greatest, end);
    }
    if (limit_ > 0)
        addUpright(plot, limit_, colors.warning, tr("limit"));
    plot.yAxis->setTicker(names);
    plot.yAxis->setTickLength(0);
    plot.yAxis->grid()->setVisible(false);
    plot.yAxis->setRangeReversed(true);
    // Above the first bar there is room for the word at the limit.
    plot.yAxis->setRange(limit_ > 0 ? 0.1 : 0.4, static_cast<double>(bars_.size()) + 0.6);
    auto ticker = QSharedPointer<TextTicker>::create(&tickText);
    ticker->setTickCount(std::max(2, width / 110));
    plot.xAxis->setTicker(ticker);
    plot.xAxis->setSubTicks(false);
    // Room for the words behind the longest bar; where that would leave no bars, they may be cut.
    plot.xAxis->setRange(0, greatest * width / std::max<double>(width - widest, width * 0.35));
}

} // namespace cuda_agent::widgets
