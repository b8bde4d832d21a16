// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/grammar/content_lines.h"

#include <utility>

namespace cuda_agent::learn {

namespace {

constexpr std::string_view contentEnd = "</parameter>";

} // namespace

ContentLines::At ContentLines::take(char byte, bool (*wanted)(std::string_view path)) {
    if (inside_) {
        if (byte == '\n' && line_ == contentEnd) {
            *this = ContentLines();
            return At::ends;
        }
        if (byte == '\n')
            line_.clear();
        else if (line_.size() <= contentEnd.size())
            line_ += byte;
        return At::inside;
    }
    if (byte != '\n') {
        line_ += byte;
        return At::outside;
    }
    if (before_ == "<parameter=file_path>")
        wanted_ = wanted(line_);
    if (line_ == "<parameter=content>" && wanted_) {
        *this = ContentLines();
        inside_ = true;
        return At::begins;
    }
    before_ = std::exchange(line_, {});
    return At::outside;
}

} // namespace cuda_agent::learn
