// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/synthesis/crawl_model.h"

#include <QDialog>
#include <QFutureWatcher>

class QComboBox;
class QLabel;
class QLineEdit;
class QTableView;

namespace cuda_agent::widgets {

/// What the crawl of a synthesis found, kept and dropped, with the reasons. GUI thread; the file is
/// read on another one.
class CrawlDialog : public QDialog {
    Q_OBJECT
  public:
    explicit CrawlDialog(const QString &file, QWidget *parent = nullptr);
    ~CrawlDialog() override;

    const CrawlModel &model() const { return *model_; }
    const CrawlFilter &filtered() const { return *filtered_; }

  private:
    void loaded();
    void updateCount();

    CrawlModel *model_;
    CrawlFilter *filtered_;
    QLineEdit *text_;
    QComboBox *which_;
    QTableView *table_;
    QLabel *count_;
    QFutureWatcher<Result<QVector<CrawledOperator>>> reading_;
};

} // namespace cuda_agent::widgets
