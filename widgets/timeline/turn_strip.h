// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/session/session_document.h"

#include <QTimer>
#include <QWidget>

#include <vector>

namespace cuda_agent::widgets {

/// The turns of a whole session as one strip, coloured by verdict, with the cursor. Click or drag
/// asks for a place; pointing tells the turn. GUI thread.
class TurnStrip : public QWidget {
    Q_OBJECT
  public:
    /// What a turn came to; later ones are better.
    enum class Outcome { before, none, wrong, correct };
    struct Segment {
        int turn = 0; ///< 0: what comes before the first turn
        std::size_t begin = 0, end = 0;
        Outcome outcome = Outcome::none;
        bool engineer = false;
    };

    explicit TurnStrip(SessionDocument *document, QWidget *parent = nullptr);

    /// Of the events that have been read so far; a long log takes some turns of the event loop.
    const std::vector<Segment> &segments() const { return segments_; }
    bool busy() const { return later_.isActive(); }
    /// Number of events at a place across the strip.
    std::size_t eventAt(double x) const;
    double xOf(std::size_t events) const;
    QString tellAbout(int segment) const;

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

  signals:
    void seekRequested(std::size_t events);

  protected:
    void paintEvent(QPaintEvent *event) override;
    void mousePressEvent(QMouseEvent *event) override;
    void mouseMoveEvent(QMouseEvent *event) override;
    bool event(QEvent *event) override;

  private:
    void readAgain();
    void readMore();
    void tellScreenReader();
    int segmentAt(double x) const;
    QRectF bar() const;

    SessionDocument *document_;
    std::vector<Segment> segments_;
    std::size_t read_ = 0; ///< events that the segments know
    const session::Event *log_ = nullptr;
    QTimer later_;
};

} // namespace cuda_agent::widgets
