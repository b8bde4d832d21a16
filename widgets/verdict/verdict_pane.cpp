// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/verdict/verdict_pane.h"

#include "widgets/base/command.h"
#include "widgets/base/text.h"
#include "widgets/base/theme.h"
#include "widgets/verdict/checks_model.h"
#include "widgets/verdict/times_chart.h"
#include "widgets/verdict/verdict_words.h"

#include <QAction>
#include <QApplication>
#include <QBoxLayout>
#include <QClipboard>
#include <QHeaderView>
#include <QLabel>
#include <QScrollArea>
#include <QScrollBar>
#include <QStackedWidget>
#include <QTableView>

namespace cuda_agent::widgets {

namespace {

QLabel *textLabel(const QString &name, QWidget *parent) {
    auto *label = new QLabel(parent);
    label->setAccessibleName(name);
    label->setTextFormat(Qt::PlainText); // the log's words are not markup
    label->setWordWrap(true);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    label->setMinimumWidth(1);
    return label;
}

void setTextOrHide(QLabel *label, const QString &text) {
    label->setText(text);
    label->setVisible(!text.isEmpty());
}

} // namespace

VerdictPane::VerdictPane(SessionDocument *document, QWidget *parent)
    : QWidget(parent), document_(document), checks_(new ChecksModel(this)) {
    setAccessibleName(tr("Verdict"));
    nothing_ = textLabel(tr("No verdict"), this);
    nothing_->setAlignment(Qt::AlignCenter);
    nothing_->setMargin(12);
    nothing_->setMinimumSize(1, 1);

    auto *body = new QWidget;
    auto *column = new QVBoxLayout(body);
    column->setContentsMargins(8, 6, 8, 6);
    column->setSpacing(6);
    headline_ = textLabel(tr("Result"), body);
    circumstances_ = textLabel(tr("How the verdict was reached"), body);
    problem_ = textLabel(tr("What went wrong"), body);
    table_ = new QTableView(body);
    table_->setAccessibleName(tr("Checks"));
    table_->setModel(checks_);
    table_->setSelectionBehavior(QAbstractItemView::SelectRows);
    table_->setEditTriggers(QAbstractItemView::NoEditTriggers);
    table_->setShowGrid(false);
    table_->setWordWrap(true);
    table_->setTextElideMode(Qt::ElideNone);
    table_->setTabKeyNavigation(false);
    table_->setFrameShape(QFrame::NoFrame);
    table_->setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff); // the area around it scrolls
    table_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    table_->verticalHeader()->hide();
    table_->horizontalHeader()->setHighlightSections(false);
    table_->horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    table_->horizontalHeader()->setStretchLastSection(true);
    remarks_ = textLabel(tr("Flags and limits that were not enforced"), body);
    chart_ = new TimesChart(body);
    column->addWidget(headline_);
    column->addWidget(problem_);
    column->addWidget(circumstances_);
    column->addWidget(chart_);
    column->addWidget(table_);
    column->addWidget(remarks_);
    column->addStretch(1);

    area_ = new QScrollArea(this);
    area_->setAccessibleName(tr("Verdict"));
    area_->setWidgetResizable(true);
    area_->setFrameShape(QFrame::NoFrame);
    area_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    area_->setWidget(body);
    pages_ = new QStackedWidget(this);
    pages_->addWidget(nothing_);
    pages_->addWidget(area_);
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(pages_);
    setFocusProxy(table_);

    makeActions();
    connect(document, &SessionDocument::shownTurnChanged, this, [this] {
        dirty_ = true;
        if (isVisible())
            refresh();
    });
    connect(&Theme::instance(), &Theme::changed, this, &VerdictPane::retheme);
    retheme();
    refresh();
}

void VerdictPane::makeActions() {
    copyText_ = addCommand(this, "verdict.copyText", tr("Copy Verdict as Text"), QKeySequence::Copy,
                           [this] {
                               QApplication::clipboard()->setText(
                                   verdictText(document_->shownTurn(), document_->verdict()));
                           });
    copyJson_ = addCommand(this, "verdict.copyJson", tr("Copy Verdict as JSON"), {}, [this] {
        QApplication::clipboard()->setText(QString::fromStdString(
            document_->verdict().dump(2, ' ', false, Json::error_handler_t::replace)));
    });
    exportChart_ = addCommand(this, "verdict.export", tr("Export Times…"), {}, [this] {
        for (QAction *action : chart_->actions())
            if (action->objectName() == QLatin1String("plot.export"))
                action->trigger();
    });
    setContextMenuPolicy(Qt::ActionsContextMenu);
}

void VerdictPane::showEvent(QShowEvent *event) {
    QWidget::showEvent(event);
    if (dirty_)
        refresh();
    fitTable();
}

void VerdictPane::resizeEvent(QResizeEvent *event) {
    QWidget::resizeEvent(event);
    fitTable();
}

void VerdictPane::refresh() {
    dirty_ = false;
    const Json &verdict = document_->verdict();
    const VerdictKind kind = kindOf(verdict);
    const int turn = document_->shownTurn();
    for (QAction *action : {copyText_, copyJson_, exportChart_})
        action->setEnabled(kind != VerdictKind::none);
    if (kind == VerdictKind::none) {
        nothing_->setText(
            turn > 0
                ? tr("Turn %1 has no verdict yet. One comes when the policy verifies its "
                     "candidate, or after Check.")
                      .arg(turn)
                : tr("Whether the candidate is right, each check with its evidence, and its times "
                     "against eager and torch.compile are shown here.\nPress Run, or Check after "
                     "an edit."));
        pages_->setCurrentIndex(0);
        checks_->setVerdict({});
        chart_->setVerdict({});
        return;
    }
    headline_->setText(tr("%1. %2", "Turn 3. Correct, reward 2 ...")
                           .arg(tr("Turn %1").arg(turn), headlineText(verdict)));
    setTextOrHide(circumstances_, circumstancesText(verdict));
    QString problem = evidenceText(partOf(verdict, "failed_check"));
    if (problem.isEmpty())
        problem = textOf(partOf(verdict, "failed_check"), "detail");
    if (problem.isEmpty())
        problem = kind == VerdictKind::notCompiled ? firstDiagnosticText(verdict) : QString();
    if (problem.isEmpty())
        problem = textOf(verdict, "problem");
    if (problem.isEmpty())
        problem = firstDiagnosticText(verdict); // a warning
    setTextOrHide(problem_, problem);
    QStringList lines;
    for (const QString &line : remarks(verdict))
        lines += tr("• %1").arg(line);
    setTextOrHide(remarks_, lines.join(QLatin1Char('\n')));
    checks_->setVerdict(verdict);
    table_->setVisible(checks_->rowCount() > 0);
    chart_->setVerdict(verdict);
    chart_->setVisible(kind != VerdictKind::notCompiled || chart_->barCount() > 0);
    pages_->setCurrentIndex(1);
    retheme();
    fitTable();
}

void VerdictPane::retheme() {
    const Colors &colors = Theme::instance().colors();
    const VerdictKind kind = kindOf(document_->verdict());
    setTextColor(nothing_, colors.muted);
    setTextColor(headline_, kind == VerdictKind::correct ? colors.good : colors.bad);
    QFont big = font();
    big.setBold(true);
    big.setPointSizeF(big.pointSizeF() * 1.15);
    headline_->setFont(big);
    setTextColor(circumstances_, colors.muted);
    setTextColor(problem_, kind == VerdictKind::correct ? colors.warning : colors.bad);
    setTextColor(remarks_, colors.warning);
    table_->viewport()->update();
}

void VerdictPane::fitTable() {
    if (!table_->isVisibleTo(this))
        return;
    table_->resizeColumnToContents(ChecksModel::Result);
    table_->resizeColumnToContents(ChecksModel::Name);
    table_->resizeRowsToContents();
    int height = table_->horizontalHeader()->sizeHint().height() + 2;
    for (int row = 0; row < checks_->rowCount(); ++row)
        height += table_->rowHeight(row);
    table_->setFixedHeight(height);
}

} // namespace cuda_agent::widgets
