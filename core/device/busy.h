// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <optional>

namespace cuda_agent::device {

/// How much of its time each GPU has a kernel running, whoever's, from the making of this object
/// on: NVML's utilisation rates (nvmlDeviceGetUtilizationRates, "gpu"), asked for ten times a
/// second by a thread of its own. NVML is loaded at run time.
class BusyMeter {
  public:
    /// Of the first `gpus` that CUDA sees.
    explicit BusyMeter(int gpus);
    ~BusyMeter();
    /// 0 to 1, the mean over time and GPUs; nothing where NVML does not tell.
    std::optional<double> share() const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

} // namespace cuda_agent::device
