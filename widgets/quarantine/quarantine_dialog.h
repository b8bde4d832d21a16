// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/device/quarantine.h"

#include <QDialog>
#include <QElapsedTimer>

#include <optional>

class QLabel;
class QProgressBar;
class QPushButton;
class QTreeView;

namespace cuda_agent::widgets {

struct LiftAnswer;
class QuarantineLift;
class QuarantineModel;
class QuarantineWatch;

/// The devices in quarantine with reason and time; tries one, after a question, and lifts its
/// quarantine when it is well. Closing it stops a try under way. GUI thread; the watch outlives it.
class QuarantineDialog : public QDialog {
    Q_OBJECT
  public:
    /// `options`: how devices are probed; none for this program's own way.
    explicit QuarantineDialog(QuarantineWatch *watch,
                              std::optional<device::ProbeOptions> options = {},
                              QWidget *parent = nullptr);

    void select(const QString &device);
    /// Asks first.
    void tryToLift();
    QuarantineLift &lift() { return *lift_; }
    /// How the last try went; empty before.
    QString said() const;

  private:
    void makeParts();
    void start(const QString &device);
    void take(const LiftAnswer &answer);
    void say(const QString &text, bool good);
    void retheme();
    void refresh();
    void showProgress();

    QuarantineWatch *watch_;
    QuarantineLift *lift_;
    QuarantineModel *model_;
    QTreeView *view_ = nullptr;
    QLabel *none_ = nullptr, *said_ = nullptr;
    QProgressBar *progress_ = nullptr;
    QPushButton *try_ = nullptr, *stop_ = nullptr;
    QElapsedTimer trying_;
    bool good_ = false; ///< what was said last
};

} // namespace cuda_agent::widgets
