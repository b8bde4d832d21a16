// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/knowledge/store.h"

#include "core/base/paths.h"

namespace cuda_agent::knowledge {

namespace {

/// "CAWk" in SQLite's header: tells the file from another program's.
constexpr int applicationId = 0x4341576b;

constexpr const char *tables = R"(
CREATE TABLE records (
    id INTEGER PRIMARY KEY,
    operators TEXT NOT NULL, dominant TEXT NOT NULL, dtype TEXT NOT NULL,
    bytes_bucket INTEGER NOT NULL, row_bucket INTEGER NOT NULL, task TEXT NOT NULL,
    device_kind TEXT NOT NULL, device TEXT NOT NULL, architecture TEXT NOT NULL,
    numerics TEXT NOT NULL,
    policy TEXT NOT NULL, candidate TEXT NOT NULL, schedule TEXT NOT NULL, note TEXT NOT NULL,
    hash TEXT NOT NULL, session TEXT NOT NULL, turn INTEGER NOT NULL,
    compiled INTEGER NOT NULL, correct INTEGER NOT NULL, full INTEGER NOT NULL,
    reward INTEGER NOT NULL, problem TEXT NOT NULL,
    seconds REAL NOT NULL, speedup_eager REAL NOT NULL, speedup_compile REAL NOT NULL,
    speedup_best_stock REAL NOT NULL, fraction_of_limit REAL NOT NULL,
    time REAL NOT NULL,
    UNIQUE (operators, dtype, bytes_bucket, row_bucket, device, numerics, hash));
CREATE INDEX by_class ON records (device_kind, operators);
CREATE INDEX by_dominant ON records (device_kind, dominant);
)";

constexpr const char *columns =
    "id, operators, dominant, dtype, bytes_bucket, row_bucket, task, device_kind, device, "
    "architecture, numerics, policy, candidate, schedule, note, hash, session, turn, compiled, "
    "correct, full, reward, problem, seconds, speedup_eager, speedup_compile, speedup_best_stock, "
    "fraction_of_limit, time";

Record readRecord(Statement &row) {
    Record record;
    record.id = row.integer();
    record.task.operators = row.text();
    record.task.dominant = row.text();
    record.task.dtype = row.text();
    record.task.bytes = static_cast<int>(row.integer());
    record.task.row = static_cast<int>(row.integer());
    record.taskName = row.text();
    record.deviceKind = row.text();
    record.device = row.text();
    record.architecture = row.text();
    record.numerics = row.text();
    record.policy = row.text();
    record.candidate = row.text();
    record.schedule = row.text();
    record.note = row.text();
    record.hash = row.text();
    record.session = row.text();
    record.turn = static_cast<int>(row.integer());
    record.compiled = row.integer() != 0;
    record.correct = row.integer() != 0;
    record.full = row.integer() != 0;
    record.reward = static_cast<int>(row.integer());
    record.problem = row.text();
    record.seconds = row.real();
    record.againstEager = row.real();
    record.againstCompile = row.real();
    record.againstStock = row.real();
    record.fractionOfLimit = row.real();
    record.time = row.real();
    return record;
}

/// The condition and its two parameters, twice each.
constexpr const char *filtered = "(?1 = '' OR operators = ?1) AND (?2 = '' OR device = ?2)";

/// Runs `work` in a transaction that takes the writer's place at once: one that reads first and
/// writes later could find that another wrote in between.
template <typename Work>
Result<void> inTransaction(Database &database, const Work &work) {
    CUDA_AGENT_TRY(database.run("BEGIN IMMEDIATE"));
    auto done = work();
    if (done)
        done = database.run("COMMIT");
    if (!done)
        static_cast<void>(database.run("ROLLBACK")); // the first error says more
    return done;
}

} // namespace

std::filesystem::path defaultFile() {
    return dataDir() / "knowledge.db";
}

Query queryFor(const task::Description &task, const device::Info &device, task::Numerics numerics) {
    return {signatureOf(task), std::string(device::nameOf(device.kind)), device.name,
            device.architecture, std::string(task::nameOf(numerics))};
}

Result<Store> Store::open(const std::filesystem::path &file) {
    CUDA_AGENT_ASSIGN(database, Database::open(file));
    CUDA_AGENT_ASSIGN(known, database.integer("PRAGMA user_version"));
    CUDA_AGENT_ASSIGN(knownOwner, database.integer("PRAGMA application_id"));
    if (known == schemaVersion && knownOwner == applicationId)
        return Store(std::move(database)); // the usual case waits for no writer
    const auto prepare = [&]() -> Result<void> {
        CUDA_AGENT_ASSIGN(version, database.integer("PRAGMA user_version"));
        CUDA_AGENT_ASSIGN(owner, database.integer("PRAGMA application_id"));
        CUDA_AGENT_ASSIGN(foreign, database.integer("SELECT count(*) FROM sqlite_master"));
        if (version == 0 && owner == 0 && foreign == 0) {
            CUDA_AGENT_TRY(database.run(tables));
            return database.run(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {};",
                                            applicationId, schemaVersion));
        }
        if (owner != applicationId)
            return requestError("{} is another program's database; name another file with --memory",
                                file.string());
        if (version > schemaVersion)
            return requestError(
                "the record in {} has schema {}, this program knows {}; use a newer "
                "program or name another file with --memory",
                file.string(), version, schemaVersion);
        return {};
    };
    CUDA_AGENT_TRY(inTransaction(database, prepare));
    return Store(std::move(database));
}

Result<void> Store::addAll(const std::vector<Record> &records) {
    CUDA_AGENT_ASSIGN(
        insert,
        database_.prepare(fmt::format(
            "INSERT INTO records ({}) VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
            "?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
            "ON CONFLICT (operators, dtype, bytes_bucket, row_bucket, device, numerics, hash) "
            "DO UPDATE SET task = excluded.task, architecture = excluded.architecture, "
            "policy = excluded.policy, schedule = excluded.schedule, note = excluded.note, "
            "session = excluded.session, turn = excluded.turn, compiled = excluded.compiled, "
            "correct = excluded.correct, full = excluded.full, reward = excluded.reward, "
            "problem = excluded.problem, seconds = excluded.seconds, "
            "speedup_eager = excluded.speedup_eager, speedup_compile = excluded.speedup_compile, "
            "speedup_best_stock = excluded.speedup_best_stock, "
            "fraction_of_limit = excluded.fraction_of_limit, time = excluded.time "
            "WHERE excluded.full >= records.full",
            columns)));
    // The fastest and, of those that failed, the newest stay.
    CUDA_AGENT_ASSIGN(
        prune, database_.prepare(
                   "DELETE FROM records WHERE id IN (SELECT id FROM records WHERE operators = ? "
                   "AND dtype = ? AND bytes_bucket = ? AND row_bucket = ? AND device = ? AND "
                   "numerics = ? ORDER BY correct DESC, speedup_eager DESC, time DESC LIMIT -1 "
                   "OFFSET ?)"));
    for (const Record &record : records) {
        const Signature &task = record.task;
        insert.bind(task.operators).bind(task.dominant).bind(task.dtype).bind(task.bytes);
        insert.bind(task.row).bind(record.taskName).bind(record.deviceKind).bind(record.device);
        insert.bind(record.architecture).bind(record.numerics).bind(record.policy);
        insert.bind(record.candidate).bind(record.schedule).bind(record.note).bind(record.hash);
        insert.bind(record.session).bind(record.turn).bind(record.compiled).bind(record.correct);
        insert.bind(record.full).bind(record.reward).bind(record.problem).bind(record.seconds);
        insert.bind(record.againstEager).bind(record.againstCompile).bind(record.againstStock);
        insert.bind(record.fractionOfLimit).bind(record.time);
        CUDA_AGENT_TRY(insert.run());
        prune.bind(task.operators).bind(task.dtype).bind(task.bytes).bind(task.row);
        prune.bind(record.device).bind(record.numerics).bind(mostOfAClass);
        CUDA_AGENT_TRY(prune.run());
    }
    return {};
}

Result<void> Store::add(const std::vector<Record> &records) {
    return inTransaction(database_, [&] { return addAll(records); });
}

Result<std::vector<Near>> Store::near(const Query &query, bool correct, int most) {
    CUDA_AGENT_ASSIGN(
        select,
        database_.prepare(fmt::format(
            "SELECT CASE WHEN operators = ?1 THEN CASE WHEN device = ?4 THEN 0 ELSE 1 END "
            "ELSE CASE WHEN device = ?4 THEN 2 ELSE 3 END END AS nearness, {} FROM records "
            "WHERE device_kind = ?3 AND (operators = ?1 OR dominant = ?2) AND correct = ?10 "
            "AND operators != '' ORDER BY nearness, dtype != ?5, numerics != ?6, "
            "architecture != ?7, 2 * abs(bytes_bucket - ?8) + abs(row_bucket - ?9), "
            "speedup_eager DESC, time DESC LIMIT ?11",
            columns)));
    select.bind(query.task.operators).bind(query.task.dominant).bind(query.deviceKind);
    select.bind(query.device).bind(query.task.dtype).bind(query.numerics).bind(query.architecture);
    select.bind(query.task.bytes).bind(query.task.row).bind(correct).bind(most);
    std::vector<Near> found;
    for (;;) {
        CUDA_AGENT_ASSIGN(row, select.step());
        if (!row)
            return found;
        Near near;
        near.nearness = static_cast<Nearness>(select.integer());
        near.record = readRecord(select);
        found.push_back(std::move(near));
    }
}

Result<std::vector<Record>> Store::list(const Filter &filter, int most) {
    CUDA_AGENT_ASSIGN(select, database_.prepare(fmt::format(
                                  "SELECT {} FROM records WHERE {} ORDER BY time DESC, id DESC "
                                  "LIMIT ?3",
                                  columns, filtered)));
    select.bind(filter.operators).bind(filter.device).bind(most);
    std::vector<Record> records;
    for (;;) {
        CUDA_AGENT_ASSIGN(row, select.step());
        if (!row)
            return records;
        records.push_back(readRecord(select));
    }
}

Result<std::int64_t> Store::count(const Filter &filter) {
    CUDA_AGENT_ASSIGN(
        select, database_.prepare(fmt::format("SELECT count(*) FROM records WHERE {}", filtered)));
    select.bind(filter.operators).bind(filter.device);
    CUDA_AGENT_ASSIGN(row, select.step());
    return row ? select.integer() : 0;
}

Result<std::int64_t> Store::forget(const Filter &filter) {
    std::int64_t gone = 0;
    const auto work = [&]() -> Result<void> {
        CUDA_AGENT_ASSIGN(counted, count(filter));
        CUDA_AGENT_ASSIGN(remove,
                          database_.prepare(fmt::format("DELETE FROM records WHERE {}", filtered)));
        remove.bind(filter.operators).bind(filter.device);
        gone = counted;
        return remove.run();
    };
    CUDA_AGENT_TRY(inTransaction(database_, work));
    return gone;
}

} // namespace cuda_agent::knowledge
