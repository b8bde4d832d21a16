// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

class QLabel;
class QTableView;
class QWidget;

namespace cuda_agent::widgets {

/// A label in the middle of a page that has nothing else: why, and what to do. Plain text.
QLabel *pageLabel(const QString &text, QWidget *parent);

/// Rows that are read and selected, in a dock: no grid, no edits, Tab leaves it.
void prepareTable(QTableView *table);

} // namespace cuda_agent::widgets
