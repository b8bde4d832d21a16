// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAction>
#include <QWidget>

namespace cuda_agent::widgets {

/// Adds a command to a pane, which owns it: an action that its shortcut reaches while the focus is
/// inside the pane. `name` is the object's, for whoever looks for it.
QAction *addCommand(QWidget *pane, const char *name, const QString &text,
                    const QKeySequence &shortcut = {});

/// The same, and what it does: a member of the pane, or anything that can be called.
template <typename Pane, typename Run>
QAction *addCommand(Pane *pane, const char *name, const QString &text, const QKeySequence &shortcut,
                    Run run) {
    auto *action = addCommand(pane, name, text, shortcut);
    QObject::connect(action, &QAction::triggered, pane, run);
    return action;
}

} // namespace cuda_agent::widgets
