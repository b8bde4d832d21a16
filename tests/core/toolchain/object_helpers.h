// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/json.h"
#include "core/sandbox/sandbox.h"
#include "core/toolchain/compiler.h"
#include "tests/source_dir.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

namespace cuda_agent::toolchain::test {

/// A folder that goes with the test program's end.
inline std::filesystem::path temporaryFolder() {
    std::string folder =
        (std::filesystem::temp_directory_path() / "cuda-agent-test-XXXXXX").string();
    if (!mkdtemp(folder.data()))
        std::abort();
    static std::vector<std::string> folders;
    static const int once = std::atexit([] {
        for (const auto &each : folders)
            std::filesystem::remove_all(each);
    });
    (void)once;
    folders.push_back(folder);
    return folder;
}

/// The compiler of module candidates' files, with a cache of its own.
inline Compiler &objectCompiler() {
    static const std::unique_ptr<Compiler> compiler = [] {
        setenv("CUDA_AGENT_CACHE", temporaryFolder().c_str(), 1);
        auto made = makeHostObjectCompiler();
        if (!made) {
            fprintf(stderr, "%s\n", made.error().message.c_str());
            std::abort();
        }
        return std::move(*made);
    }();
    return *compiler;
}

inline Outcome compileObject(const std::string &text,
                             std::map<std::string, std::string> headers = {},
                             const std::string &path = "kernels/test.cu") {
    auto outcome = objectCompiler().compile({path, text, {}, {}, std::move(headers)});
    if (!outcome) {
        ADD_FAILURE() << outcome.error().message;
        return Rejection{{}, {}, outcome.error().message};
    }
    return std::move(*outcome);
}

inline Rejection objectRejection(const std::string &text,
                                 std::map<std::string, std::string> headers = {}) {
    auto outcome = compileObject(text, std::move(headers));
    if (auto *rejection = std::get_if<Rejection>(&outcome))
        return *rejection;
    ADD_FAILURE() << "compiled: " << text;
    return {};
}

/// Compiles `text`, links it with `main` (plain C++ that knows abi.h) and the library, runs the
/// program in the sandbox.
inline sandbox::Record runObject(const std::string &text, const std::string &main,
                                 std::map<std::string, std::string> headers = {}) {
    auto outcome = compileObject(text, std::move(headers));
    if (auto *rejection = std::get_if<Rejection>(&outcome)) {
        ADD_FAILURE() << rejection->summary << "\n" << rejection->log;
        return {};
    }
    const auto object = std::get<Binary>(outcome).file;
    const auto library = hostLibrary();
    if (!library) {
        ADD_FAILURE() << library.error().message;
        return {};
    }
    const auto folder = temporaryFolder();
    std::ofstream(folder / "main.cpp") << "#include \"core/toolchain/host/abi.h\"\n"
                                          "#include <cstdio>\n#include <cmath>\n"
                                          "#include <cstring>\n#include <string>\n"
                                          "#include <vector>\n"
                                       << main;
    sandbox::Policy policy;
    policy.name = "test";
    const std::filesystem::path abi = "core/toolchain/host/abi.h";
    policy.mounts = {{folder, "/program", true},
                     {object, "/object.o"},
                     {sourceDir() / abi, "/include" / abi},
                     {library->parent_path(), "/library"}};
    std::vector<std::string> link = {"/usr/bin/g++",
                                     "-std=c++20",
                                     "-O1",
                                     "-I/include",
                                     "/program/main.cpp",
                                     "/object.o",
                                     "/library/libcuda-agent-host.so",
                                     "-Wl,-rpath,/library",
                                     "-o",
                                     "/program/run"};
    std::ranges::copy(hostLinkOptions(), std::back_inserter(link));
    auto linked = sandbox::run(policy, link);
    if (!linked || !linked->clean()) {
        ADD_FAILURE() << (linked ? linked->standardError : linked.error().message);
        return {};
    }
    auto record = sandbox::run(policy, {"/program/run"});
    if (!record) {
        ADD_FAILURE() << record.error().message;
        return {};
    }
    return *record;
}

} // namespace cuda_agent::toolchain::test
