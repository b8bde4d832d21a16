// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/profile/roof_plot.h"

#include "widgets/base/command.h"
#include "widgets/base/theme.h"
#include "widgets/plot/marks.h"
#include "widgets/profile/profile_words.h"
#include "widgets/roofline/roof_names.h"
#include "widgets/roofline/roofline_data.h"

#include <QAction>
#include <QLocale>

#include <algorithm>
#include <array>
#include <iterator>

namespace cuda_agent::widgets {

namespace {

using Shape = QCPScatterStyle::ScatterShape;
constexpr std::array shapes{Shape::ssCircle, Shape::ssSquare, Shape::ssTriangle, Shape::ssDiamond,
                            Shape::ssTriangleInverted};
constexpr std::array signs{u'●', u'■', u'▲', u'◆', u'▼'}; ///< the same as text
/// Places in Colors::series, of memories from the outermost inwards.
constexpr std::array levelColors{0, 4, 2, 3, 7};
constexpr std::array launchColors{0, 1, 2, 3, 4, 5, 7};
constexpr int computeColor = 6;

template <std::size_t size>
int turnOf(const std::array<int, size> &colors, qsizetype place) {
    return colors[static_cast<std::size_t>(std::max<qsizetype>(0, place)) % size];
}

QString plainTick(double value) {
    return QLocale().toString(value, 'g', 6);
}

} // namespace

RoofPlot::RoofPlot(QWidget *parent) : Plot(tr("Hierarchical roofline"), parent) {
    setTitles(tr("arithmetic intensity, FLOP/byte"), tr("performance"));
    setReadout([this](int series, int point) {
        const auto at = static_cast<std::size_t>(std::max(0, series));
        return at < curves_.size() ? curves_[at] : markText(markAt(series, point));
    });
    makeActions();
    // A zoom along one axis turns the roofs, and their names with them.
    names_.setSingleShot(true);
    names_.setInterval(0);
    connect(&names_, &QTimer::timeout, this, [this] {
        // While the range follows the data, each change of it is followed by a decoration anyway.
        if (!follow() && !picture_.marks.empty())
            setDecoration([this](QCustomPlot &plot) { decorate(plot); });
    });
    for (QCPAxis *axis : {canvas().xAxis, canvas().yAxis})
        connect(axis, qOverload<const QCPRange &>(&QCPAxis::rangeChanged), &names_,
                qOverload<>(&QTimer::start));
    connect(this, &Plot::pointClicked, this,
            [this](int series, int point) { setCurrentMark(markAt(series, point)); });
}

void RoofPlot::makeActions() {
    addCommand(this, "profile.nextPoint", tr("Next Point"), Qt::Key_N, [this] { stepMark(1); });
    addCommand(this, "profile.previousPoint", tr("Point Before"), Qt::SHIFT | Qt::Key_N,
               [this] { stepMark(-1); });
}

void RoofPlot::stepMark(int by) {
    const int count = static_cast<int>(picture_.marks.size());
    if (count > 0)
        setCurrentMark(current_ < 0 ? (by > 0 ? 0 : count - 1) : (current_ + by + count) % count);
}

void RoofPlot::setCurrentMark(int mark) {
    if (mark >= static_cast<int>(picture_.marks.size()))
        mark = -1;
    if (mark == current_)
        return;
    current_ = mark;
    if (!picture_.marks.empty())
        setDecoration([this](QCustomPlot &plot) { decorate(plot); });
    Q_EMIT currentMarkChanged(mark);
}

void RoofPlot::setProfile(const KernelProfile *profile, const std::vector<int> &launches) {
    picture_ = profile ? roofPictureOf(*profile, launches) : RoofPicture();
    shown_.clear();
    curves_.clear();
    shapes_.clear();
    for (const RoofCurve &curve : picture_.curves)
        curves_.push_back(curveText(curve.name, curve.memory, curve.measured, curve.rate));
    for (const RoofMark &mark : picture_.marks)
        shown_.push_back({markTextOf(*profile, mark), -1});
    if (current_ >= 0) {
        current_ = -1;
        Q_EMIT currentMarkChanged(-1);
    }
    if (picture_.marks.empty()) {
        setDecoration({});
        setSeries({});
        return;
    }
    std::vector<Series> all;
    for (std::size_t i = 0; i < picture_.curves.size(); ++i) {
        const RoofCurve &curve = picture_.curves[i];
        Series series;
        series.name = curves_[i];
        series.x = curve.x;
        series.y = curve.y;
        series.color =
            curve.memory ? turnOf(levelColors, picture_.levels.indexOf(curve.name)) : computeColor;
        series.inLegend = false; // named along the line
        all.push_back(std::move(series));
    }
    const bool several = picture_.marks.front().launch != picture_.marks.back().launch;
    qsizetype order = 0;
    for (std::size_t first = 0; first < picture_.marks.size(); ++order) {
        std::size_t end = first;
        while (end < picture_.marks.size() &&
               picture_.marks[end].launch == picture_.marks[first].launch)
            ++end;
        const QString name = launchName(*profile, picture_.marks[first].launch);
        Series join;
        join.name = name;
        join.color = several ? turnOf(launchColors, order) : computeColor;
        join.inLegend = several;
        for (std::size_t i = first; i < end; ++i) {
            join.x.push_back(picture_.marks[i].intensity);
            join.y.push_back(picture_.marks[i].performance);
        }
        all.push_back(std::move(join));
        shapes_.push_back(-1);
        for (std::size_t i = first; i < end; ++i) {
            const RoofMark &mark = picture_.marks[i];
            const qsizetype level = picture_.levels.indexOf(mark.level);
            Series point;
            point.name = several ? tr("%1, %2", "kernel, memory").arg(name, levelName(mark.level))
                                 : levelName(mark.level);
            point.x = {mark.intensity};
            point.y = {mark.performance};
            point.points = true;
            point.line = false;
            point.inLegend = !several;
            point.color = several ? turnOf(launchColors, order) : turnOf(levelColors, level);
            shown_[i].series = static_cast<int>(all.size());
            all.push_back(std::move(point));
            shapes_.push_back(static_cast<int>(level));
        }
        first = end;
    }
    setLogarithmic(true, true);
    canvas().xAxis->setTicker(QSharedPointer<QCPAxisTicker>(new LogTicker(&plainTick)));
    canvas().yAxis->setTicker(QSharedPointer<QCPAxisTicker>(new LogTicker(&rateText)));
    setDecoration({}); // the old one does not know the new series
    setSeries(std::move(all));
    setDecoration([this](QCustomPlot &plot) { decorate(plot); });
}

void RoofPlot::decorate(QCustomPlot &canvas) const {
    const Colors &colors = Theme::instance().colors();
    const auto graphs = static_cast<int>(curves_.size() + shapes_.size());
    if (canvas.graphCount() < graphs)
        return;
    for (std::size_t i = 0; i < curves_.size(); ++i)
        if (!picture_.curves[i].measured) {
            QPen pen = canvas.graph(static_cast<int>(i))->pen();
            pen.setStyle(Qt::DashLine);
            pen.setWidthF(1.2);
            canvas.graph(static_cast<int>(i))->setPen(pen);
        }
    for (std::size_t i = 0; i < shapes_.size(); ++i) {
        QCPGraph *graph = canvas.graph(static_cast<int>(curves_.size() + i));
        QPen pen = graph->pen();
        if (shapes_[i] >= 0) {
            pen.setColor(colors.base); // told apart where points lie close
            const auto shape = shapes[static_cast<std::size_t>(shapes_[i]) % shapes.size()];
            graph->setScatterStyle(
                QCPScatterStyle(shape, QPen(colors.base, 1), graph->pen().color(), 11));
        } else {
            pen.setWidthF(1.2);
            graph->setPen(pen);
        }
    }
    std::vector<QRectF> taken;
    for (const RoofMark &mark : picture_.marks)
        taken.push_back(pixelsOfMark(canvas, mark.intensity, mark.performance));
    std::vector<NamedRoof> roofs;
    QStringList names;
    for (std::size_t i = 0; i < curves_.size(); ++i) {
        const RoofCurve &curve = picture_.curves[i];
        QStringList own{curves_[i]};
        if (curve.measured)
            own += curves_[i].section(QLatin1Char(' '), 0, 0); // where there is little room
        names += own.front();
        roofs.push_back({{curve.x[0], curve.y[0]}, {curve.x[1], curve.y[1]}, own});
    }
    if (follow())
        leaveRoomForNames(canvas, names);
    // Names of what was measured first: those of the data sheet run close beside them.
    std::ranges::reverse(roofs);
    drawRoofNames(canvas, roofs, taken);
    if (current_ >= 0) {
        const RoofMark &mark = picture_.marks[static_cast<std::size_t>(current_)];
        addRing(canvas, mark.intensity, mark.performance, colors.accent);
    }
}

QString RoofPlot::markText(int mark) const {
    return mark >= 0 && static_cast<std::size_t>(mark) < shown_.size()
               ? shown_[static_cast<std::size_t>(mark)].text
               : QString();
}

QString RoofPlot::shapesText() const {
    QStringList texts;
    for (qsizetype i = 0; i < picture_.levels.size(); ++i)
        texts += QStringLiteral("%1 %2")
                     .arg(QChar(signs[static_cast<std::size_t>(i) % signs.size()]))
                     .arg(levelName(picture_.levels[i]));
    return texts.join(QStringLiteral("  "));
}

QPointF RoofPlot::placeOf(int mark) {
    const RoofMark &at = picture_.marks.at(static_cast<std::size_t>(mark));
    return {canvas().xAxis->coordToPixel(at.intensity),
            canvas().yAxis->coordToPixel(at.performance)};
}

int RoofPlot::markAt(int series, int point) const {
    const auto place = series - static_cast<int>(curves_.size());
    if (place < 0 || static_cast<std::size_t>(place) >= shapes_.size())
        return -1;
    // The line that joins the points of a launch comes before them.
    const int wanted = shapes_[static_cast<std::size_t>(place)] < 0 ? series + 1 + point : series;
    const auto found = std::ranges::find(shown_, wanted, &Shown::series);
    return found == shown_.end() ? -1 : static_cast<int>(found - shown_.begin());
}

} // namespace cuda_agent::widgets
