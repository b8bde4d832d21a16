// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"

#include <cstdint>
#include <functional>
#include <map>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace cuda_agent::policy {

struct HttpRequest {
    std::string url;
    std::vector<std::pair<std::string, std::string>> headers;
    std::string body;
    double connectSeconds = 15;
    double idleSeconds = 120;         ///< without a byte
    std::size_t mostBytes = 8u << 20; ///< of the answer's body; then the connection is cut
};

/// How an exchange went. With `problem` set the answer is missing or not whole.
struct HttpExchange {
    enum class Problem { none, connect, timeout, cut, tooLarge, badUrl, other };
    Problem problem = Problem::none;
    std::string message;                        ///< of the problem, in words
    int status = 0;                             ///< 0: no answer came
    std::map<std::string, std::string> headers; ///< names in lower case
    std::string body;                           ///< what was not taken by `onData`
};

/// Posts and reads the answer. Bytes of an answer with status 2xx go to `onData` as they come (when
/// it is given and the content type is not HTML), everything else to `body`. HTTP and HTTPS only,
/// certificates are checked, redirects are not followed: a key must not travel on. Blocks.
/// Errors: stopped; machine (libcurl cannot be set up).
Result<HttpExchange> postHttp(const HttpRequest &request,
                              const std::function<void(std::string_view)> &onData,
                              std::stop_token stop);

} // namespace cuda_agent::policy
