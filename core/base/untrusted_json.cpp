// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/base/untrusted_json.h"

namespace cuda_agent {

std::size_t tooDeepAt(std::string_view text) {
    int depth = 0;
    bool inString = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (inString) {
            if (c == '\\')
                ++i;
            else if (c == '"')
                inString = false;
        } else if (c == '"')
            inString = true;
        else if ((c == '[' || c == '{') && ++depth > deepestJson)
            return i;
        else if (c == ']' || c == '}')
            --depth;
    }
    return text.npos;
}

Json parseUntrusted(std::string_view text) {
    if (tooDeepAt(text) != text.npos)
        return Json(Json::value_t::discarded);
    return Json::parse(text, nullptr, false);
}

} // namespace cuda_agent
