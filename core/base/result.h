// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <fmt/format.h>
#include <tl/expected.hpp>

#include <string>
#include <utility>

namespace cuda_agent {

/// Whose fault an error is; decides the exit code of the command line.
enum class ErrorKind {
    request, ///< the request is unusable: bad file, bad option, bad plan (exit 2)
    machine, ///< the machine or a dependency failed: no GPU, no compiler, out of memory (exit 3)
    stopped, ///< a stop was asked for (exit 130)
    failed,  ///< the asked-for thing does not hold, e.g. the candidate is wrong (exit 1)
};

/// An expected failure. `message` is one sentence that says what happened and what to do.
struct Error {
    ErrorKind kind = ErrorKind::machine;
    std::string message;
};

/// A value or an expected failure. Exceptions are kept for bugs.
template <typename T>
using Result = tl::expected<T, Error>;

/// The exit code that the command line contract gives to `kind`.
constexpr int exitCode(ErrorKind kind) {
    switch (kind) {
    case ErrorKind::failed:
        return 1;
    case ErrorKind::request:
        return 2;
    case ErrorKind::machine:
        return 3;
    case ErrorKind::stopped:
        return 130;
    }
    return 3;
}

template <typename... Args>
tl::unexpected<Error> requestError(fmt::format_string<Args...> format, Args &&...args) {
    return tl::unexpected(
        Error{ErrorKind::request, fmt::format(format, std::forward<Args>(args)...)});
}
template <typename... Args>
tl::unexpected<Error> machineError(fmt::format_string<Args...> format, Args &&...args) {
    return tl::unexpected(
        Error{ErrorKind::machine, fmt::format(format, std::forward<Args>(args)...)});
}
template <typename... Args>
tl::unexpected<Error> failedError(fmt::format_string<Args...> format, Args &&...args) {
    return tl::unexpected(
        Error{ErrorKind::failed, fmt::format(format, std::forward<Args>(args)...)});
}
inline tl::unexpected<Error> stoppedError() {
    return tl::unexpected(Error{ErrorKind::stopped, "stopped by request"});
}

} // namespace cuda_agent

/// Evaluates `expression` (a Result) and returns its error from the calling function, if any.
#define CUDA_AGENT_TRY(expression)                                                                 \
    do {                                                                                           \
        if (auto tryResult_ = (expression); !tryResult_)                                           \
            return tl::unexpected(std::move(tryResult_).error());                                  \
    } while (false)

/// Declares `name` with the value of `expression` (a Result), or returns its error.
#define CUDA_AGENT_ASSIGN(name, expression)                                                        \
    auto name##Result_ = (expression);                                                             \
    if (!name##Result_)                                                                            \
        return tl::unexpected(std::move(name##Result_).error());                                   \
    auto &name = *name##Result_
