// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/reference/worker.h"

#include "core/base/elapsed.h"
#include "core/base/plain_text.h"
#include "core/device/lease.h"
#include "core/device/quarantine.h"
#include "core/reference/launch.h"
#include "core/reference/received.h"

#include <array>

namespace cuda_agent::reference {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds quitTimeout{5'000};
constexpr milliseconds forgetTimeout{10'000};
/// Python, its libraries and a cold disk; no task code runs before the answer.
constexpr milliseconds helloTimeout{180'000};
/// Nor before this one.
constexpr milliseconds openTimeout{60'000};
constexpr std::size_t longestMessage = 2'000;
constexpr int mostSamples = 100'000;

struct BaselineName {
    Baseline baseline;
    std::string_view name;
    bool compiled;
};
constexpr std::array baselineNames{
    BaselineName{Baseline::eager, "eager", false},
    BaselineName{Baseline::compile, "compile", true},
    BaselineName{Baseline::eagerTf32, "eager_tf32", false},
    BaselineName{Baseline::compileTf32, "compile_tf32", true},
    BaselineName{Baseline::compileMaxAutotune, "compile_max_autotune", true},
};

const BaselineName &entryOf(Baseline baseline) {
    for (const auto &entry : baselineNames)
        if (entry.baseline == baseline)
            return entry;
    return baselineNames.front();
}

double gigabytes(std::uint64_t bytes) {
    return static_cast<double>(bytes) / 1e9;
}

/// At most `longestMessage` bytes of UTF-8 text, cut between characters.
std::string shortened(std::string text) {
    if (text.size() > longestMessage) {
        auto end = longestMessage;
        while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80)
            --end;
        text.resize(end);
    }
    return text;
}

/// An answer {"error": ...} as an error.
tl::unexpected<Error> errorFrom(const Json &error) {
    const auto text = [&](const char *key) {
        const auto found = error.find(key);
        return found != error.end() && found->is_string() ? found->get<std::string>()
                                                          : std::string();
    };
    auto message = shortened(text("message"));
    if (message.empty())
        message = "the task failed and its worker did not say why";
    const auto kind = text("kind") == "machine" ? ErrorKind::machine : ErrorKind::request;
    return tl::unexpected(Error{kind, std::move(message)});
}

bool flagged(const Json &object, const char *key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_boolean() && found->get<bool>();
}

bool sameTypes(const std::vector<device::TensorView> &tensors, const std::vector<task::Port> &ports,
               bool shapesOnly) {
    if (tensors.size() != ports.size())
        return false;
    for (std::size_t i = 0; i < ports.size(); ++i)
        if (shapesOnly ? tensors[i].type.shape != ports[i].type.shape
                       : tensors[i].type != ports[i].type)
            return false;
    return true;
}

} // namespace

std::string_view nameOf(Baseline baseline) {
    return entryOf(baseline).name;
}

std::uint64_t Inputs::bytes() const {
    std::uint64_t sum = 0;
    for (const auto &entry : memory)
        sum += entry.bytes();
    return sum;
}

struct Worker::State {
    task::Spec spec;
    device::Device &device;
    Options options;
    Launch launch;
    std::optional<sandbox::Process> process;
    std::optional<task::Description> description;
    std::map<Baseline, bool> compiled; ///< in this process
    std::string versions = {};
    int served = 0;        ///< tasks that the process had before
    bool faultless = true; ///< nothing went wrong in the process since it has this task

    Result<void> begin(std::stop_token stop) {
        compiled.clear();
        if (auto idle = options.stock ? options.stock->take() : std::nullopt) {
            process.emplace(std::move(idle->process));
            served = idle->served;
            auto greeted = greet(stop);
            if (greeted || greeted.error().kind != ErrorKind::machine)
                return greeted;
            discard(); // it ended while it waited
        }
        served = 0;
        auto started = sandbox::start(launch.policy, launch.argv);
        if (!started)
            return tl::unexpected(started.error());
        process.emplace(std::move(*started));
        return greet(stop);
    }

    /// Gives a process that has none its task.
    Result<void> greet(const std::stop_token &stop) {
        faultless = true;
        const std::string deviceName(device::nameOf(device.info().kind));
        Json greeting{
            {"request", "hello"}, {"file", launch.taskFile}, {"overrides", spec.overrides}};
        if (launch.taskText)
            greeting["text"] = *launch.taskText;
        CUDA_AGENT_ASSIGN(hello, exchange(greeting, helloTimeout, "starting", stop));
        const auto text = [&](const char *key) {
            const auto found = hello.body.find(key);
            return found != hello.body.end() && found->is_string() ? found->get<std::string>()
                                                                   : std::string("?");
        };
        versions = fmt::format("torch {}, Python {}", text("torch"), text("python"));
        if (served == 0 && device.info().kind == device::Kind::cuda) {
            CUDA_AGENT_ASSIGN(turn, device::OpeningTurn::take(stop));
            (void)turn;
            CUDA_AGENT_TRY(exchange({{"request", "open"}}, openTimeout, "opening the GPU", stop));
        }
        CUDA_AGENT_TRY(exchange({{"request", "load"},
                                 {"device", deviceName},
                                 {"numerics", task::nameOf(options.numerics)}},
                                options.loadTimeout, "loading the task", stop));
        return {};
    }

    /// Sends a request to a worker that is started when there is none, and takes its answer.
    /// `doing` completes "while ...". Errors as the class says.
    Result<Message> ask(const Json &request, milliseconds timeout, std::string_view doing,
                        std::stop_token stop) {
        if (process && !process->running())
            process.reset();
        if (!process)
            CUDA_AGENT_TRY(begin(stop));
        return exchange(request, timeout, doing, stop);
    }

    Result<Message> exchange(const Json &request, milliseconds timeout, std::string_view doing,
                             std::stop_token stop) {
        auto answer = process->channel().send(request).and_then(
            [&]() { return process->channel().receive(timeout, stop); });
        if (!answer)
            return ended(answer.error(), timeout, doing, request.value("request", "") == "hello");
        if (const auto error = answer->body.find("error"); error != answer->body.end()) {
            faultless = false;
            if (!error->is_object())
                return requestError("the task's worker sent a malformed error");
            const auto result = errorFrom(*error);
            if (flagged(*error, "restart"))
                discard();
            return result;
        }
        return answer;
    }

    /// The worker did not answer: ends it and says whose fault it was.
    tl::unexpected<Error> ended(const Error &error, milliseconds timeout, std::string_view doing,
                                bool starting) {
        if (error.kind == ErrorKind::stopped) {
            discard();
            return tl::unexpected(error);
        }
        const bool timedOut = error.message.starts_with("timed out");
        const bool gone = error.message.find("ended") != std::string::npos ||
                          error.message.find("write") != std::string::npos ||
                          error.message.find("read") != std::string::npos;
        const auto record = discard(gone);
        if (starting)
            return machineError("the reference worker did not start ({}): {}", record.summary(),
                                timedOut ? error.message
                                         : lastPlainLine(record.standardError, longestMessage));
        if (timedOut)
            return requestError("{}: no answer within {:.0f} s while {}; the task hangs or is too "
                                "large, use --set to make it smaller",
                                spec.file.filename().string(),
                                static_cast<double>(timeout.count()) / 1000, doing);
        const auto &hit = record.limitsHit;
        if (std::find(hit.begin(), hit.end(), "memory") != hit.end())
            return requestError("{}: the task needs more memory than {:.1f} GB while {}; use "
                                "--set to make it smaller",
                                spec.file.filename().string(),
                                gigabytes(launch.policy.limits.memoryBytes), doing);
        if (!gone)
            return requestError("{}: the task disturbed its worker's channel while {} ({}); a "
                                "task must leave descriptors alone that it did not open",
                                spec.file.filename().string(), doing, error.message);
        return requestError("{}: the task ended its worker, or closed its channel, while {}: "
                            "{}{}",
                            spec.file.filename().string(), doing, record.summary(),
                            record.signal == 9 ? "; perhaps the machine ran out of memory" : "");
    }

    /// Gives the process back to its stock. False: it is not one that can serve again.
    bool giveBack() {
        if (!options.stock || !process || !process->running() || !faultless)
            return false;
        const auto forgot = process->channel().send({{"request", "forget"}}).and_then([&] {
            return process->channel().receive(forgetTimeout, {});
        });
        if (!forgot || forgot->body.contains("error"))
            return false;
        options.stock->give({std::move(*process), served + 1});
        process.reset();
        return true;
    }

    /// `onItsOwn`: it is ending already, so that its own end is what the record shows.
    sandbox::Record discard(bool onItsOwn = false) {
        if (!process)
            return {};
        process->channel().close();
        if (onItsOwn) {
            const auto end = Clock::now() + quitTimeout;
            while (process->running() && Clock::now() < end)
                std::this_thread::sleep_for(milliseconds(5));
        }
        if (process->running())
            process->kill();
        auto record = process->wait();
        process.reset();
        // A driver holds it: nobody else should wait for it too. Without one the machine is slow.
        if (record.stuck && device.info().kind == device::Kind::cuda)
            (void)device::quarantine(device::quarantineName(device.info()),
                                     "the process of a task did not end after SIGKILL");
        return record;
    }

    Result<Inputs> takeInputs(Message &message, const std::optional<task::Description> &wanted) {
        CUDA_AGENT_ASSIGN(received, receiveTensors(message, "inputs", device));
        if (wanted && !sameTypes(received.tensors, wanted->inputs, false))
            return requestError("{}: get_inputs() gives other shapes or element types from call "
                                "to call; a task's inputs must keep theirs",
                                spec.file.filename().string());
        return Inputs{std::move(received.memory), std::move(received.tensors)};
    }

    Result<Parameters> takeParameters(Message &message, const task::Description &wanted) {
        CUDA_AGENT_ASSIGN(received, receiveTensors(message, "parameters", device));
        if (!sameTypes(received.tensors, wanted.parameters, false))
            return requestError("{}: the model's parameters are not those of its description",
                                spec.file.filename().string());
        Parameters parameters;
        parameters.memory = std::move(received.memory);
        for (std::size_t i = 0; i < received.tensors.size(); ++i)
            parameters.tensors[received.names[i]] = std::move(received.tensors[i]);
        return parameters;
    }

    /// The answer to "case" or "reshape", whose tensors must be those of `wanted`.
    Result<Case> takeCase(Message &answer, const std::string &name,
                          const std::optional<task::Description> &wanted) {
        Case result;
        result.name = name;
        if (const auto skipped = answer.body.find("skipped"); skipped != answer.body.end()) {
            if (!skipped->is_string() || skipped->get_ref<const std::string &>().empty())
                return requestError("the task's worker sent a malformed case");
            result.skipped = shortened(skipped->get<std::string>());
            if (flagged(answer.body, "restart"))
                discard();
            return result;
        }
        CUDA_AGENT_ASSIGN(inputs, takeInputs(answer, wanted));
        result.inputs = std::move(inputs);
        CUDA_AGENT_ASSIGN(oracle, receiveTensors(answer, "oracle", device));
        for (const auto &view : oracle.tensors)
            if (!view.type.contiguous() ||
                (view.type.dtype != DType::float64 && view.type.dtype != DType::int64))
                return requestError("the task's worker sent a malformed oracle");
        if (wanted && !sameTypes(oracle.tensors, wanted->outputs, true))
            return requestError("{}: the shapes of forward()'s outputs depend on the inputs' "
                                "values, which is not supported",
                                spec.file.filename().string());
        result.oracleMemory = std::move(oracle.memory);
        result.oracle = std::move(oracle.tensors);
        const auto errors = answer.body.find("errors");
        if (errors == answer.body.end() || !errors->is_array() ||
            errors->size() != result.oracle.size())
            return requestError("the task's worker sent a case without its errors");
        for (const auto &entry : *errors) {
            CUDA_AGENT_ASSIGN(error, receiveError(entry));
            result.errors.push_back(error);
        }
        if (const auto notes = answer.body.find("notes"); notes != answer.body.end())
            for (const auto &note : *notes)
                if (note.is_string())
                    result.notes.push_back(shortened(note.get<std::string>()));
        return result;
    }
};

Worker::Worker(std::unique_ptr<State> state) : state_(std::move(state)) {}

Worker::~Worker() {
    if (state_ && !state_->giveBack())
        state_->discard();
}

Result<std::unique_ptr<Worker>> Worker::start(const task::Spec &spec, device::Device &device,
                                              const Options &options, std::stop_token stop) {
    CUDA_AGENT_ASSIGN(launch, prepareLaunch(spec, device.info(), options));
    auto state =
        std::unique_ptr<State>(new State{spec, device, options, std::move(launch), {}, {}, {}});
    CUDA_AGENT_TRY(state->begin(std::move(stop)));
    return std::unique_ptr<Worker>(new Worker(std::move(state)));
}

const std::string &Worker::versions() const {
    return state_->versions;
}

Result<void> Worker::lookAhead(std::stop_token stop) {
    CUDA_AGENT_TRY(state_->ask({{"request", "look_ahead"}}, state_->options.caseTimeout,
                               "looking at the task", stop));
    return {};
}

Result<void> Worker::run(std::stop_token stop) {
    CUDA_AGENT_TRY(
        state_->ask({{"request", "run"}}, state_->options.caseTimeout, "running the task", stop));
    return {};
}

Result<task::Description> Worker::describe(std::stop_token stop) {
    if (state_->description)
        return *state_->description;
    CUDA_AGENT_ASSIGN(answer, state_->ask({{"request", "describe"}}, state_->options.caseTimeout,
                                          "describing the task", stop));
    CUDA_AGENT_ASSIGN(description,
                      task::descriptionFromJson(answer.body.value("description", Json())));
    if (description.inputs.empty() || description.outputs.empty())
        return requestError("{}: the task has no tensor inputs or no outputs",
                            state_->spec.file.filename().string());
    state_->description = description;
    return description;
}

Result<Worker::Parameters> Worker::parameters(std::stop_token stop) {
    CUDA_AGENT_ASSIGN(description, describe(stop));
    CUDA_AGENT_ASSIGN(answer, state_->ask({{"request", "parameters"}}, state_->options.caseTimeout,
                                          "handing over parameters", stop));
    return state_->takeParameters(answer, description);
}

Result<Inputs> Worker::drawInputs(std::uint64_t seed, std::stop_token stop) {
    CUDA_AGENT_ASSIGN(answer, state_->ask({{"request", "draw"}, {"seed", seed}},
                                          state_->options.caseTimeout, "drawing inputs", stop));
    return state_->takeInputs(answer, state_->description);
}

Result<Case> Worker::makeCase(const CaseRequest &request, std::stop_token stop) {
    CUDA_AGENT_ASSIGN(answer, state_->ask({{"request", "case"},
                                           {"seed", request.seed},
                                           {"scale", request.scale},
                                           {"transform", request.transform},
                                           {"sensitivity", request.sensitivity}},
                                          state_->options.caseTimeout,
                                          fmt::format("making case '{}'", request.name), stop));
    CUDA_AGENT_ASSIGN(result, state_->takeCase(answer, request.name, state_->description));
    if (result.skipped.empty() && request.transform == "whole") {
        CUDA_AGENT_ASSIGN(description, describe(stop));
        CUDA_AGENT_ASSIGN(parameters, state_->takeParameters(answer, description));
        result.parameters = std::move(parameters);
        result.exact = true;
    }
    return std::move(result);
}

Result<ReshapedCase> Worker::makeReshaped(const CaseRequest &request, const std::string &name,
                                          std::int64_t value, std::stop_token stop) {
    ReshapedCase result;
    result.spec = state_->spec;
    result.spec.overrides[name] = std::to_string(value);
    result.change = fmt::format("{} = {}", name, value);
    CUDA_AGENT_ASSIGN(answer, state_->ask({{"request", "reshape"},
                                           {"name", name},
                                           {"value", std::to_string(value)},
                                           {"seed", request.seed},
                                           {"sensitivity", request.sensitivity}},
                                          state_->options.caseTimeout,
                                          fmt::format("making case '{}'", request.name), stop));
    std::optional<task::Description> wanted;
    if (const auto given = answer.body.find("description"); given != answer.body.end()) {
        CUDA_AGENT_ASSIGN(own, describe(stop));
        CUDA_AGENT_ASSIGN(description, task::descriptionFromJson(*given));
        description.parameters = own.parameters;
        wanted = std::move(description);
    } else if (!answer.body.contains("skipped")) {
        return requestError("the task's worker sent a malformed case");
    }
    CUDA_AGENT_ASSIGN(entry, state_->takeCase(answer, request.name, wanted));
    result.entry = std::move(entry);
    if (wanted)
        result.description = std::move(*wanted);
    return result;
}

Result<void> Worker::prepare(Baseline baseline, std::uint64_t seed, std::stop_token stop) {
    const auto &entry = entryOf(baseline);
    if (!entry.compiled || baseline == Baseline::compileMaxAutotune)
        return {};
    CUDA_AGENT_TRY(state_->ask({{"request", "prepare"}, {"baseline", entry.name}, {"seed", seed}},
                               state_->options.compileTimeout,
                               fmt::format("compiling {}", entry.name), stop));
    return {};
}

Result<BaselineSamples> Worker::time(Baseline baseline, std::uint64_t seed, int samples,
                                     double minimumSampleSeconds, std::stop_token stop) {
    if (samples < 1 || samples > mostSamples)
        return requestError("{} samples of a baseline are asked for; take 1 to {}", samples,
                            mostSamples);
    // In a fresh process: the clock below must not count its start.
    CUDA_AGENT_TRY(
        state_->ask({{"request", "ready"}}, state_->options.caseTimeout, "getting ready", stop));
    const auto &entry = entryOf(baseline);
    const bool first = entry.compiled && !state_->compiled[baseline];
    const auto sampling = std::chrono::duration_cast<milliseconds>(
        std::chrono::duration<double>(2 * samples * std::max(0.0, minimumSampleSeconds)));
    const auto timeout =
        sampling + (first ? state_->options.compileTimeout : state_->options.caseTimeout);
    const auto begin = Clock::now();
    CUDA_AGENT_ASSIGN(answer, state_->ask({{"request", "time"},
                                           {"baseline", entry.name},
                                           {"seed", seed},
                                           {"samples", samples},
                                           {"minimum_seconds", minimumSampleSeconds}},
                                          timeout, fmt::format("timing {}", entry.name), stop));
    BaselineSamples result;
    result.hostSeconds = secondsSince(begin);
    state_->compiled[baseline] = true;
    const auto seconds = answer.body.find("seconds");
    if (seconds == answer.body.end() || !seconds->is_array() ||
        seconds->size() != static_cast<std::size_t>(samples))
        return requestError("the task's worker sent no times");
    for (const auto &value : *seconds) {
        if (!value.is_number() || !(value.get<double>() > 0) ||
            value.get<double>() > result.hostSeconds)
            return requestError("{}: the task's worker reports {} of {} s in a request that took "
                                "{:.3f} s; the task must leave clocks alone",
                                state_->spec.file.filename().string(), entry.name, value.dump(),
                                result.hostSeconds);
        result.seconds.push_back(value.get<double>());
    }
    CUDA_AGENT_ASSIGN(compileSeconds, receiveAmount(answer.body, "compile_seconds"));
    result.compileSeconds = compileSeconds;
    return result;
}

Result<std::string> Worker::compiledCode(std::uint64_t seed, std::stop_token stop) {
    CUDA_AGENT_ASSIGN(answer, state_->ask({{"request", "code"}, {"seed", seed}},
                                          state_->options.compileTimeout,
                                          "generating torch.compile's code", stop));
    const auto code = answer.body.find("code");
    if (code == answer.body.end() || !code->is_string())
        return requestError("the task's worker sent no code");
    constexpr std::size_t most = 1u << 20;
    return code->get<std::string>().substr(0, most);
}

Result<void> Worker::release() {
    if (!state_->process || !state_->process->running())
        return {};
    CUDA_AGENT_TRY(
        state_->ask({{"request", "release"}}, state_->options.caseTimeout, "freeing memory", {}));
    return {};
}

sandbox::Record Worker::finish() {
    if (state_->giveBack()) {
        sandbox::Record record;
        record.unenforced = sandbox::probe().unenforced;
        return record;
    }
    if (state_->process && state_->process->running() &&
        state_->process->channel().send({{"request", "quit"}}))
        return state_->discard(true);
    return state_->discard();
}

} // namespace cuda_agent::reference
