// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/policy/transformer/model_protocol.h"

#include <chrono>
#include <functional>

namespace cuda_agent::policy {

/// Where `cuda-agent-learn` is. Errors: machine: it is not there, with what to do.
Result<std::filesystem::path> modelProgram();

struct ModelOptions {
    std::filesystem::path weights;
    std::string device = "auto"; ///< "auto", "cuda" or "cpu"
    int rows = 0;                ///< conversations at once; 0: the program's default
    int threads = 0;             ///< of PyTorch on a CPU; 0: its default
    /// Program and first arguments in place of `cuda-agent-learn serve`; for tests.
    std::vector<std::string> program = {};
    std::chrono::seconds patience{300}; ///< until the model is loaded
};

/// A process that holds a trained language model (`cuda-agent-learn serve`, the one program with
/// LibTorch) and writes the conversations of any number of threads at once. It has the environment
/// of this process and ends with it. Any thread may call any member; conversations may outlive this
/// object, and keep the process.
///
/// While a turn is written its device's lease is shared, so that nobody times anything beside it.
class ModelProcess {
  public:
    /// Hears a turn while it is written, a few times a second, in the chat template's words: called
    /// on the thread that waits in write(), with whole characters. What comes between the last
    /// piece and the turn's end is in the turn alone. An error ends the turn and is its error.
    using Streamed = std::function<Result<void>(const std::string &piece)>;

    /// Starts the program and blocks until the model is loaded. Errors: request (the weights are
    /// unusable), machine (the program or LibTorch is missing, no such device, it died; with the
    /// last lines of what it said), stopped.
    static Result<std::shared_ptr<ModelProcess>> start(const ModelOptions &options,
                                                       const std::stop_token &stop);
    ~ModelProcess();
    ModelProcess(const ModelProcess &) = delete;
    ModelProcess &operator=(const ModelProcess &) = delete;

    const ModelFacts &facts() const;
    /// Of the process; for messages and tests.
    int pid() const;

    /// A conversation, used by one thread at a time; waits for a free row of the model. `streamed`
    /// may be null. Errors: request (the drawing), machine (the process has ended), stopped.
    Result<std::unique_ptr<Conversation>> open(const Drawing &drawing, const std::stop_token &stop,
                                               Streamed streamed = {});

  private:
    class Link;
    class Remote;
    explicit ModelProcess(std::shared_ptr<Link> link) : link_(std::move(link)) {}
    std::shared_ptr<Link> link_;
};

} // namespace cuda_agent::policy
