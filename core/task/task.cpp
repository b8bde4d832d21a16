// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/task/task.h"

#include "core/base/names.h"

#include <array>

namespace cuda_agent::task {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t largestTaskFile = 4u << 20;
constexpr std::size_t longestValue = 1000;

struct NumericsName {
    Numerics numerics;
    std::string_view name;
};
constexpr std::array numericsNames{NumericsName{Numerics::standard, "default"},
                                   NumericsName{Numerics::tf32, "tf32"},
                                   NumericsName{Numerics::published, "published"}};

} // namespace

std::string_view nameOf(Numerics numerics) {
    for (const auto &entry : numericsNames)
        if (entry.numerics == numerics)
            return entry.name;
    return "default";
}

Result<Numerics> numericsFromName(std::string_view name) {
    for (const auto &entry : numericsNames)
        if (entry.name == name)
            return entry.numerics;
    return requestError("numerics '{}' is not known; use default, tf32 or published", name);
}

Result<Spec> openSpec(const fs::path &file, const std::vector<std::string> &sets) {
    std::error_code error;
    const auto status = fs::status(file, error);
    if (!fs::exists(status))
        return requestError("there is no task file {}; give a Python file with Model, "
                            "get_inputs() and get_init_inputs()",
                            file.string());
    if (fs::is_directory(status))
        return requestError("{} is a folder; give one Python file in it", file.string());
    if (!fs::is_regular_file(status))
        return requestError("{} is not a regular file; give a Python file", file.string());
    if (file.extension() != ".py")
        return requestError("{} is not a task: its name must end in .py", file.string());
    CUDA_AGENT_TRY(readTextFile(file, largestTaskFile));

    Spec spec;
    spec.file = fs::absolute(file, error).lexically_normal();
    if (error)
        return requestError("cannot find the folder of {}: {}", file.string(), error.message());
    for (const auto &set : sets) {
        const auto equals = set.find('=');
        if (equals == set.npos)
            return requestError("'{}' is not NAME=VALUE; write for example --set batch_size=16",
                                set);
        const auto name = set.substr(0, equals);
        const auto value = set.substr(equals + 1);
        if (!isIdentifier(name))
            return requestError("'{}' in '{}' is not a Python name; write for example "
                                "--set batch_size=16",
                                name, set);
        if (value.find_first_not_of(" \t") == value.npos)
            return requestError("'{}' gives no value; write for example --set {}=16", set, name);
        if (value.size() > longestValue || value.find_first_of("\r\n") != value.npos)
            return requestError("the value of {} must be one line of at most {} characters", name,
                                longestValue);
        spec.overrides[name] = value;
    }
    return spec;
}

} // namespace cuda_agent::task
