// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/workbench/screenshot.h"

#include "widgets/shell/main_window.h"
#include "widgets/shell/session_view.h"

#include <QApplication>
#include <QElapsedTimer>
#include <QEventLoop>
#include <QPixmap>
#include <QSettings>
#include <QTimer>

#include <cstdio>

namespace cuda_agent::app {

ScreenshotSettings::ScreenshotSettings(bool active) {
    if (!active)
        return;
    folder_ = std::make_unique<QTemporaryDir>();
    QSettings::setDefaultFormat(QSettings::IniFormat);
    QSettings::setPath(QSettings::IniFormat, QSettings::UserScope, folder_->path());
}

int takeScreenshot(widgets::MainWindow &window, const QString &file, int turn) {
    const auto spin = [](int milliseconds) {
        QEventLoop loop;
        QTimer::singleShot(milliseconds, &loop, &QEventLoop::quit);
        loop.exec();
    };
    QElapsedTimer waiting;
    waiting.start();
    while (window.current() && window.current()->loading() && waiting.elapsed() < 30'000)
        spin(20);
    if (turn > 0 && window.current())
        window.current()->document().selectTurn(turn);
    if (window.current())
        window.current()->restoreDefaultLayout();
    spin(800); // lazily loaded panes, layouts, plots
    const bool saved = window.grab().save(file);
    window.close();
    if (!saved)
        std::fprintf(
            stderr,
            "cuda-agent-workbench: cannot write %s; is the folder there, and does the name "
            "end in .png?\n",
            qPrintable(file));
    return saved ? 0 : 2;
}

} // namespace cuda_agent::app
