// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "tests/endurance/census.h"

#include <vector>

namespace cuda_agent::endurance {

/// Something that is not as it must be. `kind`: that of the census ("descriptors (pipe)"),
/// "resident memory", "heap", "GPU memory", "cache size" or "verdict".
struct Finding {
    std::string kind;
    std::size_t after = 0; ///< candidates judged until it was seen
    std::string what;      ///< one line
};

/// How much may stay.
struct Bounds {
    /// Slopes in bytes per 1,000 candidates, and what the fitted growth over the whole run must
    /// exceed beside. Resident memory moves in steps of megabytes, whenever an output or a message
    /// is the largest so far for one of the allocator's arenas, which a short run cannot tell from
    /// a slope. The heap in use moves with what is lost, and little else.
    double residentPerThousand = 8.0 * (1 << 20);
    double residentLeast = 12.0 * (1 << 20);
    double heapPerThousand = 512.0 * (1 << 10);
    double heapLeast = 128.0 * (1 << 10);
    std::uint64_t gpuBytes = 32ull << 20;  ///< below the free memory after warm-up
    std::uint64_t cacheBytes = 4ull << 30; ///< compiled kernels on disk
};

/// Median of the slopes between all pairs of points (Theil 1950, Sen 1968): single jumps do not
/// tilt it. 0 for fewer than two points.
double medianSlope(const std::vector<std::pair<double, double>> &points);

/// Holds what is there after warm-up against what is there later. Not thread-safe.
class Watch {
  public:
    explicit Watch(Bounds bounds = {}) : bounds_(bounds) {}

    /// What counts as normal from here on.
    void begin(Census normal);
    bool begun() const { return begun_; }
    /// Whether `census` holds anything beyond what is normal: it may still be on its way out.
    bool exceeds(const Census &census) const;
    /// Takes a measurement after `done` candidates. What it holds beyond the normal is a finding,
    /// once: the next one is held against this measurement.
    std::vector<Finding> look(const Census &census, std::size_t done);
    /// What only the whole run can tell.
    std::vector<Finding> finish() const;

    const Census &normal() const { return first_; }
    /// Bytes per candidate.
    double residentSlope() const { return medianSlope(resident_); }
    double heapSlope() const { return medianSlope(heap_); }
    const std::vector<std::pair<double, double>> &resident() const { return resident_; }
    const std::vector<std::pair<double, double>> &heap() const { return heap_; }

  private:
    Bounds bounds_;
    bool begun_ = false;
    Census first_;
    Census normal_;                                   ///< the first one, raised by what was found
    std::vector<std::pair<double, double>> resident_; ///< candidates, bytes
    std::vector<std::pair<double, double>> heap_;
};

} // namespace cuda_agent::endurance
