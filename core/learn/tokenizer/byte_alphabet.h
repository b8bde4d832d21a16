// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace cuda_agent::learn {

/// Byte-level vocabularies spell each byte by one printable character (Hugging Face's "ByteLevel",
/// from GPT-2): '!' to '~', U+00A1 to U+00AC and U+00AE to U+00FF stand for themselves, the 68
/// others, in order, are U+0100 and on, so that a space is written U+0120.

/// The spelling of any bytes, UTF-8.
std::string spelled(std::string_view bytes);

/// The bytes of a spelling; nothing where a character is none of the 256.
std::optional<std::string> unspelled(std::string_view spelling);

} // namespace cuda_agent::learn
