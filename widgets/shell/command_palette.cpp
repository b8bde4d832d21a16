// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/shell/command_palette.h"

#include "widgets/base/theme.h"

#include <QKeyEvent>
#include <QLineEdit>
#include <QListView>
#include <QRegularExpression>
#include <QSortFilterProxyModel>
#include <QStyledItemDelegate>

namespace cuda_agent::widgets {

QString plainName(QString text) {
    static const QRegularExpression key(QStringLiteral("\\(&\\w\\)"));
    text.remove(key).remove(QLatin1Char('&'));
    if (text.endsWith(QChar(0x2026)))
        text.chop(1);
    return text;
}

ActionModel::ActionModel(QObject *parent) : QAbstractListModel(parent) {}

void ActionModel::setActions(const QList<QAction *> &actions) {
    beginResetModel();
    rows_.clear();
    for (QAction *action : actions) {
        const QString name = plainName(action->text());
        if (!name.isEmpty())
            rows_.append({action, name});
    }
    endResetModel();
}

QAction *ActionModel::action(int row) const {
    return row >= 0 && row < rows_.size() ? rows_[row].action.data() : nullptr;
}

int ActionModel::rowCount(const QModelIndex &parent) const {
    return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

QVariant ActionModel::data(const QModelIndex &index, int role) const {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const Row &row = rows_[index.row()];
    if (role == Qt::DisplayRole || role == SearchRole)
        return row.name;
    if (!row.action)
        return {};
    if (role == ShortcutRole)
        return row.action->shortcut().toString(QKeySequence::NativeText);
    if (role == Qt::ToolTipRole)
        return row.action->toolTip();
    if (role == Qt::AccessibleTextRole)
        return row.action->shortcut().isEmpty()
                   ? row.name
                   : tr("%1, shortcut %2").arg(row.name, row.action->shortcut().toString());
    return {};
}

Qt::ItemFlags ActionModel::flags(const QModelIndex &index) const {
    const QAction *action = this->action(index.row());
    if (!index.isValid() || !action || !action->isEnabled())
        return Qt::NoItemFlags;
    return Qt::ItemIsEnabled | Qt::ItemIsSelectable | Qt::ItemNeverHasChildren;
}

namespace {

class ShortcutDelegate : public QStyledItemDelegate {
  public:
    using QStyledItemDelegate::QStyledItemDelegate;
    void paint(QPainter *painter, const QStyleOptionViewItem &option,
               const QModelIndex &index) const override {
        QStyledItemDelegate::paint(painter, option, index);
        const QString shortcut = index.data(ActionModel::ShortcutRole).toString();
        if (shortcut.isEmpty())
            return;
        painter->save();
        const bool selected = option.state & QStyle::State_Selected;
        painter->setPen(selected ? option.palette.color(QPalette::HighlightedText)
                                 : Theme::instance().colors().muted);
        painter->drawText(option.rect.adjusted(8, 0, -8, 0), Qt::AlignRight | Qt::AlignVCenter,
                          shortcut);
        painter->restore();
    }
    QSize sizeHint(const QStyleOptionViewItem &option, const QModelIndex &index) const override {
        return QStyledItemDelegate::sizeHint(option, index) + QSize(0, 8);
    }
};

} // namespace

CommandPalette::CommandPalette(QWidget *parent) : QDialog(parent, Qt::Popup) {
    setObjectName(QStringLiteral("commandPalette"));
    setAccessibleName(tr("Command palette"));
    filter_ = new QLineEdit(this);
    filter_->setPlaceholderText(tr("Type a command"));
    filter_->setAccessibleName(tr("Command to look for"));
    filter_->setClearButtonEnabled(true);
    list_ = new QListView(this);
    list_->setAccessibleName(tr("Commands"));
    list_->setUniformItemSizes(true);
    list_->setItemDelegate(new ShortcutDelegate(list_));
    model_ = new ActionModel(this);
    proxy_ = new QSortFilterProxyModel(this);
    proxy_->setSourceModel(model_);
    proxy_->setFilterCaseSensitivity(Qt::CaseInsensitive);
    proxy_->setSortCaseSensitivity(Qt::CaseInsensitive);
    list_->setModel(proxy_);
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(6, 6, 6, 6);
    column->addWidget(filter_);
    column->addWidget(list_);
    filter_->installEventFilter(this);
    connect(filter_, &QLineEdit::textChanged, this, [this](const QString &text) {
        QString pattern;
        const QString letters = QString(text).remove(QLatin1Char(' '));
        for (const QChar letter : letters)
            pattern += QRegularExpression::escape(QString(letter)) + QStringLiteral(".*");
        proxy_->setFilterRegularExpression(
            QRegularExpression(pattern, QRegularExpression::CaseInsensitiveOption));
        list_->setCurrentIndex(proxy_->index(0, 0));
    });
    connect(filter_, &QLineEdit::returnPressed, this, &CommandPalette::trigger);
    connect(list_, &QListView::clicked, this, &CommandPalette::trigger);
}

void CommandPalette::open(const QList<QAction *> &actions) {
    model_->setActions(actions);
    proxy_->sort(0);
    filter_->clear();
    list_->setCurrentIndex(proxy_->index(0, 0));
    const QWidget *window = parentWidget()->window();
    resize(std::min(620, window->width() - 40), std::min(440, window->height() - 80));
    move(window->mapToGlobal(QPoint((window->width() - width()) / 2, 60)));
    show();
    filter_->setFocus();
}

int CommandPalette::matches() const {
    return proxy_->rowCount();
}

void CommandPalette::trigger() {
    const QModelIndex index = list_->currentIndex();
    const QPointer<QAction> action =
        index.isValid() ? model_->action(proxy_->mapToSource(index).row()) : nullptr;
    close();
    if (action && action->isEnabled())
        action->trigger();
}

bool CommandPalette::eventFilter(QObject *watched, QEvent *event) {
    if (watched == filter_ && event->type() == QEvent::KeyPress) {
        const int key = static_cast<QKeyEvent *>(event)->key();
        if (key == Qt::Key_Up || key == Qt::Key_Down || key == Qt::Key_PageUp ||
            key == Qt::Key_PageDown) {
            QApplication::sendEvent(list_, event);
            return true;
        }
    }
    return QDialog::eventFilter(watched, event);
}

} // namespace cuda_agent::widgets
