// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/profile/roof_picture.h"

#include <algorithm>
#include <cmath>

namespace cuda_agent::widgets {

namespace {

std::vector<RoofMark> marksOf(const KernelProfile &profile, int index) {
    std::vector<RoofMark> marks;
    for (const SpeedOfLight &roof : profile.launch(index).roofs)
        if (roof.memory && roof.intensity && *roof.intensity > 0 && roof.rate > 0)
            marks.push_back({index, roof.name, *roof.intensity, *roof.intensity * roof.rate});
    std::ranges::stable_sort(marks, {}, &RoofMark::intensity);
    return marks;
}

/// Whether a kind of arithmetic says something about these launches. FP32 always does: it is what
/// every device has.
bool isUsed(const KernelProfile &profile, const std::vector<int> &launches, const Ceiling &of) {
    if (!of.name.contains(QLatin1String("tensor")))
        return true;
    return std::ranges::any_of(launches, [&](int index) {
        const SpeedOfLight *roof = profile.launch(index).roof(of.name);
        return roof && roof->amount > 0;
    });
}

} // namespace

RoofPicture roofPictureOf(const KernelProfile &profile, const std::vector<int> &launches) {
    RoofPicture picture;
    for (const int index : launches) {
        const auto marks = marksOf(profile, index);
        picture.marks.insert(picture.marks.end(), marks.begin(), marks.end());
    }
    if (picture.marks.empty())
        return picture;

    std::vector<Ceiling> ceilings;
    for (const Ceiling &ceiling : profile.ceilings)
        if (ceiling.memory || isUsed(profile, launches, ceiling))
            ceilings.push_back(ceiling);
    double peak = 0, slowest = 0, fastest = 0;
    for (const Ceiling &ceiling : ceilings) {
        for (const Figure &rate : {ceiling.measured, ceiling.datasheet}) {
            if (!rate)
                continue;
            if (!ceiling.memory)
                peak = std::max(peak, *rate);
            else {
                slowest = slowest > 0 ? std::min(slowest, *rate) : *rate;
                fastest = std::max(fastest, *rate);
            }
        }
        if (ceiling.memory)
            picture.levels += ceiling.name;
    }
    double from = picture.marks.front().intensity, to = from;
    for (const RoofMark &mark : picture.marks) {
        from = std::min(from, mark.intensity);
        to = std::max(to, mark.intensity);
        if (!picture.levels.contains(mark.level))
            picture.levels += mark.level;
    }
    // Enough to either side of the ridges for names along the lines.
    if (peak > 0 && fastest > 0) {
        from = std::min(from, peak / fastest / 8);
        to = std::max(to, peak / slowest);
    }
    from /= 4;
    to *= 6;
    const auto highest = [&](bool measured) {
        double rate = 0;
        for (const Ceiling &ceiling : ceilings)
            if (const Figure &own = measured ? ceiling.measured : ceiling.datasheet;
                !ceiling.memory && own)
                rate = std::max(rate, *own);
        return rate > 0 ? rate : peak;
    };
    for (const bool measured : {false, true}) { // what was measured lies on top
        const double top = highest(measured);
        for (const Ceiling &ceiling : ceilings) {
            const Figure &rate = measured ? ceiling.measured : ceiling.datasheet;
            if (!rate)
                continue;
            RoofCurve curve{ceiling.name, ceiling.memory, measured, *rate, {}, {}};
            if (ceiling.memory) {
                const double end = top > 0 ? std::min(to, std::max(top / *rate, from * 2)) : to;
                curve.x = {from, end};
                curve.y = {from * *rate, end * *rate};
            } else {
                curve.x = {fastest > 0 ? std::max(from, std::min(*rate / fastest, to / 2)) : from,
                           to};
                curve.y = {*rate, *rate};
            }
            picture.curves.push_back(std::move(curve));
        }
    }
    return picture;
}

} // namespace cuda_agent::widgets
