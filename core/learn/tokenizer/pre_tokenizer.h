// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <string_view>

namespace cuda_agent::learn {

/// How text falls into words, within which bytes are merged: the regular expression of Qwen2 and
/// Qwen3, as their tokenizer.json has it (in Oniguruma's dialect).
extern const std::string_view wordPattern;

/// Calls `word` with the words of `text`, in order, which together are the whole text: the matches
/// of `wordPattern`, what lies between them, and each run of bytes that are no UTF-8. Safe to call
/// from several threads; linear in time.
void eachWord(std::string_view text, const std::function<void(std::string_view)> &word);

} // namespace cuda_agent::learn
