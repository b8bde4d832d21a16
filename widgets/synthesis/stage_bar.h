// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/synthesis/synthesis_progress.h"

#include <QWidget>

namespace cuda_agent::widgets {

/// How far a synthesis is: what was proposed, checked, timed, compiled and accepted as bars over
/// each other, and a mark at what is wanted. GUI thread.
class StageBar : public QWidget {
    Q_OBJECT
  public:
    explicit StageBar(QWidget *parent = nullptr);
    void display(const SynthesisProgress &progress);
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;
    static constexpr int stages = 5;
    /// Colour of a stage, 0 proposed to 4 accepted.
    static QColor color(int stage);

  protected:
    void paintEvent(QPaintEvent *event) override;

  private:
    SynthesisProgress progress_;
};

} // namespace cuda_agent::widgets
