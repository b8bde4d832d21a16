// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/verify/verify.h"

#include "core/base/hash.h"
#include "core/device/lease.h"
#include "core/verify/reshape.h"

namespace cuda_agent::verify {

namespace {

/// Share of the free device memory that sealed cases may take; the rest is for the reference's
/// temporaries and the candidate's private copies.
constexpr double poolShare = 0.6;

struct Wanted {
    const char *name;
    double scale;
    const char *transform; ///< nullptr: a random case
};
/// In order of worth: when memory is short, the first ones are drawn.
constexpr Wanted wantedCases[] = {
    {"random 1", 1, nullptr},      {"random 2", 1, nullptr},      {"NaN", 1, "nan"},
    {"scale 64", 64, "none"},      {"random 3", 1, nullptr},      {"random 4", 1, nullptr},
    {"random 5", 1, nullptr},      {"scale 0.001", 1e-3, "none"}, {"Inf", 1, "inf"},
    {"saturation", 1, "saturate"}, {denormalCase, 1, "denormal"},
};

/// Of these, in training strength.
constexpr std::size_t trainingCases = 5;

/// True where the same-precision reference is off by a tenth or more: such a case, an overflow of
/// intermediate values most often, cannot tell a right candidate from a wrong one.
bool losesAccuracy(const reference::Case &entry) {
    return std::any_of(entry.errors.begin(), entry.errors.end(), [](const auto &error) {
        return !(error.errorNorm <= 0.1 * error.oracleNorm);
    });
}

} // namespace

std::uint64_t caseBytes(const task::Description &description) {
    std::uint64_t total = 0;
    for (const auto &port : description.inputs)
        total += port.type.spanBytes();
    for (const auto &port : description.outputs) // the oracle has eight bytes an element
        total += static_cast<std::uint64_t>(port.type.elements()) * 8;
    return total;
}

Result<void> lookAhead(reference::Worker &worker, device::Device &device, std::stop_token stop) {
    device::Share share(device.info(), stop);
    if (device.info().kind == device::Kind::cpu)
        CUDA_AGENT_TRY(share.take());
    auto looked = worker.lookAhead(stop);
    // What the task does wrong comes up again, and is told, when it is described.
    if (!looked && looked.error().kind != ErrorKind::request)
        return looked;
    return {};
}

std::size_t mostCases(Strength strongest) {
    return strongest == Strength::training ? trainingCases
                                           : std::size(wantedCases) + 1 + mostReshaped;
}

Result<Pool> drawPool(reference::Worker &worker, device::Device &device, std::uint64_t mostBytes,
                      Strength strongest, std::stop_token stop) {
    Pool pool;
    // The oracle's work would disturb whoever times a candidate meanwhile.
    device::Share share(device.info(), stop);
    CUDA_AGENT_TRY(share.take());
    CUDA_AGENT_TRY(worker.run(stop));
    if (device.info().kind == device::Kind::cuda)
        share.leave(); // the export is Python's work alone, and takes seconds
    CUDA_AGENT_ASSIGN(description, worker.describe(stop));
    pool.description = std::move(description);
    CUDA_AGENT_TRY(share.step());
    CUDA_AGENT_ASSIGN(parameters, worker.parameters(stop));
    pool.parameters = std::move(parameters);

    CUDA_AGENT_ASSIGN(freeBytes, device.freeBytes());
    const auto each = std::max<std::uint64_t>(caseBytes(pool.description), 1);
    auto room = static_cast<std::uint64_t>(poolShare * static_cast<double>(freeBytes));
    if (mostBytes > 0)
        room = std::min(room, mostBytes);
    auto affordable = room / each;
    if (affordable == 0) {
        pool.notes.push_back("memory is short: one case only");
        affordable = 1;
    }
    const auto drawn = [&] { return pool.random.size() + pool.adversarial.size(); };
    const bool full = strongest == Strength::full;
    for (const auto &wanted : wantedCases) {
        if (!full && drawn() >= trainingCases)
            break;
        if (drawn() >= affordable) {
            pool.notes.push_back(fmt::format("case '{}' left out: a case of this task takes {:.1f} "
                                             "GB and there are {:.1f} GB for all",
                                             wanted.name, static_cast<double>(each) / 1e9,
                                             static_cast<double>(room) / 1e9));
            continue;
        }
        reference::CaseRequest request;
        request.name = wanted.name;
        request.seed = randomSeed() >> 1; // torch takes signed seeds
        request.scale = wanted.scale;
        request.transform = wanted.transform ? wanted.transform : "none";
        // Sensitivity is pooled over the random cases; two of them tell enough.
        request.sensitivity = !wanted.transform && pool.random.size() < 2;
        CUDA_AGENT_TRY(share.step());
        auto made = worker.makeCase(request, stop);
        if (!made) {
            // Memory that ran out on a further case costs that case, not the task.
            if (made.error().kind != ErrorKind::request || pool.random.empty())
                return tl::unexpected(made.error());
            pool.notes.push_back(
                fmt::format("case '{}' left out: {}", wanted.name, made.error().message));
            continue;
        }
        auto &entry = *made;
        if (!entry.skipped.empty()) {
            pool.notes.push_back(
                fmt::format("case '{}' does not apply: {}", wanted.name, entry.skipped));
            continue;
        }
        if (wanted.transform && losesAccuracy(entry)) {
            pool.notes.push_back(fmt::format("case '{}' does not apply: PyTorch itself is wrong on "
                                             "such inputs in the task's precision",
                                             wanted.name));
            continue;
        }
        for (const auto &note : entry.notes)
            if (std::find(pool.notes.begin(), pool.notes.end(), note) == pool.notes.end())
                pool.notes.push_back(note);
        (wanted.transform ? pool.adversarial : pool.random).push_back(std::move(entry));
    }
    if (pool.random.empty())
        return requestError("no random case of task {} could be drawn", pool.description.name);
    if (full && drawn() < affordable) {
        reference::CaseRequest request;
        request.name = "whole numbers";
        request.seed = randomSeed() >> 1;
        request.transform = "whole";
        request.sensitivity = false;
        CUDA_AGENT_TRY(share.step());
        auto made = worker.makeCase(request, stop);
        if (made && made->skipped.empty())
            pool.whole = std::move(*made);
        else if (made)
            pool.notes.push_back(
                fmt::format("case 'whole numbers' does not apply: {}", made->skipped));
        else if (made.error().kind == ErrorKind::request)
            pool.notes.push_back(
                fmt::format("case 'whole numbers' left out: {}", made.error().message));
        else
            return tl::unexpected(made.error());
    }
    if (full && drawn() + (pool.whole ? 1 : 0) < affordable)
        CUDA_AGENT_TRY(drawReshaped(worker, share, pool, stop));
    if (const auto why = unsuitable(pool); !why.empty())
        return requestError(
            "task {} cannot tell a right kernel from a wrong one: {}, to within the "
            "error that PyTorch itself makes",
            pool.description.name, why);
    return pool;
}

} // namespace cuda_agent::verify
