// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/trace/body_text.h"
#include "widgets/trace/trace_card.h"

#include <QFont>
#include <QPainter>

#include <memory>

namespace cuda_agent::widgets {

/// Fonts and sizes that all cards share.
struct CardStyle {
    explicit CardStyle(const QFont &font);

    QFont text, bold, small, code;
    int gap = 0;  ///< between things in a card
    int edge = 0; ///< around a card
};

/// A place in a body: bytes [begin, end).
struct BodyRange {
    std::size_t begin = 0;
    std::size_t end = 0;
};

/// One card laid out for a width: everything that painting and clicking need. Long bodies are shown
/// in parts of at most a thousand lines or 64 KB, so that no card takes long to lay out.
class CardLayout {
  public:
    struct Options {
        int width = 0;
        bool folded = true;
        int foldLines = 8; ///< lines shown of a folded body
        int part = 0;      ///< which part of a long body
    };
    CardLayout(const Card &card, const CardStyle &style, const Options &options);

    int height() const { return height_; }
    /// Folding hides something of this card.
    bool foldable() const { return foldable_; }
    int part() const { return part_; }
    /// The part of the body that holds this byte.
    static int partWith(std::string_view body, std::size_t byte);
    /// The first byte that is not laid out any more (folded away, or in a later part).
    std::size_t shownEnd() const { return shownEnd_; }
    std::size_t shownBegin() const { return shownBegin_; }

    enum class Spot { none, title, body, fold, previous, next };
    Spot spotAt(const QPoint &at) const;

    /// Positions count UTF-16 units of the shown part.
    int positionAt(const QPoint &at) const;
    QString text(int from, int to) const;
    std::pair<int, int> wordAt(int position) const;
    int positionOf(std::size_t byte) const;
    /// Top and bottom of the line that shows this byte.
    std::pair<int, int> lineOf(std::size_t byte) const;

    struct Painting {
        bool current = false;      ///< has the keyboard
        bool selectedTurn = false; ///< its turn is the one that all panes show
        bool focus = false;
        std::vector<BodyRange> matches;
        int match = -1;        ///< the match that find stands on
        int selectionFrom = 0; ///< positions
        int selectionTo = 0;
        bool titleMatches = false;
    };
    void paint(QPainter &painter, const QPoint &at, const Painting &how) const;

  private:
    void layOutHead(const Card &card);
    void layOutBody(const Card &card, const Options &options);
    void paintHead(QPainter &painter) const;
    void paintBody(QPainter &painter, const Painting &how) const;

    struct PlacedChip {
        Chip chip;
        QRect rect;
    };

    const CardStyle &style_;
    CardKind kind_;
    bool failed_;
    QString title_, details_, usage_;
    QRect titleRect_, detailsRect_, usageRect_;
    std::vector<PlacedChip> chips_;
    QRect frame_;
    QRect headRect_, bodyRect_;
    QString foldText_, previousText_, nextText_;
    QRect foldRect_, previousRect_, nextRect_;
    BodyText body_;
    std::size_t shownBegin_ = 0, shownEnd_ = 0;
    int part_ = 0;
    int height_ = 0;
    bool foldable_ = false;
};

} // namespace cuda_agent::widgets
