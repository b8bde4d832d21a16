// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/trace/card_layout.h"
#include "widgets/trace/height_tree.h"
#include "widgets/trace/trace_finder.h"
#include "widgets/trace/trace_model.h"

#include <QAbstractScrollArea>

#include <map>
#include <unordered_map>

class QPushButton;

namespace cuda_agent::widgets {

/// The cards of a trace below each other, each as high as its text. Only cards in sight are laid
/// out; the others' heights are guessed until they are seen, and the place of the first card in
/// sight is what scrolling keeps, so that better guesses never move what is being read.
///
/// Stays at the end while the reader is there; never moves for a reader who is not. GUI thread.
class TraceView : public QAbstractScrollArea {
    Q_OBJECT
  public:
    TraceView(TraceModel *model, TraceFinder *finder, QWidget *parent = nullptr);

    /// Shown while there are no cards.
    void setEmptyText(const QString &text);
    /// Lines shown of a folded card.
    int foldLines() const { return foldLines_; }
    void setFoldLines(int lines);

    /// The card that the keyboard works on; -1 when none.
    int currentRow() const { return current_; }
    void setCurrentRow(int row);
    /// Turn whose cards are marked.
    void setMarkedTurn(int turn);
    /// Brings a card's top into sight.
    void showRow(int row);
    /// Brings a match into sight, unfolding its card.
    void showMatch(int match);
    void clearMatch();

    bool followsEnd() const { return follow_; }
    /// The last card in sight, wholly.
    bool atEnd() const;
    void toEnd();
    void toggleFold(int row);

    /// Selected text, or nothing.
    QString selectedText() const;

    /// First card in sight and the pixels of it that are above; for tests and restoring.
    std::pair<int, int> topPlace() const { return {top_, topOffset_}; }
    /// Where the card is painted in the viewport; empty when out of sight.
    QRect cardRect(int row) const;
    const CardLayout &layoutOf(int row) const;

  signals:
    void currentRowChanged(int row);
    /// The reader chose a turn here.
    void turnChosen(int turn);
    void jumpRequested();

  protected:
    void paintEvent(QPaintEvent *event) override;
    void resizeEvent(QResizeEvent *event) override;
    void keyPressEvent(QKeyEvent *event) override;
    void mousePressEvent(QMouseEvent *event) override;
    void mouseMoveEvent(QMouseEvent *event) override;
    void mouseReleaseEvent(QMouseEvent *event) override;
    void mouseDoubleClickEvent(QMouseEvent *event) override;
    void focusInEvent(QFocusEvent *event) override;
    void focusOutEvent(QFocusEvent *event) override;
    void scrollContentsBy(int dx, int dy) override;
    void changeEvent(QEvent *event) override;

  private:
    struct Press {
        int row = -1;
        CardLayout::Spot spot = CardLayout::Spot::none;
        int position = 0;
        bool dragged = false;
    };
    struct Selection {
        int row = -1;
        int anchor = 0, place = 0;
        int from() const { return std::min(anchor, place); }
        int to() const { return std::max(anchor, place); }
    };

    int count() const { return model_->rowCount(); }
    int pageHeight() const { return viewport()->height(); }
    int guess(int row) const;
    int measured(int row) const; ///< lays the card out
    void forgetLayouts();
    void restyle();
    void rowsInserted(int first, int last);
    void rowsRemoved(int first);
    void rowsChanged(int first, int last);
    void startOver();

    void settle();     ///< lays out what is in sight and puts the scroll bar right
    void alignToEnd(); ///< the last card ends at the bottom
    void scrollBy(qint64 pixels);
    void goTo(int row, int offset);
    void readerScrolled();
    void updateBar();
    void placeButton();
    int rowAtPoint(const QPoint &at, QPoint *inside = nullptr) const;
    void moveCurrent(int step);
    void ensureVisible(int row);
    void follow(CardLayout::Spot spot, int row);
    void tellScreenReader();

    TraceModel *model_;
    TraceFinder *finder_;
    QPushButton *jump_;
    QString empty_;
    CardStyle style_;
    int foldLines_ = 8;

    mutable HeightTree heights_;
    mutable std::unordered_map<int, std::unique_ptr<CardLayout>> layouts_;
    std::map<int, int> parts_; ///< row -> part shown of a long body
    int top_ = 0, topOffset_ = 0;
    qint64 barValue_ = 0;
    bool settingBar_ = false;
    bool follow_ = true;
    int current_ = -1;
    int markedTurn_ = 0;
    int match_ = -1;
    Press press_;
    Selection selection_;
};

} // namespace cuda_agent::widgets
