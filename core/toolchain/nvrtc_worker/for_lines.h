// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string_view>

namespace cuda_agent::toolchain {

/// Calls `use` with each line of the text, without its end.
template <typename Use>
void forLines(std::string_view text, Use use) {
    while (!text.empty()) {
        const auto end = text.find('\n');
        use(text.substr(0, end));
        text.remove_prefix(end == text.npos ? text.size() : end + 1);
    }
}

} // namespace cuda_agent::toolchain
