// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/policy/endpoint/endpoint.h"
#include "tests/source_dir.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdio>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace cuda_agent::policy {

/// The test's chat endpoint as a process, for as long as the object lives.
class ChatServer {
  public:
    explicit ChatServer(const std::string &script = {}) {
        int ends[2];
        EXPECT_EQ(::pipe(ends), 0);
        posix_spawn_file_actions_t actions;
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
        posix_spawn_file_actions_addclose(&actions, ends[0]);
        std::string program = sourceDir() / "tests/core/endpoint/chat_server.py";
        std::string argument = script;
        char python[] = "python3";
        char *arguments[] = {python, program.data(), script.empty() ? nullptr : argument.data(),
                             nullptr};
        EXPECT_EQ(::posix_spawnp(&process_, python, &actions, nullptr, arguments, environ), 0);
        posix_spawn_file_actions_destroy(&actions);
        ::close(ends[1]);
        std::FILE *output = ::fdopen(ends[0], "r");
        EXPECT_EQ(std::fscanf(output, "%d", &port_), 1) << "the server did not start";
        std::fclose(output);
    }
    ChatServer(const ChatServer &) = delete;
    ChatServer &operator=(const ChatServer &) = delete;
    ~ChatServer() { stop(); }

    void stop() {
        if (process_ > 0) {
            ::kill(process_, SIGKILL);
            ::waitpid(process_, nullptr, 0);
        }
        process_ = -1;
    }

    std::string url() const { return fmt::format("http://127.0.0.1:{}/v1", port_); }

    /// A configuration for one of its models, in a hurry.
    EndpointConfig config(const std::string &model) const {
        EndpointConfig config;
        config.baseUrl = url();
        config.model = model;
        config.key = "secret-test-key";
        config.keySource = "$TEST_KEY";
        config.firstDelaySeconds = 0.02;
        config.idleSeconds = 2;
        config.attempts = 3;
        return config;
    }

  private:
    pid_t process_ = -1;
    int port_ = 0;
};

} // namespace cuda_agent::policy
