// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/linked_candidate.h"

#include "core/base/elapsed.h"
#include "core/base/hash.h"

#include <cmath>
#include <thread>

namespace cuda_agent::plan {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::size_t descriptorsPerMessage = 100; ///< a channel carries 128
constexpr milliseconds bindTimeout{30'000};
constexpr milliseconds quitTimeout{2'000};
constexpr milliseconds diagnosisTimeout{500};
constexpr milliseconds longestTiming{600'000};

} // namespace

std::string tamed(std::string text) {
    if (text.size() > 1000) {
        text.resize(1000);
        text += "...";
    }
    std::replace_if(
        text.begin(), text.end(),
        [](char c) { return static_cast<unsigned char>(c) < ' ' && c != '\n'; }, ' ');
    return text;
}

LinkedCandidate::LinkedCandidate(sandbox::Process process, std::vector<Slot> slots,
                                 Signature signature, LinkOptions options, std::stop_token stop)
    : options_(std::move(options)), process_(std::move(process)), slots_(std::move(slots)),
      signature_(std::move(signature)), stop_(std::move(stop)) {}

tl::unexpected<Error> LinkedCandidate::fail(Error error) {
    failure_ = error;
    if (failure_->kind != ErrorKind::stopped)
        endedWithin(options_.linger);
    process_.kill();
    return tl::unexpected(std::move(error));
}

tl::unexpected<Error> LinkedCandidate::gone(std::string_view doing) {
    endedWithin(diagnosisTimeout); // how it ends by itself says more than that it was killed
    process_.kill();
    record_ = process_.wait();
    if (!record_->problem.empty())
        return fail({ErrorKind::machine,
                     fmt::format("the {} did not start: {}", options_.what, record_->problem)});
    const std::string how = record_->summary();
    if (record_->signal == 0 && record_->limitsHit.empty() && record_->exitCode != 0 &&
        (doing == "open" || doing == "load"))
        return fail({ErrorKind::machine, fmt::format("the {} did not start ({}): {}", options_.what,
                                                     how, tamed(record_->standardError))});
    return fail({ErrorKind::failed,
                 fmt::format("the candidate's process ended during {}: {}", doing, how)});
}

Result<Json> LinkedCandidate::ask(const Json &body, milliseconds timeout, std::string_view doing,
                                  std::span<const int> fds) {
    if (failure_)
        return tl::unexpected(*failure_);
    // A random number per message: what a kernel put on the channel ahead of time answers nothing.
    const std::uint64_t id = randomSeed();
    Json numbered = body;
    numbered["id"] = id;
    if (!process_.channel().send(numbered, fds))
        return gone(doing);
    auto message = process_.channel().receive(timeout, stop_);
    if (!message) {
        if (message.error().kind == ErrorKind::stopped)
            return fail(message.error());
        if (message.error().message.starts_with("timed out"))
            return fail({ErrorKind::failed,
                         fmt::format("the candidate did not finish within {:g} s during {}",
                                     std::chrono::duration<double>(timeout).count(), doing)});
        return gone(doing);
    }
    const Json &answer = message->body;
    const auto text = [&](const char *field) {
        return answer[field].is_string() ? tamed(answer[field].get<std::string>())
                                         : std::string("no reason given");
    };
    if (answer.contains("fault"))
        return fail({ErrorKind::failed, text("fault")});
    if (answer.contains("error"))
        return fail({ErrorKind::machine, text("error")});
    if (!answer.contains("ok") || !answer.contains("id") || answer["id"] != id)
        return fail(
            {ErrorKind::failed,
             fmt::format("the candidate's process did not answer as it must during {}", doing)});
    return std::move(message->body);
}

void LinkedCandidate::become(std::vector<Slot> slots, Signature signature, std::stop_token stop) {
    stop_ = std::move(stop);
    slots_ = std::move(slots);
    signature_ = std::move(signature);
    slowestCall_ = 0;
}

std::vector<Slot> slotsOf(const Plan &plan) {
    std::vector<Slot> slots;
    for (const Buffer &buffer : plan.buffers)
        slots.push_back({buffer.name, buffer.role, buffer.index, buffer.key, buffer.order});
    return slots;
}

std::vector<TensorType> outputTypes(const Signature &signature, const std::vector<Slot> &slots) {
    std::vector<TensorType> types;
    for (const TensorType &type : signature.outputs)
        types.push_back(contiguousType(type.dtype, type.shape));
    for (const Slot &slot : slots) {
        const auto index = static_cast<std::size_t>(slot.index);
        if (slot.role == Role::output && index < types.size() && !slot.order.empty())
            types[index] = denseType(types[index].dtype, types[index].shape, slot.order);
    }
    return types;
}

Result<const device::TensorView *> LinkedCandidate::viewOf(const Slot &slot,
                                                           const CallBuffers &buffers) const {
    const device::TensorView *view = nullptr;
    const TensorType *expected = nullptr;
    const auto index = static_cast<std::size_t>(slot.index);
    if (slot.role == Role::input && index < buffers.inputs.size()) {
        view = &buffers.inputs[index];
        expected = &signature_.inputs[index];
    } else if (slot.role == Role::output && index < buffers.outputs.size()) {
        view = &buffers.outputs[index];
        expected = &signature_.outputs[index];
    } else if (slot.role == Role::parameter) {
        if (const auto found = buffers.parameters.find(slot.key);
            found != buffers.parameters.end()) {
            view = &found->second;
            expected = &signature_.parameters.at(slot.key);
        }
    }
    if (view == nullptr || view->memory == nullptr)
        return machineError("no memory was lent for the buffer '{}'", slot.name);
    if (view->type.dtype != expected->dtype || view->type.shape != expected->shape)
        return machineError("the memory lent for '{}' has another type than the plan was made for",
                            slot.name);
    if (view->type.elements() > 0 && view->offset + view->type.spanBytes() > view->memory->bytes())
        return machineError("the memory lent for '{}' is too small", slot.name);
    return view;
}

Result<void> LinkedCandidate::bind(int set, const CallBuffers &buffers) {
    std::vector<const device::Memory *> memories;
    Json views = Json::array();
    for (const auto &slot : slots_) {
        if (slot.role == Role::scratch) {
            views.push_back(nullptr);
            continue;
        }
        CUDA_AGENT_ASSIGN(view, viewOf(slot, buffers));
        auto found = std::find(memories.begin(), memories.end(), view->memory);
        if (found == memories.end())
            found = memories.insert(found, view->memory);
        views.push_back({{"memory", found - memories.begin()},
                         {"offset", view->offset},
                         {"type", toJson(permuted(view->type, slot.order))}});
    }
    for (std::size_t begin = 0; begin < memories.size(); begin += descriptorsPerMessage) {
        const std::size_t end = std::min(begin + descriptorsPerMessage, memories.size());
        std::vector<int> fds;
        Json bytes = Json::array();
        for (std::size_t i = begin; i < end; ++i) {
            fds.push_back(memories[i]->fd());
            bytes.push_back(memories[i]->bytes());
        }
        CUDA_AGENT_TRY(ask({{"op", "lend"}, {"bytes", bytes}}, bindTimeout, "bind", fds));
    }
    CUDA_AGENT_TRY(ask({{"op", "bind"}, {"set", set}, {"views", views}}, bindTimeout, "bind"));
    return {};
}

Result<void> LinkedCandidate::unbind(int set) {
    CUDA_AGENT_TRY(ask({{"op", "unbind"}, {"set", set}}, bindTimeout, "unbind"));
    return {};
}

Result<void> LinkedCandidate::call(int set) {
    const auto begin = Clock::now();
    CUDA_AGENT_TRY(ask({{"op", "call"}, {"set", set}}, options_.callTimeout, "a call"));
    slowestCall_ = std::max(slowestCall_, secondsSince(begin));
    return {};
}

Result<KnockOut> LinkedCandidate::callWithout(int set, int place) {
    constexpr std::size_t mostPlaces = 64;
    CUDA_AGENT_ASSIGN(answer, ask({{"op", "call"}, {"set", set}, {"without", place}},
                                  options_.callTimeout, "a call without its kernels"));
    KnockOut out;
    const auto places = answer.find("places");
    if (places == answer.end() || !places->is_array())
        return out;
    out.possible = true;
    for (const auto &each : *places)
        if (each.is_string() && out.places.size() < mostPlaces)
            out.places.push_back(tamed(each.get<std::string>()));
    return out;
}

/// Only processes that hand results over have something to do.
Result<void> LinkedCandidate::publish(int set) {
    CUDA_AGENT_TRY(ask({{"op", "publish"}, {"set", set}}, bindTimeout, "publish"));
    return {};
}

/// Enough for calls four times as slow as the slowest one seen; without one, for calls at the
/// limit.
milliseconds LinkedCandidate::timeoutOf(const SampleRequest &request) const {
    const double limit = std::chrono::duration<double>(options_.callTimeout).count();
    const double perCall = slowestCall_ > 0 ? std::min(4 * slowestCall_, limit) : limit;
    const double flush = 0.5;
    const double all = limit + perCall * (request.warmup + request.samples) +
                       request.samples * (2 * request.minimumSampleSeconds + flush);
    return std::min(longestTiming, milliseconds(static_cast<std::int64_t>(all * 1000)));
}

Result<std::vector<Sample>> LinkedCandidate::time(const SampleRequest &request) {
    if (request.samples < 1 || request.samples > 100'000 || request.warmup < 0 ||
        request.warmup > 100'000 || request.sets.empty())
        return machineError("cannot take {} samples over {} sets", request.samples,
                            request.sets.size());
    const auto begin = Clock::now();
    CUDA_AGENT_ASSIGN(answer, ask({{"op", "time"},
                                   {"sets", request.sets},
                                   {"warmup", request.warmup},
                                   {"samples", request.samples},
                                   {"minimum_sample_seconds", request.minimumSampleSeconds},
                                   {"flush_cache", request.flushCache}},
                                  timeoutOf(request), "timing"));
    const double elapsed = secondsSince(begin);
    const Error nonsense{ErrorKind::failed,
                         "the candidate's process reported times that cannot be"};
    const auto list = answer.find("samples");
    if (list == answer.end() || !list->is_array() ||
        list->size() != static_cast<std::size_t>(request.samples))
        return fail(nonsense);
    std::vector<Sample> samples;
    double sum = 0;
    for (const auto &each : *list) {
        if (!each.is_object() || !each.contains("seconds") || !each["seconds"].is_number() ||
            !each.contains("calls") || !each["calls"].is_number_integer())
            return fail(nonsense);
        const auto seconds = each["seconds"].get<double>();
        const auto calls = each["calls"].get<std::int64_t>();
        if (!std::isfinite(seconds) || seconds <= 0 || calls < 1 || calls > 100'000)
            return fail(nonsense);
        sum += seconds * static_cast<double>(calls);
        samples.push_back({seconds, static_cast<int>(calls)});
    }
    // The spans lie one after the other within what our own clock saw.
    if (sum > elapsed * 1.01 + 1e-3)
        return fail(nonsense);
    return samples;
}

void LinkedCandidate::endedWithin(milliseconds timeout) {
    const auto begin = Clock::now();
    while (process_.running() && Clock::now() - begin < timeout)
        std::this_thread::sleep_for(milliseconds(2));
}

std::optional<Fault> LinkedCandidate::fault() const {
    if (!failure_ || failure_->kind != ErrorKind::failed)
        return {};
    return Fault{faultKindOf(failure_->message), failure_->message};
}

sandbox::Record LinkedCandidate::finish() {
    return finish(quitTimeout);
}

sandbox::Record LinkedCandidate::finish(milliseconds timeout) {
    if (record_)
        return *record_;
    if (!failure_ && process_.channel().send({{"op", "quit"}})) {
        endedWithin(timeout);
    }
    if (process_.running())
        process_.kill();
    record_ = process_.wait();
    if (!failure_)
        failure_ = Error{ErrorKind::machine, "the candidate's process has been ended"};
    return *record_;
}

} // namespace cuda_agent::plan
