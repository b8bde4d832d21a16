// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <QTemporaryDir>

#include <memory>

namespace cuda_agent::widgets {
class MainWindow;
}

namespace cuda_agent::app {

/// While it lives, and when `active`, settings are read from and written to a folder that goes away
/// with it.
class ScreenshotSettings {
  public:
    explicit ScreenshotSettings(bool active);

  private:
    std::unique_ptr<QTemporaryDir> folder_;
};

/// Waits until everything asked for is loaded and laid out, saves the window's picture, closes it.
/// `turn` is selected first, when there is one. Returns the exit code.
int takeScreenshot(widgets::MainWindow &window, const QString &file, int turn);

} // namespace cuda_agent::app
