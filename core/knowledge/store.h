// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/device/device.h"
#include "core/knowledge/database.h"
#include "core/knowledge/record.h"

#include <vector>

namespace cuda_agent::knowledge {

/// Of the file; a program that reads up to this refuses a greater one.
inline constexpr int schemaVersion = 1;
/// Of one class of operators and sizes on one device with one numeric mode; the worst of more are
/// forgotten.
inline constexpr int mostOfAClass = 40;

/// `dataDir()/knowledge.db`. May not exist.
std::filesystem::path defaultFile();

/// What records are looked for.
struct Query {
    Signature task;
    std::string deviceKind;
    std::string device;
    std::string architecture;
    std::string numerics;
};
Query queryFor(const task::Description &task, const device::Info &device, task::Numerics numerics);

/// How near a record is to what is asked for; smaller is nearer.
enum class Nearness {
    sameDevice,         ///< same class of operators, same device
    sameClass,          ///< same class of operators, another device of the same kind
    sameDominantDevice, ///< another class with the same dominant operator, same device
    sameDominant,       ///< the same, another device of the same kind
};
struct Near {
    Record record;
    Nearness nearness = Nearness::sameDominant;
};

/// The record of what worked where: one SQLite file, used by any number of processes at once. Open
/// it for each use; one thread.
class Store {
  public:
    /// Opens or creates the file. Errors: request (damaged, another program's, a newer schema),
    /// machine (not writable, disk full, busy).
    static Result<Store> open(const std::filesystem::path &file);

    /// Adds or renews records, all or none: of one candidate for the same class, sizes, device and
    /// numerics the last verdict stands, and a full one does not yield to a training one.
    /// Errors: request (damaged), machine.
    Result<void> add(const std::vector<Record> &records);
    /// Nearest first; of equally near ones those of the same dtype, numerics and size, then the
    /// fastest against eager. Errors: request (damaged), machine.
    Result<std::vector<Near>> near(const Query &query, bool correct, int most = 50);
    /// What the lists hold: all where a field is empty.
    struct Filter {
        std::string operators;
        std::string device;
    };
    /// The newest first. Errors: request (damaged), machine.
    Result<std::vector<Record>> list(const Filter &filter, int most = 1000);
    Result<std::int64_t> count(const Filter &filter);
    /// Returns how many went. Errors: request (damaged), machine.
    Result<std::int64_t> forget(const Filter &filter);

  private:
    explicit Store(Database database) : database_(std::move(database)) {}
    Result<void> addAll(const std::vector<Record> &records);
    Database database_;
};

} // namespace cuda_agent::knowledge
