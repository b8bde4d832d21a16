// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/base/command.h"

namespace cuda_agent::widgets {

QAction *addCommand(QWidget *pane, const char *name, const QString &text,
                    const QKeySequence &shortcut) {
    auto *action = new QAction(text, pane);
    action->setObjectName(QLatin1String(name));
    action->setShortcut(shortcut);
    action->setShortcutContext(Qt::WidgetWithChildrenShortcut);
    pane->addAction(action);
    return action;
}

} // namespace cuda_agent::widgets
