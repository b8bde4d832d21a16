// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/base/json.h"

#include <cstdint>
#include <string>
#include <vector>

namespace cuda_agent::toolchain {

// What the engine and `cuda-agent-nvrtc` say to each other. The worker greets once with
// {"ready": true, "version": 13000} or {"error": why}; after that it answers each request with one
// answer, which lends the cubin, or for a virtual architecture the PTX, as a memory file when there
// is one. The worker runs hostile text: whatever it answers is checked.

struct CompileRequest {
    std::string name; ///< file name in messages
    std::string text;
    std::vector<std::string> options;
    std::uint64_t memoryBytes = 0; ///< address space of the compiling process
    int seconds = 60;              ///< wall time
};

struct CompileAnswer {
    /// How the compiling process ended: "done", "time", "memory", "crash".
    std::string end;
    int code = 0;        ///< nvrtcResult, when done
    std::string message; ///< its text, or the signal
    std::string log;     ///< the compiler's output, cut at `logLimit`
    std::uint64_t cubinBytes = 0;
};

inline constexpr std::size_t logLimit = 256u << 10;
inline constexpr std::uint64_t cubinLimit = 128ull << 20;

inline Json toJson(const CompileRequest &request) {
    return {{"name", request.name},
            {"text", request.text},
            {"options", request.options},
            {"memory_bytes", request.memoryBytes},
            {"seconds", request.seconds}};
}

inline Json toJson(const CompileAnswer &answer) {
    return {{"end", answer.end},
            {"code", answer.code},
            {"message", answer.message},
            {"log", answer.log},
            {"cubin_bytes", answer.cubinBytes}};
}

inline Result<CompileRequest> compileRequestFromJson(const Json &json) {
    try {
        return CompileRequest{json.at("name"), json.at("text"), json.at("options"),
                              json.at("memory_bytes"), json.at("seconds")};
    } catch (const Json::exception &error) {
        return machineError("not a compile request: {}", error.what());
    }
}

inline Result<CompileAnswer> compileAnswerFromJson(const Json &json) {
    try {
        CompileAnswer answer{json.at("end"), json.at("code"), json.at("message"), json.at("log"),
                             json.at("cubin_bytes")};
        if (answer.log.size() > 2 * logLimit || answer.cubinBytes > cubinLimit)
            return machineError("the compile worker sent an answer that is too large");
        return answer;
    } catch (const Json::exception &error) {
        return machineError("the compile worker sent no proper answer: {}", error.what());
    }
}

} // namespace cuda_agent::toolchain
