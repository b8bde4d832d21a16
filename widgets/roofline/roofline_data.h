// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/session/session_document.h"

#include <vector>

namespace cuda_agent::widgets {

/// A memory between the arithmetic and the main memory.
struct RoofLevel {
    QString name; ///< as the device has it: "L2"
    double bandwidth = 0;
};

/// What the device can do at most; 0 where the log does not say. Bytes and operations a second.
struct RoofCeilings {
    double bandwidth = 0;
    double fp32 = 0;
    double tf32 = 0;
    double half = 0;               ///< products of 16-bit types
    std::vector<RoofLevel> levels; ///< innermost first; none in logs from before they were measured
    /// From the limit of a verdict, not from a measurement in the log (which older logs lack).
    bool derived = false;
};

/// Something that did the whole task once: a turn's candidate or a stock baseline.
struct RoofPoint {
    int turn = 0;     ///< 0 for a baseline
    QString baseline; ///< its name in the log
    double seconds = 0;
    double rate = 0;      ///< operations a second
    double bandwidth = 0; ///< bytes a second
};

struct RooflineData {
    double bytes = 0;      ///< counted: inputs, parameters and outputs once each
    double operations = 0; ///< counted: products and convolutions; 0 when the task has none
    double intensity() const { return bytes > 0 ? operations / bytes : 0; }
    /// Without operations there is no arithmetic intensity: only the bandwidth can be drawn.
    bool onlyBandwidth() const { return !(operations > 0); }
    RoofCeilings ceilings;
    std::vector<RoofPoint> turns; ///< that were timed, ascending
    std::vector<RoofPoint> baselines;
};

/// As of the document's cursor.
RooflineData rooflineOf(const SessionDocument &document);

/// "12.3 GB/s", "1.20 TFLOP/s", "3.4 GFLOP".
QString bandwidthText(double bytesPerSecond);
QString rateText(double operationsPerSecond);
QString operationsText(double operations);

} // namespace cuda_agent::widgets
