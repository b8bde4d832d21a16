// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// Pans a plot of POINTS points (1000000) FRAMES times (200), offscreen unless QT_QPA_PLATFORM says
// otherwise, and prints frames a second.
// usage: plot_pan_bench [POINTS [FRAMES]]
#include "widgets/plot/plot.h"

#include <QApplication>
#include <QElapsedTimer>
#include <qcustomplot.h>

#include <cmath>
#include <cstdio>

int main(int argc, char **argv) {
    if (!qEnvironmentVariableIsSet("QT_QPA_PLATFORM"))
        qputenv("QT_QPA_PLATFORM", "offscreen");
    QApplication application(argc, argv);
    const int points = argc > 1 ? std::atoi(argv[1]) : 1'000'000;
    const int frames = argc > 2 ? std::atoi(argv[2]) : 200;
    if (points < 1 || frames < 1) {
        std::fprintf(stderr, "usage: plot_pan_bench [POINTS [FRAMES]]\n");
        return 2;
    }
    cuda_agent::widgets::Series series;
    for (int i = 0; i < points; ++i) {
        series.x.push_back(i);
        series.y.push_back(std::sin(i * 1e-4) + 0.2 * std::sin(i * 1.7));
    }
    cuda_agent::widgets::Plot plot(QStringLiteral("Benchmark"));
    plot.resize(1280, 700);
    plot.setSeries({series});
    plot.show();
    QApplication::processEvents();
    QElapsedTimer timer;
    timer.start();
    for (int i = 0; i < frames; ++i) {
        plot.canvas().xAxis->moveRange(points * (i % 2 == 0 ? 0.01 : -0.0099));
        plot.canvas().replot(QCustomPlot::rpImmediateRefresh);
        QApplication::processEvents();
    }
    std::printf("%d points: %.1f frames/s\n", points,
                frames * 1e3 / static_cast<double>(timer.elapsed()));
    return 0;
}
