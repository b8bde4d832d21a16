// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>

namespace cuda_agent::learn {

/// Unicode's normal form C (UAX #15) of `text`; bytes that are no UTF-8 stay as they are and part
/// what is before them from what is behind. Takes n log n time also for text made to be slow. By
/// the tables of Unicode 15, where `tokenizers` 0.23 has those of Unicode 9: it leaves the order of
/// younger marks as it is.
std::string nfc(std::string_view text);

} // namespace cuda_agent::learn
