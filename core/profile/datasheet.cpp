// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/profile/datasheet.h"

#include <array>

namespace cuda_agent::profile {

namespace {

constexpr double tera = 1e12;

constexpr std::array sheets = {
    Datasheet{"NVIDIA H200", 4.8 * tera, 67 * tera, 494.5 * tera, 989.5 * tera},
    Datasheet{"NVIDIA H200 NVL", 4.8 * tera, 60 * tera, 417.5 * tera, 835.5 * tera},
    Datasheet{"NVIDIA H100 80GB HBM3", 3.35 * tera, 67 * tera, 494.5 * tera, 989.5 * tera},
    Datasheet{"NVIDIA H100 NVL", 3.9 * tera, 60 * tera, 417.5 * tera, 835.5 * tera},
    Datasheet{"NVIDIA A100-SXM4-80GB", 2.039 * tera, 19.5 * tera, 156 * tera, 312 * tera},
    Datasheet{"NVIDIA A100 80GB PCIe", 1.935 * tera, 19.5 * tera, 156 * tera, 312 * tera},
    Datasheet{"NVIDIA A100-SXM4-40GB", 1.555 * tera, 19.5 * tera, 156 * tera, 312 * tera},
    Datasheet{"NVIDIA A100-PCIE-40GB", 1.555 * tera, 19.5 * tera, 156 * tera, 312 * tera},
    Datasheet{"NVIDIA L40S", 0.864 * tera, 91.6 * tera, 183 * tera, 362.05 * tera},
    Datasheet{"NVIDIA L4", 0.3 * tera, 30.3 * tera, 60 * tera, 121 * tera},
    Datasheet{"NVIDIA GeForce RTX 4090", 1.008 * tera, 82.6 * tera, 82.6 * tera, 165.2 * tera},
    Datasheet{"Tesla T4", 0.32 * tera, 8.1 * tera, 0, 65 * tera}};

} // namespace

std::optional<Datasheet> datasheetOf(std::string_view name) {
    const Datasheet *best = nullptr;
    for (const auto &sheet : sheets) {
        // "NVIDIA L4" is no "NVIDIA L40S".
        const bool whole = name.starts_with(sheet.card) &&
                           (name.size() == sheet.card.size() || name[sheet.card.size()] == ' ');
        if (whole && (best == nullptr || sheet.card.size() > best->card.size()))
            best = &sheet;
    }
    return best != nullptr ? std::optional(*best) : std::nullopt;
}

} // namespace cuda_agent::profile
