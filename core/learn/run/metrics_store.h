// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/learn/run/event_file.h"

#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <string>
#include <vector>

namespace cuda_agent::learn {

/// The values of one metric in the order of their steps; the five vectors have one length. NaN
/// stands for a time or a number of samples or tokens that was not written, and for values that are
/// NaN.
struct MetricSeries {
    std::vector<double> step;    ///< never falls
    std::vector<double> time;    ///< seconds since 1970
    std::vector<double> samples; ///< seen by the trainer up to this step
    std::vector<double> tokens;  ///< the same
    std::vector<double> value;
    std::size_t nonFinite = 0; ///< of `value`

    std::size_t size() const { return step.size(); }
    struct Place {
        double step = 0, time = 0, samples = 0, tokens = 0;
    };
    void push(const Place &place, double newValue);
    /// Forgets everything from position `count` on.
    void cut(std::size_t count);
};

/// A stretch of rows of one stage.
struct StageSpan {
    std::string stage;
    MetricSeries::Place first, last; ///< of its rows
};

/// Follows one run folder: `metrics.jsonl` and TensorBoard's `events.out.tfevents.*` (format:
/// README.md of this folder). A metric that is in both is taken from `metrics.jsonl`; event files
/// that EventFileWriter wrote beside a `metrics.jsonl` say the same and are left alone. A step that
/// goes back means that the trainer resumed from a checkpoint: what the metric had at and after
/// that step is forgotten. Blocks for file reads; any one thread. No Qt.
class MetricsStore {
  public:
    explicit MetricsStore(std::filesystem::path folder);

    struct Change {
        bool restarted = false;           ///< the files are other ones: all was read anew
        bool more = false;                ///< the limit was reached: call again
        std::vector<std::string> metrics; ///< those with new values, sorted
        bool any() const { return restarted || !metrics.empty(); }
    };
    /// Reads what was written since the last call, at most about `limit` bytes.
    Change read(std::size_t limit = 4u << 20);

    const std::filesystem::path &folder() const { return folder_; }
    const std::map<std::string, MetricSeries> &metrics() const { return metrics_; }
    /// The stages that the rows name, in the order of their steps; empty when they name none.
    const std::vector<StageSpan> &stages() const { return stages_; }
    double lastStep() const { return lastStep_; } ///< NaN before the first
    double firstTime() const {
        return firstTime_;
    } ///< seconds since 1970; NaN when none is written
    double lastTime() const { return lastTime_; }
    double lastSamples() const { return lastSamples_; }
    bool hasFiles() const { return !files_.empty(); }
    /// When a file was last written, seconds since 1970; NaN without files.
    double lastWrite() const { return lastWrite_; }
    /// Lines and records that could not be read.
    std::size_t badCount() const;
    /// The first of them in words, with file and line; and files that cannot be read on.
    const std::vector<std::string> &problems() const { return problems_; }

  private:
    struct File {
        std::filesystem::path path;
        bool events = false;
        int order = 0; ///< among the event files, oldest first
        std::uint64_t inode = 0, offset = 0;
        std::string head, tail; ///< first and last bytes read: tell a rewritten file
        std::string rest;       ///< of a line that is not whole yet
        std::size_t line = 0;
        bool early = false;    ///< the last line was whole, but for its end
        bool skipping = false; ///< within a line that is too long
        bool told = false;     ///< that it cannot be read on
        std::size_t bad = 0;
        EventFileReader reader;
    };
    struct Owner {
        bool lines = false; ///< from metrics.jsonl
        int order = 0;      ///< the newest event file that wrote it
    };

    bool findFiles();
    bool rewritten(const File &file) const;
    void startOver();
    std::size_t readFile(File &file, std::size_t limit, bool &more);
    void takeLines(File &file, std::string_view bytes);
    bool takeLine(File &file, std::string_view line, bool whole);
    void takeEvents(File &file, const EventBatch &batch);
    void add(const std::string &name, bool lines, int order, const MetricSeries::Place &place,
             double value);
    void enterStage(const std::string &stage, const MetricSeries::Place &place);
    void complain(File &file, const std::string &text);

    static constexpr double none = std::numeric_limits<double>::quiet_NaN();

    std::filesystem::path folder_;
    std::vector<File> files_; ///< metrics.jsonl first
    std::map<std::string, MetricSeries> metrics_;
    std::map<std::string, Owner> owners_;
    std::map<std::string, bool> changed_;
    std::vector<std::string> problems_;
    std::vector<StageSpan> stages_;
    double lastStep_ = none, firstTime_ = none, lastTime_ = none, lastSamples_ = none;
    double lastWrite_ = none;
};

/// Whether the folder holds a metrics file, in words above.
bool isRunFolder(const std::filesystem::path &folder);

/// The folder itself or all run folders below it (links are not followed, hidden folders are left
/// out, at most `limit` folders are looked at), sorted. Blocks.
std::vector<std::filesystem::path> findRunFolders(const std::filesystem::path &folder,
                                                  std::size_t limit = 50'000);

} // namespace cuda_agent::learn
