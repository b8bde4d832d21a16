// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/trace/trace_card.h"

#include "widgets/session/session_document.h"

#include <QAbstractListModel>

#include <optional>
#include <set>

namespace cuda_agent::widgets {

/// The events of a session up to the document's cursor as cards, one row an event. Rows hold only
/// the number of their event; what a card says is made when it is asked for, so that a hundred
/// thousand events are there at once. GUI thread.
class TraceModel : public QAbstractListModel {
    Q_OBJECT
  public:
    enum Role {
        KindRole = Qt::UserRole, ///< CardKind as int
        TurnRole,                ///< int, 0 outside turns
        TextRole,                ///< the whole body
        ChipRole,                ///< QStringList
        FoldedRole,              ///< bool, may be set
        DurationRole,            ///< seconds, absent when nobody says
    };

    explicit TraceModel(SessionDocument *document, QObject *parent = nullptr);

    int rowCount(const QModelIndex &parent = {}) const override;
    QVariant data(const QModelIndex &index, int role) const override;
    bool setData(const QModelIndex &index, const QVariant &value, int role) override;
    Qt::ItemFlags flags(const QModelIndex &index) const override;
    QHash<int, QByteArray> roleNames() const override;

    /// Borrows the event; valid until the model changes.
    Card card(int row) const;
    CardKind kindOf(int row) const;
    int turnOf(int row) const;
    /// Rows [first, second) of the turn's last attempt; empty at -1 when it is not there.
    std::pair<int, int> rowsOfTurn(int turn) const;

    bool folded(int row) const;
    void setFolded(int row, bool folded);
    void setAllFolded(bool folded);

  public slots:
    /// A card after the last one that says what goes on right now; the next event takes it away,
    /// as does an empty text.
    void setPending(const QString &text);

  private:
    /// The head of one attempt at a turn.
    struct Head {
        int row = 0;
        int turn = 0;
        std::size_t event = 0;
        std::optional<std::size_t> verdict;
        std::optional<std::size_t> end;
    };
    void sync();
    void syncPending();
    std::string streamedText() const;
    void showPending(bool shown);
    bool sameLog() const;
    void remember();
    /// Makes rows of the events up to `cursor`.
    void grow(std::size_t cursor);
    void shrink(std::size_t cursor);
    void touch(const Head &head);
    const Head *headAt(int row) const;
    QString toolOf(int row) const;
    const session::Event &event(int row) const {
        return document_->index().events()[rows_[std::size_t(row)]];
    }

    SessionDocument *document_;
    std::vector<std::size_t> rows_; ///< numbers of events, ascending
    std::vector<Head> heads_;
    std::size_t seen_ = 0; ///< events that have been made into rows
    bool allFolded_ = true;
    std::set<std::size_t> otherwise_; ///< events whose card is not as allFolded_ says

    // What tells another log from this one with the cursor elsewhere.
    const session::Event *at_ = nullptr;
    std::size_t size_ = 0;
    session::Event first_, last_; ///< of those seen; the last without its data

    QString pending_;
    std::string streamed_;      ///< of the thought that is being written
    std::size_t pendingAt_ = 0; ///< events in the log when it was said
    bool pendingShown_ = false;
};

} // namespace cuda_agent::widgets
