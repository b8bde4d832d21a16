// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/ncu/csv.h"

#include <algorithm>

namespace cuda_agent::ncu {

std::string_view CsvReader::line() const {
    auto line = rest_.substr(0, rest_.find('\n'));
    if (line.ends_with('\r'))
        line.remove_suffix(1);
    return line;
}

void CsvReader::skipLine() {
    const auto end = rest_.find('\n');
    rest_.remove_prefix(end == rest_.npos ? rest_.size() : end + 1);
    ++line_;
}

Result<std::string> CsvReader::quoted() {
    std::string field;
    rest_.remove_prefix(1);
    for (;;) {
        const auto end = rest_.find('"');
        if (end == rest_.npos)
            return requestError("line {}: a quoted field does not end", recordLine_);
        line_ += static_cast<int>(std::count(rest_.begin(), rest_.begin() + end, '\n'));
        field += rest_.substr(0, end);
        rest_.remove_prefix(end + 1);
        if (!rest_.starts_with('"'))
            break;
        field += '"';
        rest_.remove_prefix(1);
    }
    if (!rest_.empty() && rest_.find_first_of(",\r\n") != 0)
        return requestError("line {}: text behind the end of a quoted field", line_);
    return field;
}

std::string CsvReader::plain() {
    const auto end = std::min(rest_.find_first_of(",\r\n"), rest_.size());
    std::string field(rest_.substr(0, end));
    rest_.remove_prefix(end);
    return field;
}

Result<std::optional<std::vector<std::string>>> CsvReader::next() {
    while (!rest_.empty() && line().empty())
        skipLine();
    if (rest_.empty())
        return std::nullopt;
    recordLine_ = line_;
    std::vector<std::string> fields;
    for (;;) {
        if (rest_.starts_with('"')) {
            CUDA_AGENT_ASSIGN(field, quoted());
            fields.push_back(std::move(field));
        } else {
            fields.push_back(plain());
        }
        if (fields.size() > mostFields)
            return requestError("line {}: more than {} fields", recordLine_, mostFields);
        if (!rest_.starts_with(','))
            break;
        rest_.remove_prefix(1);
    }
    skipLine();
    return fields;
}

} // namespace cuda_agent::ncu
