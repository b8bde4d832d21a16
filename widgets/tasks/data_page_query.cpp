// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
// The filter of the page, its distributions and its columns.
#include "widgets/tasks/data_page.h"

#include "widgets/synthesis/synthesis_strip.h"
#include "widgets/tasks/filter_panel.h"
#include "widgets/tasks/set_columns.h"

#include <QComboBox>
#include <QHeaderView>
#include <QLineEdit>
#include <QMenu>
#include <QResizeEvent>
#include <QTableView>

#include <algorithm>

namespace cuda_agent::widgets {

namespace {

constexpr int panelRoom = 800; ///< narrower pages have none for the panel
constexpr int stripRoom = 560; ///< lower ones for the rejections
constexpr std::size_t level = static_cast<std::size_t>(Facet::level);
const QString columnsKey = QStringLiteral("data/columns");
const QString panelKey = QStringLiteral("data/panel");

} // namespace

void DataPage::fillGroups() {
    const QSignalBlocker quiet(group_);
    group_->clear();
    group_->addItem(tr("All levels and folders"));
    const QStringList groups = model_->groups();
    for (const QString &name : groups)
        group_->addItem(name.isEmpty() ? tr("(none)") : name, name);
    group_->setEnabled(groups.size() > 1);
    QSet<QString> operators;
    for (const TaskRow &row : model_->rows())
        for (const QString &name : row.ops)
            operators.insert(name);
    QStringList names(operators.begin(), operators.end());
    names.sort();
    panel_->setOperators(names);
    TaskQuery query = query_;
    if (query.names[level] && !groups.contains(*query.names[level]))
        query.names[level].reset();
    query_ = query;
    applyQuery();
}

/// From the fields above the list.
void DataPage::filterChanged() {
    TaskQuery query = query_;
    const QVariant group = group_->currentData();
    query.names[level] = group.isValid() ? std::optional(group.toString()) : std::nullopt;
    query.words = text_->text().toCaseFolded().split(u' ', Qt::SkipEmptyParts);
    if (query == query_)
        return;
    query_ = query;
    applyQuery();
}

void DataPage::setQuery(const TaskQuery &query) {
    debounce_.stop();
    query_ = query;
    if (text_->text().toCaseFolded().split(u' ', Qt::SkipEmptyParts) != query.words) {
        const QSignalBlocker quiet(text_);
        text_->setText(query.words.join(u' '));
    }
    applyQuery();
}

void DataPage::applyQuery() {
    {
        const QSignalBlocker quiet(group_);
        const auto &name = query_.names[level];
        group_->setCurrentIndex(name ? std::max(group_->findData(*name), 0) : 0);
    }
    applying_ = true; // rows go and come in many stretches
    filtered_->setQuery(query_);
    applying_ = false;
    if (!model_->loading()) {
        if (!table_->currentIndex().isValid() && filtered_->rowCount() > 0)
            table_->selectRow(0);
        else
            showCurrent();
    }
    askedChanged();
    showSpread();
    updateCount();
}

/// Each thing that is asked for, to be taken back one by one.
void DataPage::askedChanged() {
    QStringList parts;
    for (int i = 0; i < facetCount; ++i) {
        const auto facet = static_cast<Facet>(i);
        if (!query_.asks(facet))
            continue;
        parts << tr("%1: %2", "a filter, its value")
                         .arg(facetTitle(facet), askedText(query_, facet))
                         .toHtmlEscaped() +
                     QStringLiteral("&nbsp;<a href='%1' style='text-decoration:none'>✕</a>").arg(i);
    }
    if (!query_.operatorName.isEmpty())
        parts << tr("Operator: %1").arg(query_.operatorName).toHtmlEscaped() +
                     QStringLiteral("&nbsp;<a href='name' style='text-decoration:none'>✕</a>");
    if (parts.size() > 1)
        parts << QStringLiteral("<a href='all'>%1</a>").arg(tr("Clear all").toHtmlEscaped());
    asked_->setText(parts.join(QStringLiteral("&nbsp;&nbsp; ")));
    asked_->setVisible(!parts.isEmpty());
}

void DataPage::showSpread() {
    if (!panel_->isHidden())
        panel_->display(distributions(model_->rows(), query_), query_);
}

void DataPage::updatePanel() {
    QSettings().setValue(panelKey, panelAction_->isChecked());
    panelAction_->setEnabled(model_->hasFacts());
    const bool shown = panelAction_->isChecked() && model_->hasFacts() && width() >= panelRoom;
    const bool changed = shown == panel_->isHidden();
    panel_->setVisible(shown);
    if (changed || !model_->loading())
        showSpread();
}

void DataPage::resizeEvent(QResizeEvent *event) {
    QWidget::resizeEvent(event);
    if ((event->oldSize().width() >= panelRoom) != (event->size().width() >= panelRoom))
        updatePanel();
    strip_->setRoomy(height() >= stripRoom);
}

// --- columns ----------------------------------------------------------------------------------

QString DataPage::columnKey(int column) const {
    static const QStringList fixed{QStringLiteral("name"), QStringLiteral("level"),
                                   QStringLiteral("mentions"), QStringLiteral("size"),
                                   QStringLiteral("problem")};
    return column < fixed.size() ? fixed[column] : model_->fieldOf(column);
}

bool DataPage::columnWanted(int column) const {
    if (column == TaskSetModel::nameColumn)
        return true;
    if (column == TaskSetModel::problemColumn)
        return model_->unusable() > 0;
    const QVariant wish = QSettings().value(columnsKey + u'/' + columnKey(column));
    if (wish.isValid())
        return wish.toBool();
    // Where a set says what its tasks compute, what their source mentions says less.
    const bool recorded = model_->columnOf(QStringLiteral("ops")) >= 0;
    if (column == TaskSetModel::groupColumn && model_->hasFacts())
        return model_->groups() != QStringList{QString()}; // candidates have no level yet
    if (column == TaskSetModel::mentionsColumn || column == TaskSetModel::sizeColumn)
        return !recorded;
    return column < TaskSetModel::fixedColumns || fieldShown(model_->fieldOf(column));
}

void DataPage::updateColumns() {
    for (int column = 0; column < filtered_->columnCount(); ++column)
        if (const bool hidden = !columnWanted(column); table_->isColumnHidden(column) != hidden)
            table_->setColumnHidden(column, hidden);
}

/// Once a set: widths that the user has made stay.
void DataPage::fitColumns() {
    if (fitted_ == model_->path())
        return;
    fitted_ = model_->path();
    const int letter = fontMetrics().averageCharWidth();
    const QStringList words{QStringLiteral("split"), QStringLiteral("source"),
                            QStringLiteral("data_source"), QStringLiteral("outcome")};
    for (int column = TaskSetModel::fixedColumns; column < filtered_->columnCount(); ++column) {
        const QString field = model_->fieldOf(column);
        const QString title =
            filtered_->headerData(column, Qt::Horizontal, Qt::DisplayRole).toString();
        const int wide = field == QLatin1String("ops") || field == QLatin1String("detail")
                             ? 34 * letter
                         : field == QLatin1String("reason") ? 18 * letter
                         : words.contains(field)            ? 14 * letter
                                                            : 10 * letter;
        table_->setColumnWidth(column, std::max(wide, fontMetrics().horizontalAdvance(title) + 28));
    }
}

void DataPage::askColumns(const QPoint &at) {
    auto *menu = new QMenu(this);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    const QHeaderView *header = table_->horizontalHeader();
    for (int place = 0; place < header->count(); ++place) {
        const int column = header->logicalIndex(place);
        if (column == TaskSetModel::nameColumn || column == TaskSetModel::problemColumn)
            continue;
        QString title = filtered_->headerData(column, Qt::Horizontal, Qt::DisplayRole).toString();
        QAction *action = menu->addAction(title.replace(u'&', QLatin1String("&&")));
        action->setCheckable(true);
        action->setChecked(!table_->isColumnHidden(column));
        connect(action, &QAction::triggered, this, [this, key = columnKey(column)](bool on) {
            QSettings().setValue(columnsKey + u'/' + key, on);
            updateColumns();
        });
    }
    menu->popup(header->viewport()->mapToGlobal(at));
}

} // namespace cuda_agent::widgets
