// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/knowledge/database.h"

#include <sqlite3.h>

#include <chrono>
#include <thread>

namespace cuda_agent::knowledge {

namespace fs = std::filesystem;

namespace {

constexpr int longestWait = 5000; ///< milliseconds, for another process that writes

} // namespace

void Statement::Finalize::operator()(sqlite3_stmt *statement) const {
    sqlite3_finalize(statement);
}

void Database::Close::operator()(sqlite3 *handle) const {
    sqlite3_close(handle);
}

Statement &Statement::bind(std::int64_t value) {
    sqlite3_bind_int64(statement_.get(), ++bound_, value);
    return *this;
}

Statement &Statement::bind(double value) {
    sqlite3_bind_double(statement_.get(), ++bound_, value);
    return *this;
}

Statement &Statement::bind(const std::string &value) {
    sqlite3_bind_text(statement_.get(), ++bound_, value.data(), static_cast<int>(value.size()),
                      SQLITE_TRANSIENT);
    return *this;
}

Result<bool> Statement::step() {
    column_ = 0;
    const int code = sqlite3_step(statement_.get());
    if (code == SQLITE_ROW)
        return true;
    if (code == SQLITE_DONE)
        return false;
    return database_->error(code);
}

Result<void> Statement::run() {
    for (;;) {
        CUDA_AGENT_ASSIGN(row, step());
        if (!row)
            break;
    }
    sqlite3_reset(statement_.get());
    bound_ = 0;
    return {};
}

std::int64_t Statement::integer() {
    return sqlite3_column_int64(statement_.get(), column_++);
}

double Statement::real() {
    return sqlite3_column_double(statement_.get(), column_++);
}

std::string Statement::text() {
    const int column = column_++;
    const auto *text = sqlite3_column_text(statement_.get(), column);
    const auto size = sqlite3_column_bytes(statement_.get(), column);
    return text ? std::string(reinterpret_cast<const char *>(text), static_cast<std::size_t>(size))
                : std::string();
}

tl::unexpected<Error> Database::error(int code) const {
    const std::string name = file_.string();
    switch (code & 0xff) { // without the extension
    case SQLITE_NOTADB:
        return requestError("{} is no record of this program (not a database); name another file "
                            "with --memory or move this one away",
                            name);
    case SQLITE_CORRUPT:
        return requestError("the record in {} is damaged; move the file away and a new one is made",
                            name);
    case SQLITE_FULL:
        return machineError("the disk is full: {} was not written", name);
    case SQLITE_BUSY:
        return machineError("{} is kept busy by another program; it was not written", name);
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
        return machineError("cannot write {}; name another file with --memory", name);
    default:
        return machineError("{}: {}", name,
                            handle_ ? sqlite3_errmsg(handle_.get()) : sqlite3_errstr(code));
    }
}

Result<Database> Database::open(const fs::path &file) {
    std::error_code error;
    if (file.has_parent_path())
        fs::create_directories(file.parent_path(), error); // opening tells what is wrong
    sqlite3 *handle = nullptr;
    const int code =
        sqlite3_open_v2(file.c_str(), &handle,
                        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nullptr);
    Database database(file, handle); // owns it also after a failure
    if (code != SQLITE_OK)
        return database.error(code);
    sqlite3_busy_timeout(handle, longestWait);
    // Readers and one writer do not wait for each other, and a killed writer leaves no half record.
    // The change of mode is the one thing that SQLite does not wait for by itself: two that create
    // the file at once would wait for each other.
    using Clock = std::chrono::steady_clock;
    const auto patience = Clock::now() + std::chrono::milliseconds(longestWait);
    const char *modes = "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;";
    int changed = SQLITE_BUSY;
    while ((changed = sqlite3_exec(handle, modes, nullptr, nullptr, nullptr)) == SQLITE_BUSY &&
           Clock::now() < patience)
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    if (changed != SQLITE_OK)
        return database.error(changed);
    return database;
}

Result<void> Database::run(const std::string &sql) {
    const int code = sqlite3_exec(handle_.get(), sql.c_str(), nullptr, nullptr, nullptr);
    if (code != SQLITE_OK)
        return error(code);
    return {};
}

Result<Statement> Database::prepare(const std::string &sql) {
    sqlite3_stmt *statement = nullptr;
    const int code = sqlite3_prepare_v2(handle_.get(), sql.c_str(), static_cast<int>(sql.size()),
                                        &statement, nullptr);
    if (code != SQLITE_OK)
        return error(code);
    return Statement(*this, statement);
}

Result<std::int64_t> Database::integer(const std::string &sql) {
    CUDA_AGENT_ASSIGN(statement, prepare(sql));
    CUDA_AGENT_ASSIGN(row, statement.step());
    return row ? statement.integer() : 0;
}

} // namespace cuda_agent::knowledge
