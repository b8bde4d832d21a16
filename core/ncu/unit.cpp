// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/ncu/unit.h"

#include "core/base/names.h"

#include <array>
#include <charconv>
#include <cmath>

namespace cuda_agent::ncu {

namespace {

struct Known {
    std::string_view printed;
    std::string_view base;
    double factor;
};

// Nsight Compute's prefixes are decimal for bytes too.
constexpr auto known = std::to_array<Known>({{"Kbyte", "byte", 1e3},
                                             {"Mbyte", "byte", 1e6},
                                             {"Gbyte", "byte", 1e9},
                                             {"Tbyte", "byte", 1e12},
                                             {"Pbyte", "byte", 1e15},
                                             {"nsecond", "second", 1e-9},
                                             {"usecond", "second", 1e-6},
                                             {"msecond", "second", 1e-3},
                                             {"ns", "second", 1e-9},
                                             {"us", "second", 1e-6},
                                             {"ms", "second", 1e-3},
                                             {"s", "second", 1},
                                             {"Khz", "hz", 1e3},
                                             {"Mhz", "hz", 1e6},
                                             {"Ghz", "hz", 1e9},
                                             {"Hz", "hz", 1},
                                             {"KHz", "hz", 1e3},
                                             {"MHz", "hz", 1e6},
                                             {"GHz", "hz", 1e9}});

Unit simple(std::string_view unit) {
    for (const auto &each : known)
        if (each.printed == unit)
            return {std::string(each.base), each.factor};
    return {std::string(unit), 1};
}

/// The digits without the commas between groups of three, or none where commas stand elsewhere.
std::optional<std::string> withoutCommas(std::string_view text) {
    if (text.find(',') == text.npos)
        return std::string(text);
    std::string digits;
    if (text.starts_with('-')) {
        digits += '-';
        text.remove_prefix(1);
    }
    const auto whole = text.substr(0, text.find('.'));
    std::size_t group = 0; // digits since the last comma
    bool first = true;
    for (const char c : whole) {
        if (c == ',') {
            if (group == 0 || group > 3 || (!first && group != 3))
                return std::nullopt;
            first = false;
            group = 0;
        } else if (isDigit(c)) {
            digits += c;
            ++group;
        } else {
            return std::nullopt;
        }
    }
    if (group != 3)
        return std::nullopt;
    return digits + std::string(text.substr(whole.size()));
}

} // namespace

Unit baseUnit(std::string_view unit) {
    const auto slash = unit.find('/');
    if (slash == unit.npos)
        return simple(unit);
    const auto above = simple(unit.substr(0, slash));
    const auto below = simple(unit.substr(slash + 1));
    return {above.name + "/" + below.name, above.factor / below.factor};
}

std::optional<double> numberFrom(std::string_view text) {
    text = text.substr(0, text.find('('));
    while (text.ends_with(' '))
        text.remove_suffix(1);
    while (text.starts_with(' '))
        text.remove_prefix(1);
    const auto digits = withoutCommas(text);
    if (!digits || digits->empty())
        return std::nullopt;
    double value = 0;
    const char *last = digits->data() + digits->size();
    const auto [end, error] = std::from_chars(digits->data(), last, value);
    if (error != std::errc() || end != last || !std::isfinite(value))
        return std::nullopt;
    return value;
}

} // namespace cuda_agent::ncu
