// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/knowledge/offer.h"
#include "core/policy/policy.h"
#include "core/session/recorder.h"

#include <memory>
#include <mutex>

namespace cuda_agent::agent {

/// What several attempts at one task are told by the record, so that all are told the same: what
/// one finds out must not make the next do the same. Any thread.
class SharedOffer {
  public:
    /// The payload of knowledgeOffered that the first caller made or gave; `make` is called once,
    /// under the lock. Errors: what `make` answers.
    Result<Json> get(const std::function<Result<Json>()> &make) {
        const std::lock_guard lock(mutex_);
        if (offer_.is_null()) {
            CUDA_AGENT_ASSIGN(made, make());
            offer_ = std::move(made);
        }
        return offer_;
    }

  private:
    std::mutex mutex_;
    Json offer_;
};

/// A session's dealings with the record of what worked. A record that cannot be read or written is
/// a note in the log, once, and no reason to stop. One thread.
class Memory {
  public:
    /// `recorder` is borrowed. `shared` may be null.
    Memory(std::filesystem::path file, std::shared_ptr<SharedOffer> shared,
           session::Recorder &recorder)
        : file_(std::move(file)), shared_(std::move(shared)), recorder_(recorder) {}

    /// Says in the log what the record offers for this task and device, unless the log says so
    /// already (a session that is resumed goes on with what it was told) or the policy has begun
    /// without. Errors: machine (log not writable).
    Result<void> offer(const task::Description &task, const device::Info &device,
                       task::Numerics numerics);
    /// After a turn: a best candidate that is new since the last call goes into the record.
    /// Errors: machine (log not writable).
    Result<void> turnDone(const policy::Policy &policy);
    /// At the session's end: the best candidate, with the agent's last word on it, and what
    /// failed. Errors: machine (log not writable).
    Result<void> ended(const policy::Policy &policy);

  private:
    Result<void> write(const std::vector<knowledge::Record> &records);
    Result<void> give(const std::string &problem);

    std::filesystem::path file_;
    std::shared_ptr<SharedOffer> shared_;
    session::Recorder &recorder_;
    knowledge::Query query_; ///< of this session's task
    bool given_ = false;     ///< the record could not be used
    std::string lastBest_;   ///< what has been recorded last: hash and strength
};

/// The record of a candidate that the session judged. `turn` is the one with the verdict; `last`:
/// the session is over, and what the agent said at its end counts. Errors: machine (a blob is
/// gone).
Result<knowledge::Record> recordOf(const session::State &state, const std::filesystem::path &folder,
                                   const knowledge::Query &query, const policy::Policy &policy,
                                   const session::Turn &turn, bool last);

} // namespace cuda_agent::agent
