// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/session/session_document.h"

#include <QAbstractTableModel>
#include <QSortFilterProxyModel>

#include <cstdint>
#include <vector>

namespace cuda_agent::widgets {

/// One message of the compiler.
struct BuildMessage {
    // No underlying type: lupdate would lose the classes of this file.
    enum Severity { error, warning, note };
    int turn = 0;
    Severity severity = note;
    QString file; ///< in the workspace, or empty
    int line = 0; ///< 1-based; 0 when unknown
    int column = 0;
    QString message;
    /// "kernels/a.cu:3:7: error: expected ';'"
    QString text() const;
};

/// Compiler messages of all turns that have begun before the cursor, oldest first. Grows with the
/// session and starts over when the document does. A compile that says exactly what the one before
/// it in the same turn said adds nothing (Compile and then Verify of the same files).
///
/// Keeps places in the log, not texts. The document outlives the model. GUI thread.
class BuildModel : public QAbstractTableModel {
    Q_OBJECT
  public:
    enum Column { Turn, SeverityColumn, File, Line, ColumnColumn, Message, columns };

    explicit BuildModel(SessionDocument *document, QObject *parent = nullptr);

    BuildMessage::Severity severity(int row) const { return rows_[at(row)].severity; }
    int turn(int row) const { return rows_[at(row)].turn; }
    BuildMessage message(int row) const;
    /// Messages of that severity in one turn, or in all with turn 0.
    int count(BuildMessage::Severity severity, int turn = 0) const;
    /// Row of the first message of a turn, or -1.
    int firstOf(int turn) const;

    int rowCount(const QModelIndex &parent = {}) const override;
    int columnCount(const QModelIndex &parent = {}) const override;
    QVariant data(const QModelIndex &index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

  private:
    struct Row {
        std::uint32_t event;      ///< the compiled event
        std::uint32_t diagnostic; ///< place in its list
        int turn;
        BuildMessage::Severity severity;
    };
    static std::size_t at(int row) { return static_cast<std::size_t>(row); }
    void reset();
    void advance(std::size_t first, std::size_t last);
    void take(std::size_t first, std::size_t last, std::vector<Row> &into);
    const Json &json(const Row &row) const;

    SessionDocument *document_;
    std::vector<Row> rows_;
    int highestTurn_ = 0;          ///< that has begun
    std::size_t lastCompiled_ = 0; ///< the compiled event taken last
    bool anyCompiled_ = false;
};

/// Messages by severity, text and turn.
class BuildFilter : public QSortFilterProxyModel {
    Q_OBJECT
  public:
    explicit BuildFilter(BuildModel *model, QObject *parent = nullptr);

    void setShown(BuildMessage::Severity severity, bool shown);
    bool shown(BuildMessage::Severity severity) const { return shown_[severity]; }
    /// Rows whose file or message contain it, in any case; empty for all.
    void setText(const QString &text);
    /// 0 for all turns.
    void setTurn(int turn);

  protected:
    bool filterAcceptsRow(int row, const QModelIndex &parent) const override;
    bool lessThan(const QModelIndex &left, const QModelIndex &right) const override;

  private:
    BuildModel *model_;
    bool shown_[3] = {true, true, true};
    QString text_;
    int turn_ = 0;
};

/// What the compiler tells of the kernels of one turn: "kernels" of a compiled event. Facts that
/// no kernel has (the CPU device knows no registers) have no column.
class KernelModel : public QAbstractTableModel {
    Q_OBJECT
  public:
    using QAbstractTableModel::QAbstractTableModel;
    void setKernels(const Json &kernels);

    int rowCount(const QModelIndex &parent = {}) const override;
    int columnCount(const QModelIndex &parent = {}) const override;
    QVariant data(const QModelIndex &index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

  private:
    struct Fact {
        const char *name;
        const char *title;
        bool bytes;
    };
    static const std::vector<Fact> &facts();
    struct Kernel {
        QString name;
        std::vector<double> values; ///< by facts(); -1 where unknown
    };
    std::vector<Kernel> kernels_;
    std::vector<std::size_t> shown_; ///< facts with a column
};

} // namespace cuda_agent::widgets
