// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/synthesis/synthesis_progress.h"

#include "core/base/json.h"
#include "widgets/base/text.h"

#include <algorithm>
#include <cmath>

namespace cuda_agent::widgets {

namespace {

constexpr double window = 30; ///< seconds

double countOf(const Json &object, const char *name) {
    const double value = numberOf(object, name);
    return std::isfinite(value) ? std::clamp(value, 0.0, 1e15) : 0;
}

} // namespace

std::optional<SynthesisProgress> SynthesisProgress::parse(const QByteArray &text) {
    const Json json = Json::parse(text.begin(), text.end(), nullptr, false);
    const QString state = textOf(json, "state");
    SynthesisProgress result;
    if (state == QLatin1String("done"))
        result.state = State::done;
    else if (state == QLatin1String("stopped"))
        result.state = State::stopped;
    else if (state != QLatin1String("running"))
        return {};
    result.stage = textOf(json, "stage").left(80);
    result.wanted = countOf(json, "wanted");
    result.proposed = countOf(json, "proposed");
    result.checked = countOf(json, "checked");
    result.timed = countOf(json, "timed");
    result.compiled = countOf(json, "compiled");
    result.accepted = countOf(json, "accepted");
    result.seconds = countOf(json, "seconds");
    const double left = numberOf(json, "left", -1);
    if (std::isfinite(left) && left >= 0)
        result.left = left;
    const Json &rejected = partOf(json, "rejected");
    if (rejected.is_object())
        for (const auto &[reason, value] : rejected.items())
            if (const double count = countOf(rejected, reason.c_str()); count > 0)
                result.rejected.push_back({QString::fromStdString(reason), count});
    std::stable_sort(result.rejected.begin(), result.rejected.end(),
                     [](const Rejection &a, const Rejection &b) { return a.count > b.count; });
    return result;
}

void SynthesisRates::add(const SynthesisProgress &progress) {
    if (!seen_.empty() && progress.seconds < seen_.back().seconds)
        seen_.clear(); // another run
    if (!seen_.empty() && progress.seconds == seen_.back().seconds)
        return;
    seen_.push_back(progress);
    while (seen_.size() > 2 && progress.seconds - seen_[1].seconds >= window)
        seen_.pop_front();
}

double SynthesisRates::of(double SynthesisProgress::*count) const {
    if (seen_.size() < 2)
        return std::numeric_limits<double>::quiet_NaN();
    const SynthesisProgress &first = seen_.front(), &last = seen_.back();
    return std::max(0.0, (last.*count - first.*count) / (last.seconds - first.seconds));
}

} // namespace cuda_agent::widgets
