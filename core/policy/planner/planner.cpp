// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/planner/transcript.h"
#include "core/policy/policy.h"
#include "core/reward/reward.h"

namespace cuda_agent::policy {

namespace {

/// A gain below this is not worth another candidate.
constexpr double worthwhile = 0.03;

std::string timeText(double seconds) {
    if (seconds >= 1e-3)
        return fmt::format("{:.3f} ms", seconds * 1e3);
    return fmt::format("{:.1f} us", seconds * 1e6);
}

std::string bytesText(double bytes) {
    if (bytes >= 1e9)
        return fmt::format("{:.2f} GB", bytes / 1e9);
    return bytes >= 1e6 ? fmt::format("{:.2f} MB", bytes / 1e6)
                        : fmt::format("{:.1f} kB", bytes / 1e3);
}

class Planner : public Policy {
  public:
    explicit Planner(Context context)
        : context_(std::move(context)),
          space_(SearchSpace::make(context_.task, context_.device, context_.ceilings,
                                   context_.numerics)) {
        if (space_)
            space_->setOrder({context_.preferred, context_.attempt - 1, context_.attempts});
    }

    std::string name() const override { return "planner"; }
    std::string describe(const std::string &candidate) const override {
        return space_ && space_->kernels(candidate) + space_->expectedSeconds(candidate) > 0
                   ? fmt::format("{} kernel(s); {}", space_->kernels(candidate),
                                 space_->reason(candidate))
                   : std::string();
    }

    Result<Step> next(const std::vector<session::Turn> &turns, std::stop_token stop) override {
        if (stop.stop_requested())
            return stoppedError();
        if (!space_)
            return tl::unexpected(space_.error());
        const Transcript transcript = readTranscript(turns);
        const std::string past = lookBack(transcript);
        const Attempt *best = transcript.best();
        if (transcript.confirmed())
            return Step{past, {}, true, endReason(transcript)};

        const bool lastTurn =
            context_.turnLimit > 0 && transcript.policyTurns + 1 >= context_.turnLimit;
        const auto candidate = space_->next(transcript.trials());
        const std::string why = stopReason(transcript, candidate.has_value());
        if (best == nullptr && !candidate)
            return Step{past + "No schedule is left to try.",
                        {},
                        true,
                        "no schedule gave a correct candidate"};
        if (lastTurn || !why.empty()) {
            const std::string name = best != nullptr ? best->name : *candidate;
            const std::string reason = why.empty() ? "this is the last turn" : why;
            return act(transcript, name, "full",
                       fmt::format("{}{}: verifying {} in full.", past, capital(reason),
                                   best != nullptr ? "the best candidate" : "one candidate"));
        }
        return act(transcript, *candidate, "training", past + outlook(*candidate, turns.empty()));
    }

  private:
    static std::string capital(std::string text) {
        if (!text.empty())
            text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
        return text;
    }

    double baseline(const char *name) const {
        if (!context_.baselines.is_object() || !context_.baselines.contains(name))
            return 0;
        const Json &entry = context_.baselines[name];
        return entry.is_object() ? entry.value("seconds", 0.0) : 0;
    }

    /// What the last attempt turned out to be, against what was expected of it.
    std::string lookBack(const Transcript &transcript) const {
        if (transcript.attempts.empty())
            return {};
        const Attempt &last = transcript.attempts.back();
        if (last.failed)
            return fmt::format("{} failed: {}. I drop this schedule. ", last.name, last.problem);
        std::string text = fmt::format("Measured {} where I expected {}", timeText(last.seconds),
                                       timeText(space_->expectedSeconds(last.name)));
        if (last.againstCompile > 0)
            text += fmt::format(", {:.2f}x torch.compile", last.againstCompile);
        if (last.fractionOfLimit > 0)
            text += fmt::format(", {:.0f} % of the machine's limit", 100 * last.fractionOfLimit);
        const Attempt *best = transcript.best();
        if (best != nullptr && best->name != last.name)
            text += fmt::format("; {} stays best with {}", best->name, timeText(best->seconds));
        else if (transcript.attempts.size() > 1)
            text += "; the best so far";
        return text + ". ";
    }

    std::string outlook(const std::string &name, bool first) const {
        std::string text;
        if (first) {
            text = fmt::format("The graph of {} operators becomes {} kernel(s). ", operators(),
                               space_->kernels(name));
            for (const std::string &note : space_->notes())
                text += fmt::format("The same in exact arithmetic: {}. ", note);
        }
        const double bytes = space_->expectedBytes(name);
        const double expected = space_->expectedSeconds(name);
        if (std::ranges::find(context_.preferred, name) != context_.preferred.end())
            text += "An earlier session won with this schedule on such a task and this device. ";
        text += fmt::format("{} {}: {}. I expect {} for {}", first ? "First" : "Next", name,
                            space_->reason(name), timeText(expected), bytesText(bytes));
        if (context_.ceilings.copyBytesPerSecond > 0)
            text += fmt::format(" at {:.3g} TB/s", context_.ceilings.copyBytesPerSecond / 1e12);
        if (const double compile = baseline("compile"); compile > 0)
            text += fmt::format("; torch.compile needs {}", timeText(compile));
        else if (const double eager = baseline("eager"); eager > 0)
            text += fmt::format("; eager needs {}", timeText(eager));
        return text + ".";
    }

    std::size_t operators() const {
        std::size_t count = 0;
        for (const task::Node &node : context_.task.graph.nodes)
            count += node.op != "placeholder" && node.op != "output" && node.op != "getitem";
        return count;
    }

    /// Why to stop trying, or nothing.
    std::string stopReason(const Transcript &transcript, bool moreToTry) const {
        const Attempt *best = transcript.best();
        if (best == nullptr)
            return {};
        if (!moreToTry)
            return "every schedule has been tried";
        if (best->fractionOfLimit >= reward::atLimit)
            return fmt::format("{:.0f} % of the machine's limit is reached",
                               100 * best->fractionOfLimit);
        const bool cpu = context_.device.kind == device::Kind::cpu;
        const std::size_t most = cpu ? 6 : 60;
        if (transcript.attempts.size() >= most)
            return "enough schedules have been tried";
        // What similar schedules did lately is the best guess of what the next one will do.
        const std::size_t patience = cpu ? 2 : 5;
        if (transcript.sinceImprovement(worthwhile) < patience)
            return {};
        const double compile = baseline("compile");
        const double goal = compile > 0 ? compile : baseline("eager");
        if (goal > 0 && goal / best->seconds >= reward::clearlyFaster)
            return fmt::format("{:.2f}x the speed of {} and no further gain in sight",
                               goal / best->seconds, compile > 0 ? "torch.compile" : "eager");
        if (cpu)
            return "no further gain in sight";
        return {};
    }

    std::string endReason(const Transcript &transcript) const {
        const Attempt &last = transcript.attempts.back();
        std::string text =
            fmt::format("{} is verified in full: {}", last.name, timeText(last.seconds));
        if (last.againstCompile > 0)
            text += fmt::format(", {:.2f}x torch.compile", last.againstCompile);
        return text;
    }

    Result<Step> act(const Transcript &transcript, const std::string &name,
                     const std::string &strength, std::string thought) const {
        Step step;
        step.thought = std::move(thought);
        const auto call = [&](const char *tool, Json arguments) {
            step.calls.push_back({fmt::format("{}-{}", transcript.turns + 1, step.calls.size() + 1),
                                  tool, std::move(arguments)});
        };
        if (transcript.inFolder != name) {
            CUDA_AGENT_ASSIGN(
                files, space_->write(name, {fmt::format("Version {}: {}", transcript.version(name),
                                                        space_->reason(name))}));
            for (const auto &[path, content] : files.files) {
                if (path != "plan.json")
                    call("Write", {{"path", path}, {"content", content}});
            }
            call("Write", {{"path", "plan.json"}, {"content", files.files.at("plan.json")}});
        }
        call("Verify", {{"strength", strength}});
        return step;
    }

    Context context_;
    Result<SearchSpace> space_;
};

} // namespace

std::unique_ptr<Policy> makePlanner(Context context) {
    return std::make_unique<Planner>(std::move(context));
}

} // namespace cuda_agent::policy
