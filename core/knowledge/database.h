// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"

#include <filesystem>
#include <memory>

struct sqlite3;
struct sqlite3_stmt;

namespace cuda_agent::knowledge {

class Database;

/// A prepared statement. One thread; must not outlive its database.
class Statement {
  public:
    /// Values of the parameters, from the first on.
    Statement &bind(std::int64_t value);
    Statement &bind(int value) { return bind(static_cast<std::int64_t>(value)); }
    Statement &bind(bool value) { return bind(std::int64_t{value}); }
    Statement &bind(double value);
    Statement &bind(const std::string &value);
    /// True: a row is there to read; false: done. Errors: as Database::run.
    Result<bool> step();
    /// Runs to its end, and is ready for other values. Errors: as Database::run.
    Result<void> run();

    // Of the row, the columns from the first on.
    std::int64_t integer();
    double real();
    std::string text();

  private:
    friend class Database;
    struct Finalize {
        void operator()(sqlite3_stmt *statement) const;
    };
    Statement(Database &database, sqlite3_stmt *statement)
        : database_(&database), statement_(statement) {}
    Database *database_;
    std::unique_ptr<sqlite3_stmt, Finalize> statement_;
    int bound_ = 0;
    int column_ = 0;
};

/// An SQLite file that several processes may use at once. One thread.
class Database {
  public:
    /// Opens or creates it, and its folder. Waits for other writers, at most some seconds a call.
    /// Errors: request (not a database, damaged), machine (not to be opened, disk full, busy).
    static Result<Database> open(const std::filesystem::path &file);

    /// Statements without parameters. Errors: request (damaged), machine.
    Result<void> run(const std::string &sql);
    Result<Statement> prepare(const std::string &sql);
    /// The only value of a query. Errors: as run().
    Result<std::int64_t> integer(const std::string &sql);

  private:
    friend class Statement;
    struct Close {
        void operator()(sqlite3 *handle) const;
    };
    Database(std::filesystem::path file, sqlite3 *handle)
        : file_(std::move(file)), handle_(handle) {}
    tl::unexpected<Error> error(int code) const;
    std::filesystem::path file_;
    std::unique_ptr<sqlite3, Close> handle_;
};

} // namespace cuda_agent::knowledge
