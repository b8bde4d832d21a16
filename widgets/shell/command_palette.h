// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractListModel>
#include <QDialog>
#include <QPointer>

class QAction;
class QLineEdit;
class QListView;
class QSortFilterProxyModel;

namespace cuda_agent::widgets {

/// Name of a command without what a menu adds to it: the mark of its access key, a whole "(&X)" as
/// translations into Chinese have it, and a last "…".
QString plainName(QString text);

/// Actions by name, with their shortcuts. Actions may die while they are listed.
class ActionModel : public QAbstractListModel {
    Q_OBJECT
  public:
    enum Role { ShortcutRole = Qt::UserRole, SearchRole };
    explicit ActionModel(QObject *parent = nullptr);
    void setActions(const QList<QAction *> &actions);
    QAction *action(int row) const;
    int rowCount(const QModelIndex &parent = {}) const override;
    QVariant data(const QModelIndex &index, int role) const override;
    Qt::ItemFlags flags(const QModelIndex &index) const override;

  private:
    struct Row {
        QPointer<QAction> action;
        QString name;
    };
    QList<Row> rows_;
};

/// Every command of the window by typing a part of its name. The letters of the words may lie
/// apart ("rdl" finds "Restore Default Layout").
class CommandPalette : public QDialog {
    Q_OBJECT
  public:
    explicit CommandPalette(QWidget *parent);
    /// Shows the actions that can be triggered now; the chosen one is triggered after closing.
    void open(const QList<QAction *> &actions);
    int matches() const;

  protected:
    bool eventFilter(QObject *watched, QEvent *event) override;

  private:
    void trigger();
    QLineEdit *filter_ = nullptr;
    QListView *list_ = nullptr;
    ActionModel *model_ = nullptr;
    QSortFilterProxyModel *proxy_ = nullptr;
};

} // namespace cuda_agent::widgets
