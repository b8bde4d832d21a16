// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QIcon>

namespace cuda_agent::widgets {

/// What the buttons of a replay show. Drawn here: fonts lack them, and icon themes do not follow
/// the colours of the window.
enum class Symbol { start, previousTurn, previous, play, pause, next, nextTurn, end };

/// In the theme's colours of now, at once and twice the size.
QIcon symbolIcon(Symbol symbol);

} // namespace cuda_agent::widgets
