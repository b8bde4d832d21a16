// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/profile/kernel_profile.h"

namespace cuda_agent::widgets {

/// A ceiling as a line of the picture: of a memory from the left edge up to the highest arithmetic,
/// of arithmetic from the fastest memory to the right edge. x is operations a byte, y operations a
/// second; both of two points, ascending.
struct RoofCurve {
    QString name; ///< the ceiling's own
    bool memory = false;
    bool measured = true; ///< else the data sheet's
    double rate = 0;      ///< bytes or operations a second
    std::vector<double> x, y;
};

/// A launch as one memory saw it.
struct RoofMark {
    int launch = -1; ///< -1: the whole call
    QString level;   ///< the memory's name
    double intensity = 0;
    double performance = 0; ///< operations a second, the same at every level
};

/// The hierarchical roofline as numbers, apart from how it is painted.
struct RoofPicture {
    std::vector<RoofCurve> curves;
    std::vector<RoofMark> marks; ///< by launch, of each the intensities ascending

    /// The memories that have a mark or a ceiling, outermost first: a colour and a shape each.
    QStringList levels;
};

/// Of these launches (places in the profile, -1: the whole call). Kinds of arithmetic that none of
/// them uses are left out, as are launches that do no counted arithmetic: they have no intensity.
/// Without a mark there are no curves either.
RoofPicture roofPictureOf(const KernelProfile &profile, const std::vector<int> &launches);

} // namespace cuda_agent::widgets
