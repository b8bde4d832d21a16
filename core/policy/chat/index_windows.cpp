// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/chat/index_writer.h"
#include "core/policy/planner/resampling.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace cuda_agent::chat {

std::optional<View> IndexWriter::indexed() const {
    const auto of = operand(0);
    if (!of || node_.args.size() < 2 || !node_.args[1].is_array() ||
        node_.args[1].size() > of->type.shape.size())
        return {};
    const auto &list = node_.args[1];
    // Where the indices' own dimensions stand in the result: where the first of them stands if
    // nothing is between them, else in front.
    std::size_t rank = 0;
    std::size_t first = list.size();
    std::size_t last = 0;
    std::size_t count = 0;
    for (std::size_t d = 0; d < list.size(); ++d) {
        if (list[d].is_null())
            continue;
        const auto by = operandOf_(list[d]);
        if (!by || by->type.dtype == DType::boolean)
            return {};
        rank = std::max(rank, by->type.shape.size());
        first = std::min(first, d);
        last = d;
        ++count;
    }
    if (count == 0 || shape_.size() + count != of->type.shape.size() + rank)
        return {};
    const std::size_t at = last - first + 1 == count ? first : 0;
    const Texts indices(letters_.begin() + static_cast<long>(at),
                        letters_.begin() + static_cast<long>(at + rank));
    Texts places;
    std::size_t next = 0;
    for (std::size_t d = 0; d < of->type.shape.size(); ++d) {
        if (d < list.size() && !list[d].is_null()) {
            const auto by = operandOf_(list[d]);
            places.push_back(lookedUp(*by, broadcast(by->type.shape, indices)));
            continue;
        }
        if (next == at)
            next += rank;
        if (next >= letters_.size())
            return {};
        places.push_back(letters_[next++]);
    }
    return View{*of, places};
}

std::optional<View> IndexWriter::selectedBy() const {
    const auto of = operand(0);
    const auto by = operand(2);
    const auto d = dimension(1, shape_.size());
    if (!of || !by || !d || by->type.shape.size() > 1 || of->type.shape.size() != shape_.size())
        return {};
    auto places = letters_;
    places[*d] = lookedUp(*by, by->type.shape.empty() ? Texts() : Texts{letters_[*d]});
    return View{*of, places};
}

std::optional<View> IndexWriter::gathered() const {
    const auto of = operand(0);
    const auto by = operand(2);
    const auto d = dimension(1, shape_.size());
    if (!of || !by || !d || of->type.shape.size() != shape_.size())
        return {};
    auto places = letters_;
    places[*d] = lookedUp(*by, letters_);
    return View{*of, places};
}

std::optional<View> IndexWriter::embedded() const {
    const auto of = operand(0);
    const auto by = operand(1);
    if (!of || !by || shape_.empty() || by->type.shape.size() + 1 != shape_.size())
        return {};
    return View{*of, {lookedUp(*by, lettersWithout(shape_.size() - 1)), letters_.back()}};
}

std::optional<Operand> IndexWriter::resized() const {
    const auto of = operand(0);
    return of && of->type.shape.size() == shape_.size() && shape_.size() > 2 ? of : std::nullopt;
}

double IndexWriter::givenScaleOf(std::size_t d) const {
    // (input, size, scales) or (input, size, scale, scale, ...), with whether corners are aligned
    // behind the size where it is not the nearest element: a scale that is given counts.
    std::vector<double> scales;
    for (std::size_t at = 2; at < node_.args.size(); ++at) {
        const auto &argument = node_.args[at];
        if (argument.is_number())
            scales.push_back(argument.get<double>());
        if (argument.is_array())
            for (const auto &one : argument)
                scales.push_back(one.is_number() ? one.get<double>() : 0);
    }
    return d - 2 < scales.size() ? scales[d - 2] : 0;
}

double IndexWriter::scaleOf(std::size_t d, std::int64_t size) const {
    const double given = givenScaleOf(d);
    return given > 0 ? given : static_cast<double>(shape_[d]) / static_cast<double>(size);
}

std::optional<View> IndexWriter::nearest() const {
    const auto of = resized();
    if (!of)
        return {};
    const bool exact = task::operatorName(node_.op).starts_with("_upsample_nearest_exact");
    View view{*of, letters_};
    for (std::size_t d = 2; d < shape_.size(); ++d) {
        const auto size = of->type.shape[d];
        auto &place = view.places[d];
        const double given = givenScaleOf(d);
        const float scale = policy::resizingScale(size, shape_[d], given);
        if (size == 1) {
            place = "0";
        } else if (const auto number = wholeOf(place)) {
            place = fmt::to_string(policy::nearestInFloat(*number, size, scale, exact));
        } else if (const auto whole = policy::nearestPlaces(size, shape_[d], given, exact)) {
            place = plus(whole->times == 1 ? place : times(place, fmt::to_string(whole->times)),
                         whole->plus);
            if (whole->by != 1)
                place = fmt::format("{} / {}", factor(place), whole->by);
        } else {
            place = times(exact ? fmt::format("({} + 0.5)", factor(place)) : place,
                          fmt::to_string(scale));
            view.whole = false;
        }
    }
    return view;
}

std::optional<View> IndexWriter::between() const {
    const auto of = resized();
    if (!of)
        return {};
    const bool corners = node_.args.size() > 2 && node_.args[2] == true;
    const bool cubic = task::operatorName(node_.op) == "upsample_bicubic2d";
    View view{*of, letters_, cubic ? "cubic between 4 neighbours of " : "between neighbours of "};
    view.whole = false;
    for (std::size_t d = 2; d < shape_.size(); ++d) {
        const auto size = of->type.shape[d];
        auto &place = view.places[d];
        const auto by = [](double step) { return fmt::format("{}", static_cast<float>(step)); };
        if (size == 1 || (corners && shape_[d] == 1))
            place = "0";
        else if (corners)
            place = times(place,
                          by(static_cast<double>(size - 1) / static_cast<double>(shape_[d] - 1)));
        else
            place = fmt::format("({} + 0.5) * {} - 0.5", factor(place), by(1 / scaleOf(d, size)));
        if (!corners && !cubic && place != "0")
            place = fmt::format("clampmin({}, 0)", place);
    }
    return view;
}

std::string IndexWriter::pooled(std::string_view what, std::size_t dilation) const {
    const auto of = operand(0);
    const auto kernel = numbers(1);
    if (!of || kernel.empty() || of->type.shape.size() != shape_.size() ||
        kernel.size() > shape_.size())
        return {};
    const auto among = [&](std::vector<std::int64_t> values, std::int64_t otherwise) {
        values.resize(kernel.size(), values.size() == 1 ? values[0] : otherwise);
        return values;
    };
    auto strides = numbers(2);
    strides = strides.empty() ? kernel : among(strides, 1);
    const auto pads = among(numbers(3), 0);
    const auto steps = among(dilation == 0 ? std::vector<std::int64_t>{} : numbers(dilation), 1);
    return windows(what, *of, kernel, strides, pads, steps);
}

std::string IndexWriter::adaptivelyPooled() const {
    const auto of = operand(0);
    const auto sizes = numbers(1);
    if (!of || of->type.shape.size() != shape_.size() || sizes.size() > shape_.size())
        return {};
    Shape kernel;
    for (std::size_t d = shape_.size() - sizes.size(); d < shape_.size(); ++d) {
        if (shape_[d] == 0 || of->type.shape[d] % shape_[d] != 0)
            return {}; // windows of different sizes
        kernel.push_back(of->type.shape[d] / shape_[d]);
    }
    return windows("mean", *of, kernel, kernel, Shape(kernel.size(), 0), Shape(kernel.size(), 1));
}

std::string IndexWriter::windows(std::string_view what, const Operand &of, const Shape &kernel,
                                 const Shape &strides, const Shape &pads,
                                 const Shape &steps) const {
    auto places = letters_;
    Texts loops;
    for (std::size_t i = 0; i < kernel.size(); ++i) {
        const auto d = shape_.size() - kernel.size() + i;
        std::string along = times(places[d], std::to_string(strides[i]));
        if (kernel[i] != 1) {
            const auto loop = fmt::format("r{}", loops.size());
            loops.push_back(fmt::format("{} < {}", loop, kernel[i]));
            along = sum(along, times(loop, std::to_string(steps[i])));
        }
        places[d] = plus(along, -pads[i]);
    }
    return loops.empty()
               ? read(of, places)
               : fmt::format("{} over {} of {}", what, fmt::join(loops, ", "), read(of, places));
}

std::string IndexWriter::reduced(std::string_view what, std::size_t dimensions) const {
    const auto of = operand(0);
    if (!of || of->type.shape.empty())
        return {};
    const auto rank = static_cast<std::int64_t>(of->type.shape.size());
    std::set<std::int64_t> over;
    for (const auto d : numbers(dimensions)) {
        if (d < -rank || d >= rank)
            return {};
        over.insert(d < 0 ? d + rank : d);
    }
    if (over.empty())
        for (std::int64_t d = 0; d < rank; ++d)
            over.insert(d);
    const auto kept = of->type.shape.size() == shape_.size();
    if (!kept && shape_.size() + over.size() != of->type.shape.size())
        return {};
    Texts places, loops;
    std::size_t next = 0;
    for (std::int64_t d = 0; d < rank; ++d) {
        const auto size = of->type.shape[static_cast<std::size_t>(d)];
        const bool along = over.contains(d);
        if (along && size != 1) {
            places.push_back(fmt::format("r{}", loops.size()));
            loops.push_back(fmt::format("{} < {}", places.back(), size));
        } else {
            places.push_back(along ? "0" : letters_[next]);
        }
        next += kept || !along ? 1 : 0;
    }
    return loops.empty()
               ? ""
               : fmt::format("{} over {} of {}", what, fmt::join(loops, ", "), read(*of, places));
}

} // namespace cuda_agent::chat
