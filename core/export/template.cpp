// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/export/template.h"

#include "core/base/json.h"
#include "core/base/paths.h"

#include <algorithm>

namespace cuda_agent::exporter {

Result<std::string> sharedFile(const std::filesystem::path &path) {
    auto text = readTextFile(path);
    if (!text)
        return machineError("{}; build or install the program again", text.error().message);
    static const std::string ours = "SPDX-License-Identifier: GPL-3.0-or-later";
    if (const auto at = text->find(ours); at != std::string::npos && at < 200)
        text->replace(at, ours.size(), "SPDX-License-Identifier: BSD-3-Clause");
    return std::move(*text);
}

Result<std::string> filledTemplate(const std::string &name,
                                   const std::map<std::string, std::string> &values) {
    CUDA_AGENT_ASSIGN(text, sharedFile(shareDir() / "export" / name));
    const auto isWord = [](char c) {
        return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    };
    std::string result;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end =
            text[at] == '@'
                ? static_cast<std::size_t>(
                      std::find_if_not(text.begin() + static_cast<std::ptrdiff_t>(at) + 1,
                                       text.end(), isWord) -
                      text.begin())
                : at;
        if (end > at + 1 && end < text.size() && text[end] == '@') {
            const auto found = values.find(text.substr(at + 1, end - at - 1));
            if (found == values.end())
                return machineError("the template {} asks for '{}', which this program does not "
                                    "have; install it again",
                                    name, text.substr(at, end - at + 1));
            result += found->second;
            at = end + 1;
        } else {
            result += text[at++];
        }
    }
    return result;
}

} // namespace cuda_agent::exporter
