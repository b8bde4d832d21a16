// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/listing/listing_maker.h"
#include "widgets/profile/kernel_profile.h"

#include <QAbstractTableModel>
#include <QStyledItemDelegate>

namespace cuda_agent::widgets {

/// What a line of the source cost, of all kernels in which samples were seen there.
struct LineCost {
    double share = 0; ///< of the samples of the kernel in which it is largest
    QString stall;    ///< what most of them waited for, as the profile has it
};
/// By line, of one file.
std::map<int, LineCost> lineCosts(const KernelProfile &profile, const QString &file);

/// The instructions of one kernel file: each function's name, then its instructions, each run of
/// those that one line was made into below that line's text. GUI thread.
class ListingModel : public QAbstractTableModel {
    Q_OBJECT
  public:
    enum Column { Cost, Line, Address, Instruction, Columns };
    enum class Kind { function, source, instruction };
    enum Role {
        KindRole = Qt::UserRole,
        LineRole, ///< of the source; 0: unknown
        ShareRole ///< of the samples: 0 to 1, none for an instruction
    };

    using QAbstractTableModel::QAbstractTableModel;
    void setListing(const MadeListing &made, toolchain::Code code);
    /// What is known of the lines' cost; none hides it.
    void setCosts(std::map<int, LineCost> costs);
    bool hasCosts() const { return !costs_.empty(); }
    /// Rows of source are left out.
    void setSourceShown(bool shown);
    int instructions() const { return instructions_; }
    /// Rows that belong to a line, in order.
    QList<int> rowsOf(int line) const;
    /// Those rows, or all, as text with a tab between columns.
    QString text(const QList<int> &rows = {}) const;

    int rowCount(const QModelIndex &parent = {}) const override;
    int columnCount(const QModelIndex &parent = {}) const override;
    QVariant data(const QModelIndex &index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation,
                        int role = Qt::DisplayRole) const override;

  private:
    struct Row {
        Kind kind = Kind::instruction;
        int line = 0;
        QString address, text;
    };
    void lay();
    QString functionText(const toolchain::ListedFunction &function) const;
    QVariant cost(const Row &row, int role) const;

    MadeListing made_;
    toolchain::Code code_ = toolchain::Code::sass;
    std::map<int, LineCost> costs_;
    bool sourceShown_ = true;
    int instructions_ = 0;
    std::vector<Row> rows_;
};

/// Paints the cost as a bar behind its figure.
class CostDelegate : public QStyledItemDelegate {
    Q_OBJECT
  public:
    using QStyledItemDelegate::QStyledItemDelegate;
    void paint(QPainter *painter, const QStyleOptionViewItem &option,
               const QModelIndex &index) const override;
};

} // namespace cuda_agent::widgets
