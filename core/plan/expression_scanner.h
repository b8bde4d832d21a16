// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/names.h"

#include <cstddef>
#include <string_view>

namespace cuda_agent::plan {

/// Characters and tokens of size expressions, for what reads them. Borrows the text.
class ExpressionScanner {
  public:
    explicit ExpressionScanner(std::string_view text) : text_(text) {}

  protected:
    void skipSpace() {
        while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t'))
            ++at_;
    }

    /// Steps over the token if it stands here; a word only if it ends here.
    bool accept(std::string_view token) {
        skipSpace();
        if (text_.substr(at_, token.size()) != token)
            return false;
        if (isNameStart(token.front()) && at_ + token.size() < text_.size() &&
            isNamePart(text_[at_ + token.size()]))
            return false;
        at_ += token.size();
        return true;
    }

    std::string_view text_;
    std::size_t at_ = 0;
};

} // namespace cuda_agent::plan
