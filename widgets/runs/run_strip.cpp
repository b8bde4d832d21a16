// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/runs/run_strip.h"

#include "widgets/base/theme.h"

#include <QAction>
#include <QHBoxLayout>
#include <QLabel>
#include <QProgressBar>
#include <QToolButton>

#include <cmath>

namespace cuda_agent::widgets {

RunStrip::RunStrip(const QList<QAction *> &actions, QWidget *parent)
    : QFrame(parent), name_(new QLabel(this)), state_(new QLabel(this)), detail_(new QLabel(this)),
      error_(new QLabel(this)), bar_(new QProgressBar(this)) {
    setObjectName(QStringLiteral("runStrip"));
    setFrameShape(QFrame::StyledPanel);
    for (QLabel *label : {name_, state_, detail_, error_})
        label->setTextFormat(Qt::PlainText);
    name_->setTextFormat(Qt::RichText);
    state_->setObjectName(QStringLiteral("runStrip.state"));
    detail_->setObjectName(QStringLiteral("runStrip.detail"));
    error_->setObjectName(QStringLiteral("runStrip.error"));
    detail_->setWordWrap(true); // room for the buttons comes first
    error_->setWordWrap(true);
    error_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    bar_->setRange(0, 1000);
    bar_->setTextVisible(true);
    bar_->setMinimumWidth(80);
    bar_->setMaximumWidth(260);
    bar_->setAccessibleName(tr("Progress of the run"));
    auto *row = new QHBoxLayout;
    row->setSpacing(10);
    row->addWidget(name_);
    row->addWidget(state_);
    row->addWidget(bar_, 1);
    row->addWidget(detail_, 3);
    for (QAction *action : actions) {
        auto *button = new QToolButton(this);
        button->setDefaultAction(action);
        button->setToolButtonStyle(Qt::ToolButtonTextOnly);
        row->addWidget(button);
    }
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(8, 4, 8, 4);
    column->setSpacing(2);
    column->addLayout(row);
    column->addWidget(error_);
    clear();
}

void RunStrip::clear() {
    name_->hide();
    state_->hide();
    bar_->hide();
    error_->hide();
    detail_->setText(tr("Start a training run, or add the folder of one: it is shown and steered "
                        "from here, also on another machine."));
}

void RunStrip::setRun(const QString &name, const QColor &color, const RunProgress &progress) {
    const Colors &colors = Theme::instance().colors();
    name_->setText(QStringLiteral("<span style='color:%1'>■</span> <b>%2</b>")
                       .arg(color.name(), name.toHtmlEscaped()));
    name_->show();
    state_->setText(progress.state);
    state_->setVisible(!progress.state.isEmpty());
    setTextColor(state_, progress.error.isEmpty() ? colors.text : colors.bad);
    setTextColor(error_, colors.bad);
    error_->setText(progress.error);
    error_->setVisible(!progress.error.isEmpty());
    bar_->setVisible(progress.share >= 0);
    if (progress.share >= 0)
        bar_->setValue(static_cast<int>(std::lround(progress.share * 1000)));
    detail_->setText(progress.state.isEmpty()
                         ? tr("Its trainer says nothing of itself; its curves are followed.")
                         : progress.detail);
}

} // namespace cuda_agent::widgets
