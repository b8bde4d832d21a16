// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/diff/diff.h"

#include <QAbstractScrollArea>
#include <QString>

#include <vector>

namespace cuda_agent::widgets {

/// Two texts side by side, aligned by their differences: line numbers, signs and backgrounds for
/// what was added and removed, marks inside changed lines, one scroll position for both. Lines can
/// be selected on one side by mouse and copied. Paints itself; only what is seen costs time.
class DiffArea : public QAbstractScrollArea {
    Q_OBJECT
  public:
    explicit DiffArea(QWidget *parent = nullptr);

    /// Keeps the texts and compares them. The scroll position stays when `keepPlace`.
    void setTexts(const QString &left, const QString &right, bool keepPlace = false);

    int changeCount() const { return static_cast<int>(blocks_.size()); }
    int linesAdded() const { return added_; }
    int linesRemoved() const { return removed_; }
    int rowCount() const { return static_cast<int>(rows_.size()); }
    const std::vector<DiffRow> &rows() const { return rows_; }
    /// The change that was gone to last; -1 before any.
    int currentChange() const { return current_; }
    /// Makes a change the current one and brings it into sight.
    void goToChange(int change);
    /// To the change behind (1) or before (-1) the current one, or else what is in sight; round the
    /// end.
    void step(int direction);
    /// Text of the selected lines, or of the right side of the current change; may be empty.
    QString selectedText() const;

  signals:
    void currentChanged();

  protected:
    void paintEvent(QPaintEvent *event) override;
    void resizeEvent(QResizeEvent *event) override;
    void keyPressEvent(QKeyEvent *event) override;
    void mousePressEvent(QMouseEvent *event) override;
    void mouseMoveEvent(QMouseEvent *event) override;
    void changeEvent(QEvent *event) override;

  private:
    struct Side {
        QString text;
        std::vector<std::u16string_view> lines; ///< into text
    };
    struct Metrics {
        int row = 1;     ///< height
        qreal digit = 1; ///< width of a character
        int gutter = 0;  ///< width of number and sign
        int half = 0;    ///< width of a side, with its gutter
        int ascent = 0;
    };
    Metrics metrics() const;
    void fitScrollBars();
    void retheme();
    void paintSide(QPainter &painter, const Metrics &m, bool right, int first, int last) const;
    void paintText(QPainter &painter, const Metrics &m, const DiffRow &row, bool right,
                   const QRect &area) const;
    void paintStrip(QPainter &painter, const Metrics &m) const;
    int rowAt(int y) const;
    int firstRowOf(int change) const;
    /// As painted: tabs are four columns, very long lines are cut.
    static QString shownText(std::u16string_view line);

    Side sides_[2];
    std::vector<DiffBlock> blocks_;
    std::vector<DiffRow> rows_;
    std::vector<int> firstRow_; ///< of each block
    int longest_ = 0;           ///< columns
    int added_ = 0;
    int removed_ = 0;
    int current_ = -1;

    int selectedSide_ = 1;
    int anchor_ = -1; ///< row where the selection began; -1 for none
    int end_ = -1;    ///< row where it ends
};

} // namespace cuda_agent::widgets
