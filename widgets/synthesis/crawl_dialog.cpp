// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/synthesis/crawl_dialog.h"

#include <QComboBox>
#include <QDialogButtonBox>
#include <QHeaderView>
#include <QLineEdit>
#include <QLocale>
#include <QPushButton>
#include <QTableView>
#include <QtConcurrent>

namespace cuda_agent::widgets {

CrawlDialog::CrawlDialog(const QString &file, QWidget *parent)
    : QDialog(parent), model_(new CrawlModel(this)), filtered_(new CrawlFilter(model_, this)),
      text_(new QLineEdit(this)), which_(new QComboBox(this)), table_(new QTableView(this)),
      count_(new QLabel(this)) {
    setObjectName(QStringLiteral("crawlDialog"));
    setAttribute(Qt::WA_DeleteOnClose);
    setWindowTitle(tr("Operators That the Crawl Found"));
    text_->setPlaceholderText(tr("Filter: words in any column"));
    text_->setAccessibleName(tr("Filter operators"));
    text_->setClearButtonEnabled(true);
    which_->setAccessibleName(tr("Kept or dropped"));
    which_->addItem(tr("Kept and dropped"), static_cast<int>(CrawlFilter::Which::all));
    which_->addItem(tr("Kept"), static_cast<int>(CrawlFilter::Which::kept));
    which_->addItem(tr("Dropped"), static_cast<int>(CrawlFilter::Which::dropped));
    table_->setModel(filtered_);
    table_->setAccessibleName(tr("Operators"));
    table_->setSelectionBehavior(QAbstractItemView::SelectRows);
    table_->setEditTriggers(QAbstractItemView::NoEditTriggers);
    table_->setTabKeyNavigation(false);
    table_->setShowGrid(false);
    table_->setAlternatingRowColors(true);
    table_->setWordWrap(false);
    table_->setSortingEnabled(true);
    table_->sortByColumn(CrawlModel::nameColumn, Qt::AscendingOrder);
    table_->verticalHeader()->hide();
    table_->verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
    table_->verticalHeader()->setDefaultSectionSize(fontMetrics().height() + 6);
    table_->horizontalHeader()->setStretchLastSection(true);
    table_->horizontalHeader()->setHighlightSections(false);
    const int letter = fontMetrics().averageCharWidth();
    table_->setColumnWidth(CrawlModel::nameColumn, 34 * letter);
    table_->setColumnWidth(CrawlModel::keptColumn, 11 * letter);
    table_->setColumnWidth(CrawlModel::sourceColumn, 14 * letter);
    table_->setColumnWidth(CrawlModel::familyColumn, 16 * letter);
    count_->setTextFormat(Qt::PlainText);
    count_->setWordWrap(true);
    count_->setText(tr("Reading %1 …").arg(file));
    auto *buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    for (QAbstractButton *button : buttons->buttons())
        static_cast<QPushButton *>(button)->setAutoDefault(false);
    auto *row = new QHBoxLayout;
    row->addWidget(text_, 1);
    row->addWidget(which_);
    auto *column = new QVBoxLayout(this);
    column->addLayout(row);
    column->addWidget(table_, 1);
    column->addWidget(count_);
    column->addWidget(buttons);
    resize(860, 560);
    connect(text_, &QLineEdit::textChanged, filtered_, &CrawlFilter::setText);
    connect(which_, &QComboBox::currentIndexChanged, this, [this] {
        filtered_->setWhich(static_cast<CrawlFilter::Which>(which_->currentData().toInt()));
    });
    for (auto changed : {&QAbstractItemModel::rowsInserted, &QAbstractItemModel::rowsRemoved})
        connect(filtered_, changed, this, &CrawlDialog::updateCount);
    connect(&reading_, &QFutureWatcherBase::finished, this, &CrawlDialog::loaded);
    reading_.setFuture(QtConcurrent::run(&readCrawl, file));
}

CrawlDialog::~CrawlDialog() {
    reading_.waitForFinished();
}

void CrawlDialog::loaded() {
    const auto rows = reading_.result();
    if (!rows) {
        count_->setText(QString::fromStdString(rows.error().message));
        return;
    }
    model_->set(*rows);
    updateCount();
}

void CrawlDialog::updateCount() {
    const QLocale locale;
    count_->setText(tr("%1 shown; of %2 found %3 are kept and %4 dropped")
                        .arg(locale.toString(filtered_->rowCount()),
                             locale.toString(model_->rowCount()), locale.toString(model_->kept()),
                             locale.toString(model_->rowCount() - model_->kept())));
}

} // namespace cuda_agent::widgets
