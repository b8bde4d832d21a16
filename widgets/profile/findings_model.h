// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/profile/kernel_profile.h"

#include <QAbstractListModel>
#include <QStyledItemDelegate>

class QListView;

namespace cuda_agent::widgets {

/// The findings of a profile, the largest expected gain first. GUI thread.
class FindingsModel : public QAbstractListModel {
    Q_OBJECT
  public:
    enum Role {
        TitleRole = Qt::UserRole, ///< "up to 1.85× faster: Uncoalesced loads"
        PlaceRole,                ///< "kernels/k.cu:3, copy"; of the whole call empty
        EvidenceRole,
        FileRole, ///< empty where there is no place to go to
        LineRole,
        LaunchRole, ///< -1: the whole call
        StopRole
    };

    using QAbstractListModel::QAbstractListModel;
    void setProfile(const KernelProfile &profile);
    /// All of them as lines of text.
    QString text() const;

    int rowCount(const QModelIndex &parent = {}) const override;
    /// DisplayRole: what the finding says, in whole sentences, as it was recorded.
    QVariant data(const QModelIndex &index, int role = Qt::DisplayRole) const override;

  private:
    KernelProfile profile_;
};

/// Paints a finding: gain and rule, place, message in as many lines as it takes, evidence. The view
/// lays itself out anew when its width is another.
class FindingDelegate : public QStyledItemDelegate {
    Q_OBJECT
  public:
    explicit FindingDelegate(QListView *view);

    void paint(QPainter *painter, const QStyleOptionViewItem &option,
               const QModelIndex &index) const override;
    QSize sizeHint(const QStyleOptionViewItem &option, const QModelIndex &index) const override;

  private:
    QListView *view_;
};

} // namespace cuda_agent::widgets
