// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

// The process that executes one plan candidate. It runs in a sandbox, gets its orders over
// descriptor 3 (core/plan/README.md lists the messages) and is not trusted by the engine.

#include "core/base/channel.h"
#include "core/plan/runner/backend.h"
#include "core/plan/runner/fault_signal.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

namespace cuda_agent::plan::runner {

namespace {

constexpr int channelFd = 3;

/// The whole file, from its beginning.
Result<std::string> contentsOf(const UniqueFd &file) {
    std::string text;
    char buffer[1 << 16];
    for (;;) {
        const auto got =
            ::pread(file.get(), buffer, sizeof buffer, static_cast<off_t>(text.size()));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return machineError("cannot read a binary: {}", std::strerror(errno));
        if (got == 0)
            return text;
        text.append(buffer, static_cast<std::size_t>(got));
    }
}

class Session {
  public:
    /// The answer to one message.
    Result<Json> answer(Message message) {
        const std::string op = message.body.at("op");
        if (op == "load")
            return load(message);
        if (op == "open") {
            CUDA_AGENT_TRY(open(message.body.at("device")));
            return Json::object();
        }
        if (!backend_)
            return machineError("'{}' came before 'load'", op);
        if (op == "unload") {
            CUDA_AGENT_TRY(backend_->unload());
            return Json::object();
        }
        if (op == "lend")
            return lend(message);
        if (op == "bind")
            return bind(message);
        if (op == "unbind") {
            CUDA_AGENT_TRY(backend_->unbind(message.body.at("set")));
            return Json::object();
        }
        if (op == "call" && message.body.contains("without")) {
            CUDA_AGENT_ASSIGN(
                places, backend_->callWithout(message.body.at("set"), message.body.at("without")));
            return Json{{"places", places}};
        }
        if (op == "call") {
            CUDA_AGENT_TRY(backend_->call(message.body.at("set")));
            return Json::object();
        }
        if (op == "publish") // the steps write to the lent outputs themselves
            return Json::object();
        if (op == "time")
            return time(message.body);
        if (op == "findings")
            return backend_->findings();
        if (op == "profile")
            return profileCalls(*backend_, message.body);
        return machineError("the runner does not know the message '{}'", op);
    }

  private:
    Result<void> open(const std::string &device) {
        if (backend_ && device != device_)
            return machineError("a runner for {} was given a plan for {}", device_, device);
        if (!backend_ && device == "cuda") {
            CUDA_AGENT_ASSIGN(made, makeCudaBackend());
            backend_ = std::move(made);
        } else if (!backend_) {
            backend_ = makeCpuBackend();
        }
        device_ = device;
        return {};
    }

    Result<Json> load(Message &message) {
        CUDA_AGENT_ASSIGN(program, programFromJson(message.body.at("program")));
        // A process that is there already does not see other files.
        for (const auto &fd : message.fds) {
            CUDA_AGENT_ASSIGN(image, contentsOf(fd));
            program.images.push_back(std::move(image));
        }
        CUDA_AGENT_TRY(open(program.device));
        buffers_ = program.buffers.size();
        CUDA_AGENT_TRY(backend_->load(std::move(program)));
        return Json::object();
    }

    Result<Json> lend(Message &message) {
        const Json &sizes = message.body.at("bytes");
        if (sizes.size() != message.fds.size())
            return machineError("{} sizes came with {} descriptors", sizes.size(),
                                message.fds.size());
        for (std::size_t i = 0; i < message.fds.size(); ++i)
            lent_.push_back({std::move(message.fds[i]), sizes[i].get<std::uint64_t>()});
        return Json::object();
    }

    Result<Json> bind(Message &message) {
        std::vector<LentView> views(buffers_);
        const Json &given = message.body.at("views");
        if (given.size() != buffers_)
            return machineError("{} views came for {} buffers", given.size(), buffers_);
        for (std::size_t i = 0; i < buffers_; ++i) {
            if (given[i].is_null())
                continue;
            views[i].memory = given[i].at("memory");
            views[i].offset = given[i].at("offset");
            CUDA_AGENT_ASSIGN(type, tensorTypeFromJson(given[i].at("type"), "a lent view"));
            views[i].type = type;
        }
        CUDA_AGENT_TRY(backend_->bind(message.body.at("set"), std::exchange(lent_, {}), views));
        return Json::object();
    }

    Result<Json> time(const Json &body) {
        TimeRequest request;
        request.sets = body.at("sets").get<std::vector<int>>();
        request.warmup = body.at("warmup");
        request.samples = body.at("samples");
        request.minimumSampleSeconds = body.at("minimum_sample_seconds");
        request.flushCache = body.at("flush_cache");
        CUDA_AGENT_ASSIGN(samples, backend_->time(request));
        Json list = Json::array();
        for (const auto &sample : samples)
            list.push_back({{"seconds", sample.seconds}, {"calls", sample.calls}});
        return Json{{"samples", std::move(list)}};
    }

    std::unique_ptr<Backend> backend_;
    std::string device_;
    std::size_t buffers_ = 0;
    std::vector<LentMemory> lent_;
};

Json reply(Result<Json> answer) {
    if (answer) {
        (*answer)["ok"] = true;
        return std::move(*answer);
    }
    const bool fault = answer.error().kind == ErrorKind::failed;
    return {{fault ? "fault" : "error", answer.error().message}};
}

int serve() {
    Channel channel{UniqueFd(channelFd)};
    installFaultSignals(channelFd);
    Session session;
    for (;;) {
        auto message = channel.receive(std::chrono::milliseconds(0));
        if (!message)
            return 0; // the engine is gone
        if (message->body.value("op", "") == "quit")
            return 0;
        const Json id = message->body.value("id", Json());
        Json answer;
        try {
            answer = reply(session.answer(std::move(*message)));
        } catch (const std::bad_alloc &) {
            answer = {{"error", "the runner is out of memory"}};
        } catch (const std::exception &problem) {
            answer = {{"error", fmt::format("the runner failed: {}", problem.what())}};
        }
        answer["id"] = id;
        // A fault leaves a GPU context unusable and a host process in doubt: nothing goes on.
        const bool fault = answer.contains("fault");
        if (!channel.send(answer) || fault)
            return fault ? 1 : 0;
    }
}

} // namespace

} // namespace cuda_agent::plan::runner

int main() {
    if (std::getenv("CUDA_AGENT_CHANNEL") == nullptr) {
        std::fputs("cuda-agent-runner is started by cuda-agent; it has no use of its own\n",
                   stderr);
        return 2;
    }
    signal(SIGPIPE, SIG_IGN);
    const int code = cuda_agent::plan::runner::serve();
    // No destructors: a candidate's threads may still run in its library.
    std::_Exit(code);
}
