// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

namespace cuda_agent::widgets {

/// A name, a figure, and a thin bar that says how much of a limit is used up.
class Gauge : public QWidget {
    Q_OBJECT
  public:
    explicit Gauge(const QString &name, QWidget *parent = nullptr);

    /// `fraction` of the limit, past 1 too; negative where there is no limit. `details` is the
    /// tool tip.
    void set(const QString &value, double fraction, const QString &details);
    const QString &value() const { return value_; }
    double fraction() const { return fraction_; }

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return sizeHint(); }

  protected:
    void paintEvent(QPaintEvent *event) override;

  private:
    QString name_, value_;
    double fraction_ = -1;
};

} // namespace cuda_agent::widgets
