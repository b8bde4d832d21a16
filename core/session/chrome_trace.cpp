// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/session/chrome_trace.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

namespace cuda_agent::session {

namespace {

/// Longest text of an argument that is kept.
constexpr std::size_t textLimit = 400;
/// Seconds that a time or a length can have, at most; more is nonsense.
constexpr double longest = 1e9;

// Phases of a verdict as the judge takes them (core/judge); others come behind.
constexpr std::array phaseOrder{"compile",       "start",     "verification", "origin",
                                "hidden shapes", "waiting",   "timing",       "fresh inputs",
                                "baselines",     "knock-out", "end"};

const Json *memberOf(const Json &object, const char *name) {
    if (!object.is_object())
        return nullptr;
    const auto found = object.find(name);
    return found == object.end() ? nullptr : &*found;
}

std::string textOf(const Json &object, const char *name) {
    const auto *member = memberOf(object, name);
    return member && member->is_string() ? member->get<std::string>() : std::string();
}

/// 0 where there is no such number, or none that a time can be.
double numberOf(const Json &object, const char *name) {
    const auto *member = memberOf(object, name);
    const double number = member && member->is_number() ? member->get<double>() : 0;
    return number > 0 && number < longest ? number : 0;
}

std::string cut(std::string text) {
    if (text.size() <= textLimit)
        return text;
    std::size_t end = textLimit;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80)
        --end; // not inside of a character
    return text.substr(0, end) + "...";
}

/// Fields of `from` that say something in a viewer: numbers, truth values and short texts.
Json plainFields(const Json &from, std::initializer_list<const char *> names) {
    Json fields = Json::object();
    for (const char *name : names)
        if (const auto *member = memberOf(from, name); member && !member->is_structured())
            fields[name] = member->is_string() ? Json(cut(member->get<std::string>())) : *member;
    return fields;
}

/// Events of one track, kept properly nested whatever is asked for. Times in seconds.
class Track {
  public:
    Track(Json &events, int process, int thread)
        : events_(events), process_(process), thread_(thread) {}

    struct Open {
        std::string name;
        std::string id;
        double begin = 0;
        Json arguments = Json::object();
    };
    const std::vector<Open> &open() const { return open_; }
    bool used() const { return used_; }

    void begin(double time, std::string name, Json arguments, std::string id = {}) {
        free_ = std::max(free_, time);
        open_.push_back({std::move(name), std::move(id), free_, std::move(arguments)});
    }

    /// Ends the innermost span.
    void end(double time, const Json &more = Json::object()) {
        auto span = std::move(open_.back());
        open_.pop_back();
        span.arguments.update(more);
        emit(std::move(span.name), span.begin, std::max(time, span.begin),
             std::move(span.arguments));
        free_ = std::max({free_, time, span.begin});
    }
    /// Ends spans from the innermost on until `depth` are left, cut off.
    void cutOff(double time, std::size_t depth = 0) {
        while (open_.size() > depth)
            end(time, {{"unfinished", true}});
    }

    /// A span that has ended, later than all before it: what would overlap them is cut.
    std::pair<double, double> add(std::string name, double from, double to, Json arguments) {
        to = std::max(to, free_);
        from = std::clamp(from, free_, to);
        emit(std::move(name), from, to, std::move(arguments));
        free_ = to;
        return {from, to};
    }
    /// A span inside of the one that was added last, after its earlier parts.
    double addInside(std::string name, double from, double seconds, double limit, Json arguments) {
        const double to = std::min(from + seconds, limit);
        emit(std::move(name), from, to, std::move(arguments));
        return to;
    }

    void mark(double time, const std::string &name, Json arguments) {
        used_ = true;
        events_.push_back({{"ph", "i"},
                           {"s", "t"},
                           {"pid", process_},
                           {"tid", thread_},
                           {"ts", microseconds(time)},
                           {"name", name},
                           {"args", std::move(arguments)}});
    }

    /// With the three digits behind the point that a log or a GPU's clock is good for.
    static double microseconds(double seconds) { return std::round(seconds * 1e9) / 1e3; }

  private:
    void emit(std::string name, double from, double to, Json arguments) {
        used_ = true;
        // The end is rounded, not the length, so that neighbours and parents keep their borders.
        const double start = microseconds(from);
        events_.push_back({{"ph", "X"},
                           {"pid", process_},
                           {"tid", thread_},
                           {"ts", start},
                           {"dur", std::round((microseconds(to) - start) * 1e3) / 1e3},
                           {"name", std::move(name)},
                           {"args", std::move(arguments)}});
    }

    Json &events_;
    int process_;
    int thread_;
    std::vector<Open> open_;
    double free_ = 0; ///< nothing may begin before it
    bool used_ = false;
};

/// Draws one session.
class Drawing {
  public:
    Drawing(Json &events, int process, std::string name, double start)
        : events_(events), process_(process), name_(std::move(name)), start_(start) {}

    void draw(const std::vector<Event> &events) {
        for (const auto &event : events) {
            before_ = now_;
            now_ = std::max(now_, std::min(event.time - start_, longest));
            if (event.type != EventType::verdictGiven)
                drawHeldCompile();
            if (isResume(event)) {
                cutOff(before_);
                ended_ = false;
            }
            if (session_.open().empty() && event.type != EventType::sessionEnded)
                beginRun();
            apply(event);
        }
        drawHeldCompile();
        cutOff(now_);
        nameTracks();
    }

  private:
    /// Whether the program was started anew before this event.
    bool isResume(const Event &event) const {
        return ended_ ? event.type != EventType::sessionEnded
                      : event.type == EventType::note &&
                            textOf(event.data, "text").starts_with("resumed after");
    }

    void beginRun() {
        ++runs_;
        session_.begin(now_, runs_ == 1 ? "session" : "resumed session", Json::object());
        session_.begin(now_, "preparation", Json::object());
    }

    void endPreparation() {
        if (session_.open().size() == 2)
            session_.end(now_);
    }

    void cutOff(double time) {
        turns_.cutOff(time);
        session_.cutOff(time);
    }

    void apply(const Event &event) {
        const auto &data = event.data;
        switch (event.type) {
        case EventType::baselinesMeasured:
            endPreparation();
            break;
        case EventType::turnStarted:
            endPreparation();
            turns_.cutOff(before_); // of a turn that is done again
            turns_.begin(now_, fmt::format("turn {}", event.turn), plainFields(data, {"author"}));
            break;
        case EventType::thought:
            turns_.mark(now_, "thought", plainFields(data, {"text"}));
            break;
        case EventType::modelAnswered: {
            auto arguments =
                plainFields(data, {"model", "prompt_tokens", "cached_tokens", "answer_tokens",
                                   "cost", "first_token_seconds", "finish", "attempts"});
            const auto model = textOf(data, "model");
            model_.add(model.empty() ? "answer" : model, now_ - numberOf(data, "seconds"), now_,
                       std::move(arguments));
            break;
        }
        case EventType::action:
            beginCall(data);
            break;
        case EventType::observation:
            endCall(data);
            break;
        case EventType::compiled:
            held_ = Held{now_, data};
            break;
        case EventType::verdictGiven:
            drawVerdict(data);
            break;
        case EventType::turnEnded:
            if (!turns_.open().empty()) {
                turns_.cutOff(now_, 1);
                turns_.end(now_);
            }
            break;
        case EventType::note:
            session_.mark(now_, "note", plainFields(data, {"text"}));
            break;
        case EventType::sessionEnded:
            turns_.cutOff(now_);
            endPreparation();
            if (!session_.open().empty())
                session_.end(now_, plainFields(data, {"reason", "best_turn"}));
            ended_ = true;
            break;
        default:
            break;
        }
    }

    void beginCall(const Json &data) {
        const auto tool = textOf(data, "tool");
        const auto *given = memberOf(data, "arguments");
        auto arguments =
            given ? plainFields(*given, {"file_path", "path", "command", "pattern", "strength"})
                  : Json::object();
        turns_.begin(now_, tool.empty() ? "call" : tool, std::move(arguments), textOf(data, "id"));
    }

    void endCall(const Json &data) {
        const auto id = textOf(data, "id");
        const auto &open = turns_.open();
        std::size_t depth = open.size();
        while (depth > 0 && (id.empty() || open[depth - 1].id != id))
            --depth;
        if (depth == 0)
            return; // an answer to nothing
        const double begin = open[depth - 1].begin;
        turns_.cutOff(now_, depth);
        turns_.end(now_, plainFields(data, {"ok"}));
        if (const auto *more = memberOf(data, "data"))
            if (const auto *profile = memberOf(*more, "profile"))
                drawKernels(*profile, begin);
    }

    struct Held {
        double time = 0;
        Json data;
    };

    void addCompile(const Json &data, double from, double to) {
        auto arguments = plainFields(data, {"ok"});
        const auto *kernels = memberOf(data, "kernels");
        for (const auto &kernel : kernels && kernels->is_array() ? *kernels : Json::array()) {
            auto facts = plainFields(kernel, {"registers", "spill_bytes", "shared_bytes"});
            if (const auto name = textOf(kernel, "name"); !name.empty() && !facts.empty())
                arguments[cut(name)] = std::move(facts);
        }
        compile_.add("compile", from, to, std::move(arguments));
    }

    /// A compile that no verdict followed ended when it was logged.
    void drawHeldCompile() {
        if (!held_)
            return;
        const auto held = std::exchange(held_, {});
        addCompile(held->data, held->time - numberOf(held->data, "seconds"), held->time);
    }

    void drawVerdict(const Json &data) {
        const auto *verdict = memberOf(data, "verdict");
        if (!verdict)
            return;
        auto arguments = plainFields(
            *verdict, {"strength", "correct", "reward", "problem", "fraction_of_limit"});
        const auto *times = memberOf(*verdict, "times");
        const auto *candidate = times ? memberOf(*times, "candidate") : nullptr;
        const double seconds = candidate ? numberOf(*candidate, "seconds") : 0;
        if (seconds > 0)
            arguments["candidate_us"] = Track::microseconds(seconds);
        if (const auto *speedup = memberOf(*verdict, "speedup"))
            arguments["speedup"] = plainFields(*speedup, {"eager", "compile"});
        const auto [from, to] = verify_.add("verdict", now_ - numberOf(*verdict, "seconds"), now_,
                                            std::move(arguments));
        if (held_) { // the judge compiles first
            const auto held = std::exchange(held_, {});
            addCompile(held->data, from, std::min(from + numberOf(held->data, "seconds"), to));
        }
        if (const auto *phases = memberOf(*verdict, "phases"); phases && phases->is_object())
            drawPhases(*phases, from, to);
        if (seconds > 0)
            events_.push_back({{"ph", "C"},
                               {"pid", process_},
                               {"ts", Track::microseconds(now_)},
                               {"name", "candidate, us"},
                               {"args", {{"candidate", Track::microseconds(seconds)}}}});
    }

    void drawPhases(const Json &phases, double from, double to) {
        std::vector<std::string> names(phaseOrder.begin(), phaseOrder.end());
        for (const auto &[name, seconds] : phases.items())
            if (std::find(names.begin(), names.end(), name) == names.end())
                names.push_back(name);
        for (const auto &name : names)
            if (const double seconds = numberOf(phases, name.c_str()); seconds > 0)
                from = verify_.addInside(name, from, seconds, to, Json::object());
    }

    /// The launches of one call, the last of which ends with the tool call that profiled it.
    void drawKernels(const Json &profile, double begin) {
        const auto *launches = memberOf(profile, "launches");
        if (!launches || !launches->is_array())
            return;
        double seconds = 0;
        for (const auto &launch : *launches)
            seconds += numberOf(launch, "gap_before") + numberOf(launch, "seconds");
        double at = std::max(now_ - seconds, begin);
        for (const auto &launch : *launches) {
            at += numberOf(launch, "gap_before");
            const double end = std::min(at + numberOf(launch, "seconds"), now_);
            const auto name = textOf(launch, "name");
            const auto span = kernels_.add(
                name.empty() ? "launch" : cut(name), at, end,
                plainFields(launch, {"kind", "label", "registers", "achieved_occupancy"}));
            at = span.second;
        }
    }

    void nameTracks() {
        const auto name = [&](const char *what, int thread, Json arguments) {
            Json event{
                {"ph", "M"}, {"pid", process_}, {"name", what}, {"args", std::move(arguments)}};
            if (thread > 0)
                event["tid"] = thread;
            events_.push_back(std::move(event));
        };
        name("process_name", 0, {{"name", name_}});
        name("process_sort_index", 0, {{"sort_index", process_}});
        const std::pair<const Track *, const char *> tracks[] = {
            {&session_, "session"}, {&turns_, "turns and tools"},  {&model_, "language model"},
            {&compile_, "compile"}, {&verify_, "verify and time"}, {&kernels_, "kernels"}};
        int thread = 0;
        for (const auto &[track, title] : tracks) {
            ++thread;
            if (!track->used())
                continue;
            name("thread_name", thread, {{"name", title}});
            name("thread_sort_index", thread, {{"sort_index", thread}});
        }
    }

    Json &events_;
    int process_;
    std::string name_;
    double start_;      ///< of the time axis, seconds since the epoch
    double now_ = 0;    ///< of the event that is drawn
    double before_ = 0; ///< of the one before
    int runs_ = 0;
    bool ended_ = false;
    std::optional<Held> held_; ///< a compile that a verdict may follow
    Track session_{events_, process_, 1};
    Track turns_{events_, process_, 2};
    Track model_{events_, process_, 3};
    Track compile_{events_, process_, 4};
    Track verify_{events_, process_, 5};
    Track kernels_{events_, process_, 6};
};

} // namespace

Json chromeTrace(std::span<const TraceSession> sessions) {
    double start = std::numeric_limits<double>::infinity();
    for (const auto &session : sessions)
        if (!session.events.empty())
            start = std::min(start, session.events.front().time);
    if (!std::isfinite(start))
        start = 0;
    Json events = Json::array();
    int process = 0;
    for (const auto &session : sessions)
        Drawing(events, ++process, session.name, start).draw(session.events);
    Json data{{"start_seconds_since_epoch", start}};
    if (!sessions.empty() && !sessions.front().events.empty()) {
        const auto &first = sessions.front().events.front().data;
        data.update(plainFields(first, {"numerics", "policy", "program_version"}));
        if (const auto *device = memberOf(first, "device"))
            data["device"] = textOf(*device, "name");
    }
    return {{"traceEvents", std::move(events)},
            {"displayTimeUnit", "ms"},
            {"otherData", std::move(data)}};
}

} // namespace cuda_agent::session
