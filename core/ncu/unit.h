// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace cuda_agent::ncu {

/// A unit without its prefixes, and by what a value in the prefixed unit is multiplied.
struct Unit {
    std::string name; ///< "byte", "second", "byte/second", "hz", "%", ...
    double factor = 1;
};

/// Nsight Compute scales what it prints (`--print-units auto`): byte, Kbyte, Mbyte, ... by 1000
/// each; nsecond, usecond, msecond, second, or ns, us, ms, s in newer versions; hz, Khz, Mhz, Ghz;
/// and quotients of such ("Gbyte/second", "cycle/nsecond", "Kbyte/block"). Any other unit stays as
/// it is.
Unit baseUnit(std::string_view unit);

/// A number as Nsight Compute prints it: "1,234.5", "-3e-5". None for "n/a", for text, for infinity
/// and NaN, and where commas do not part groups of three digits. Whatever follows a number in
/// brackets, the values of its instances, is left out.
std::optional<double> numberFrom(std::string_view text);

} // namespace cuda_agent::ncu
