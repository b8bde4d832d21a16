// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/policy.h"
#include "core/session/log.h"

namespace cuda_agent::policy {

namespace {

class Replay : public Policy {
  public:
    explicit Replay(std::vector<session::Turn> turns) : turns_(std::move(turns)) {}

    std::string name() const override { return "replay"; }

    Result<Step> next(const std::vector<session::Turn> &turns, std::stop_token stop) override {
        if (stop.stop_requested())
            return stoppedError();
        if (turns.size() >= turns_.size())
            return Step{"", {}, true, "the recorded session ends here"};
        const session::Turn &recorded = turns_[turns.size()];
        return Step{recorded.thought, recorded.calls, false, ""};
    }

  private:
    std::vector<session::Turn> turns_;
};

} // namespace

Result<std::unique_ptr<Policy>> makeReplay(const std::filesystem::path &folder) {
    CUDA_AGENT_ASSIGN(contents, session::readLog(folder));
    session::State state = session::fold(contents.events);
    // A turn that was cut off has no calls to repeat.
    std::vector<session::Turn> turns;
    for (session::Turn &turn : state.turns) {
        if (turn.ended || !turn.calls.empty())
            turns.push_back(std::move(turn));
    }
    if (turns.empty())
        return requestError("the session in {} has no turns to replay", folder.string());
    return std::make_unique<Replay>(std::move(turns));
}

} // namespace cuda_agent::policy
