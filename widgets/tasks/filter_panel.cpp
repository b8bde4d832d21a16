// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/tasks/filter_panel.h"

#include "widgets/plot/bar_chart.h"

#include <QComboBox>
#include <QCompleter>
#include <QDoubleSpinBox>
#include <QFormLayout>
#include <QGridLayout>
#include <QLineEdit>
#include <QLocale>
#include <QSpinBox>
#include <QStringListModel>

#include <algorithm>
#include <cmath>

namespace cuda_agent::widgets {

namespace {

constexpr int cardWidth = 230;
constexpr int histogramHeight = 130;
constexpr Facet boxFacets[] = {Facet::outcome, Facet::reason, Facet::split, Facet::source,
                               Facet::dtype};

std::size_t at(Facet facet) {
    return static_cast<std::size_t>(facet);
}

/// "5 ms": short, for an axis of round numbers.
QString timeTick(double seconds) {
    const char *unit = "s";
    if (seconds < 0.9995e-3) {
        seconds *= 1e6;
        unit = "µs";
    } else if (seconds < 0.9995) {
        seconds *= 1e3;
        unit = "ms";
    }
    return QLocale().toString(seconds, 'g', 3) + QChar(0x202f) + QString::fromUtf8(unit);
}

QString timesTick(double factor) {
    return QLocale().toString(factor, 'g', 3) + QChar(0x00d7);
}

QWidget *beside(QWidget *left, QWidget *right) {
    auto *row = new QWidget;
    auto *layout = new QHBoxLayout(row);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(4);
    layout->addWidget(left, 1);
    auto *dash = new QLabel(QStringLiteral("–"), row);
    layout->addWidget(dash);
    layout->addWidget(right, 1);
    return row;
}

} // namespace

FilterPanel::FilterPanel(QWidget *parent) : QScrollArea(parent) {
    setObjectName(QStringLiteral("data.filters"));
    setAccessibleName(tr("Filters and distributions"));
    setWidgetResizable(true);
    setFrameShape(QFrame::NoFrame);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setMinimumWidth(150);
    setFocusPolicy(Qt::NoFocus);
    auto *page = new QWidget(this);
    auto *layout = new QVBoxLayout(page);
    layout->setContentsMargins(4, 4, 6, 4);
    layout->setSpacing(8);
    layout->addWidget(makeForm());
    grid_ = new QGridLayout;
    grid_->setContentsMargins(0, 0, 0, 0);
    grid_->setHorizontalSpacing(10);
    grid_->setVerticalSpacing(8);
    layout->addLayout(grid_);
    layout->addStretch(1);
    for (int i = 0; i < facetCount; ++i)
        makeCard(static_cast<Facet>(i));
    setWidget(page);
}

QWidget *FilterPanel::makeForm() {
    auto *page = new QWidget(this);
    auto *form = new QFormLayout(page);
    form->setContentsMargins(0, 0, 0, 0);
    form->setVerticalSpacing(3);
    form->setHorizontalSpacing(6);
    form->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
    form->setRowWrapPolicy(QFormLayout::DontWrapRows);
    operators_ = new QStringListModel(this);
    operator_ = new QLineEdit(page);
    operator_->setAccessibleName(tr("Name of an operator"));
    operator_->setPlaceholderText(tr("any"));
    operator_->setClearButtonEnabled(true);
    auto *completer = new QCompleter(operators_, operator_);
    completer->setCaseSensitivity(Qt::CaseInsensitive);
    completer->setFilterMode(Qt::MatchContains);
    operator_->setCompleter(completer);
    connect(operator_, &QLineEdit::textChanged, this, &FilterPanel::takeFields);
    form->addRow(tr("Operator"), operator_);

    const auto number = [&](const QString &name) {
        auto *box = new QSpinBox(page);
        box->setRange(0, 99);
        box->setSpecialValueText(tr("any"));
        box->setAccessibleName(name);
        box->setMinimumWidth(40);
        connect(box, &QSpinBox::valueChanged, this, &FilterPanel::takeFields);
        return box;
    };
    fewest_ = number(tr("Fewest operators"));
    most_ = number(tr("Most operators"));
    form->addRow(tr("Operators"), beside(fewest_, most_));

    const auto time = [&](const QString &name) {
        auto *box = new QDoubleSpinBox(page);
        box->setDecimals(3);
        box->setRange(0, 1e6);
        box->setStepType(QAbstractSpinBox::AdaptiveDecimalStepType);
        box->setSpecialValueText(tr("any"));
        box->setAccessibleName(name);
        box->setMinimumWidth(40);
        box->setKeyboardTracking(false);
        connect(box, &QDoubleSpinBox::valueChanged, this, &FilterPanel::takeFields);
        return box;
    };
    from_ = time(tr("Shortest eager time in milliseconds"));
    to_ = time(tr("Longest eager time in milliseconds"));
    form->addRow(tr("Eager, ms"), beside(from_, to_));

    for (const Facet facet : boxFacets) {
        auto *box = new QComboBox(page);
        box->setAccessibleName(facetTitle(facet));
        box->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
        box->setMinimumContentsLength(4);
        auto *name = new QLabel(facetTitle(facet), page);
        name->setBuddy(box);
        form->addRow(name, box);
        boxes_[at(facet)] = box;
        boxNames_[at(facet)] = name;
        connect(box, &QComboBox::currentIndexChanged, this, &FilterPanel::takeFields);
    }
    return page;
}

void FilterPanel::makeCard(Facet facet) {
    Card &card = cards_[at(facet)];
    card.box = new QWidget(this);
    auto *layout = new QVBoxLayout(card.box);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(2);
    card.title = new QLabel(facetTitle(facet), card.box);
    QFont bold = card.title->font();
    bold.setBold(true);
    card.title->setFont(bold);
    card.chart = new BarChart(
        facetTitle(facet), isHistogram(facet) ? BarChart::Kind::intervals : BarChart::Kind::names,
        card.box);
    card.chart->setObjectName(QStringLiteral("data.chart.%1").arg(static_cast<int>(facet)));
    if (isHistogram(facet)) {
        card.chart->setAxis({}, facet == Facet::time ? &timeTick : &timesTick);
        card.chart->setFixedHeight(histogramHeight);
    }
    layout->addWidget(card.title);
    layout->addWidget(card.chart);
    card.box->hide();
    connect(card.chart, &BarChart::barActivated, this, [this, facet](int bar) {
        for (const Distribution &each : std::as_const(spread_))
            if (each.facet == facet && bar < each.bars.size()) {
                TaskQuery query = query_;
                toggleBar(query, facet, each.bars[bar]);
                emit asked(query);
                return;
            }
    });
}

BarChart *FilterPanel::chart(Facet facet) const {
    const Card &card = cards_[at(facet)];
    return card.used ? card.chart : nullptr;
}

void FilterPanel::setOperators(const QStringList &names) {
    operators_->setStringList(names);
}

void FilterPanel::display(const QVector<Distribution> &spread, const TaskQuery &query) {
    spread_ = spread;
    query_ = query;
    bool other = false;
    for (std::size_t i = 0; i < facetCount; ++i) {
        Card &card = cards_[i];
        const auto found = std::find_if(spread.begin(), spread.end(),
                                        [i](const auto &each) { return at(each.facet) == i; });
        const bool used = found != spread.end();
        other = other || used != card.used;
        card.used = used;
        if (!used)
            continue;
        const Facet facet = found->facet;
        QVector<BarChart::Bar> bars;
        for (const FacetBar &bar : found->bars)
            bars << BarChart::Bar{barText(facet, bar), static_cast<double>(bar.count),
                                  isHistogram(facet) ? bar.within.from : 0,
                                  isHistogram(facet) ? bar.within.to : 0, bar.chosen};
        card.title->setText(found->further > 0
                                ? tr("%1 (and %2 more)").arg(facetTitle(facet)).arg(found->further)
                                : facetTitle(facet));
        card.chart->setBars(bars);
    }
    if (other)
        columns_ = 0;
    arrange();
    showFields(spread);
}

void FilterPanel::showFields(const QVector<Distribution> &spread) {
    showing_ = true;
    if (operator_->text().trimmed().compare(query_.operatorName, Qt::CaseInsensitive) != 0)
        operator_->setText(query_.operatorName);
    fewest_->setValue(query_.fewest);
    most_->setValue(query_.most);
    from_->setValue(query_.time.from > 0 ? query_.time.from * 1e3 : 0);
    to_->setValue(std::isfinite(query_.time.to) ? query_.time.to * 1e3 : 0);
    for (const Facet facet : boxFacets) {
        QComboBox *box = boxes_[at(facet)];
        const auto found = std::find_if(spread.begin(), spread.end(),
                                        [facet](const auto &each) { return each.facet == facet; });
        const bool used = found != spread.end();
        box->setVisible(used);
        boxNames_[at(facet)]->setVisible(used);
        if (!used)
            continue;
        box->clear();
        box->addItem(tr("any"));
        for (const FacetBar &bar : found->bars)
            box->addItem(bar.key, bar.key);
        const auto &name = query_.names[at(facet)];
        box->setCurrentIndex(name ? std::max(box->findData(*name), 0) : 0);
    }
    showing_ = false;
}

void FilterPanel::takeFields() {
    if (showing_)
        return;
    TaskQuery query = query_;
    query.operatorName = operator_->text().trimmed();
    query.fewest = fewest_->value();
    query.most = most_->value();
    // Only what was changed: a bar's edges have more digits than the fields show.
    const auto take = [](const QDoubleSpinBox *box, double &edge, double none) {
        const double shown = std::isfinite(edge) && edge > 0 ? edge * 1e3 : 0;
        if (std::fabs(box->value() - shown) > 6e-4)
            edge = box->value() > 0 ? box->value() * 1e-3 : none;
    };
    take(from_, query.time.from, Interval{}.from);
    take(to_, query.time.to, Interval{}.to);
    for (const Facet facet : boxFacets) {
        const QComboBox *box = boxes_[at(facet)];
        const QVariant value = box->currentData();
        if (!box->isHidden())
            query.names[at(facet)] =
                value.isValid() ? std::optional(value.toString()) : std::nullopt;
    }
    if (!(query == query_))
        emit asked(query);
}

void FilterPanel::resizeEvent(QResizeEvent *event) {
    QScrollArea::resizeEvent(event);
    arrange();
}

void FilterPanel::arrange() {
    const int columns = std::clamp(viewport()->width() / cardWidth, 1, 4);
    if (columns == columns_)
        return;
    columns_ = columns;
    for (const Card &card : cards_) {
        grid_->removeWidget(card.box);
        card.box->setVisible(card.used);
    }
    // Each into the column that is shortest so far would move charts about: row by row.
    int place = 0;
    for (const Card &card : cards_)
        if (card.used) {
            grid_->addWidget(card.box, place / columns, place % columns, Qt::AlignTop);
            ++place;
        }
    for (int column = 0; column < 4; ++column)
        grid_->setColumnStretch(column, column < columns ? 1 : 0);
}

} // namespace cuda_agent::widgets
