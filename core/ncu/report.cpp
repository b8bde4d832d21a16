// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/ncu/report.h"

#include "core/ncu/csv.h"
#include "core/ncu/unit.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>

namespace cuda_agent::ncu {

namespace {

using Fields = std::vector<std::string>;

constexpr std::size_t fileLimit = 256u << 20;
constexpr std::size_t noColumn = static_cast<std::size_t>(-1);

// Columns that tell of the launch; all others of the raw page are metrics.
constexpr std::array launchColumns{"ID",           "Process ID",  "Process Name", "Host Name",
                                   "Kernel Name",  "Kernel Time", "Context",      "Stream",
                                   "Block Size",   "Grid Size",   "Device",       "CC",
                                   "Section Name", "NVTX",        "Invocations"};

std::size_t columnOf(const Fields &head, std::string_view name) {
    const auto found = std::find(head.begin(), head.end(), name);
    return found == head.end() ? noColumn : static_cast<std::size_t>(found - head.begin());
}

bool isHead(const Fields &fields) {
    return columnOf(fields, "ID") != noColumn && columnOf(fields, "Kernel Name") != noColumn;
}

class Reader {
  public:
    explicit Reader(std::string_view text) : csv_(text) {}

    Result<Report> read() {
        CUDA_AGENT_TRY(findHead());
        while (!csv_.atEnd()) {
            if (csv_.line().starts_with("==")) {
                csv_.skipLine();
                ++report_.skippedLines;
                continue;
            }
            CUDA_AGENT_ASSIGN(fields, csv_.next());
            if (!fields)
                break;
            if (*fields == head_)
                continue; // a table that goes on
            if (fields->size() != head_.size())
                return requestError("line {}: {} fields, where the head line has {}",
                                    csv_.lineNumber(), fields->size(), head_.size());
            CUDA_AGENT_TRY(name_ == noColumn ? readRaw(std::move(*fields)) : readDetail(*fields));
        }
        std::stable_sort(report_.launches.begin(), report_.launches.end(),
                         [](const auto &a, const auto &b) { return a.id < b.id; });
        return std::move(report_);
    }

  private:
    /// Whatever the profiled program printed comes first.
    Result<void> findHead() {
        while (!csv_.atEnd()) {
            auto line = csv_.line();
            if (line.starts_with("\xef\xbb\xbf")) // a byte order mark
                line.remove_prefix(3);
            if (line.find("Kernel Name") != line.npos) {
                CsvReader one(line);
                const auto fields = one.next();
                if (fields && *fields && isHead(**fields)) {
                    head_ = **fields;
                    csv_.skipLine();
                    name_ = columnOf(head_, "Metric Name");
                    unit_ = columnOf(head_, "Metric Unit");
                    value_ = columnOf(head_, "Metric Value");
                    if (name_ != noColumn && (unit_ == noColumn || value_ == noColumn))
                        return requestError("the table has the column Metric Name, but not Metric "
                                            "Unit and Metric Value");
                    return {};
                }
            }
            csv_.skipLine();
            ++report_.skippedLines;
        }
        return requestError(
            "no table of Nsight Compute: no head line with ID and Kernel Name; make "
            "one with ncu --csv --page raw");
    }

    std::string field(const Fields &fields, std::string_view column) const {
        const auto at = columnOf(head_, column);
        return at == noColumn ? std::string() : fields[at];
    }

    /// The launch of a row, a new one when it is the first of its number.
    Result<Launch *> launchOf(const Fields &fields) {
        const auto text = field(fields, "ID");
        int id = -1;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
        if (error != std::errc() || end != text.data() + text.size() || id < 0)
            return requestError("line {}: '{}' is not the number of a launch", csv_.lineNumber(),
                                text.substr(0, 40));
        const auto [place, isNew] = byId_.emplace(id, report_.launches.size());
        if (isNew)
            report_.launches.push_back({id,
                                        field(fields, "Kernel Name"),
                                        field(fields, "Block Size"),
                                        field(fields, "Grid Size"),
                                        field(fields, "CC"),
                                        field(fields, "Device"),
                                        {}});
        return &report_.launches[place->second];
    }

    static Metric metricOf(std::string section, std::string name, std::string_view unit,
                           std::string text) {
        const auto base = baseUnit(unit);
        auto value = numberFrom(text);
        if (value && !std::isfinite(*value *= base.factor))
            value.reset();
        return {std::move(section), std::move(name), value, base.name, std::move(text)};
    }

    Result<void> readRaw(Fields fields) {
        if (field(fields, "ID").empty() && (report_.launches.empty() || fields == units_)) {
            units_ = std::move(fields);
            return {};
        }
        CUDA_AGENT_ASSIGN(launch, launchOf(fields));
        if (!launch->metrics.empty())
            return requestError("line {}: launch {} stands there twice", csv_.lineNumber(),
                                launch->id);
        for (std::size_t i = 0; i < fields.size(); ++i) {
            const bool metric = std::find(launchColumns.begin(), launchColumns.end(), head_[i]) ==
                                launchColumns.end();
            if (metric && !fields[i].empty())
                launch->metrics.push_back(metricOf(
                    "", head_[i], units_.empty() ? std::string_view() : std::string_view(units_[i]),
                    std::move(fields[i])));
        }
        return {};
    }

    Result<void> readDetail(const Fields &fields) {
        CUDA_AGENT_ASSIGN(launch, launchOf(fields));
        if (!fields[name_].empty()) // else the row is a rule's remark
            launch->metrics.push_back(metricOf(field(fields, "Section Name"), fields[name_],
                                               fields[unit_], fields[value_]));
        return {};
    }

    CsvReader csv_;
    Report report_;
    Fields head_;
    Fields units_; ///< of the raw page's columns
    std::size_t name_ = noColumn, unit_ = noColumn, value_ = noColumn; ///< of the details page
    std::map<int, std::size_t> byId_;                                  ///< launch -> its place
};

} // namespace

const Metric *Launch::find(std::string_view name, std::string_view section) const {
    const auto found = std::find_if(metrics.begin(), metrics.end(), [&](const auto &metric) {
        return metric.name == name && (section.empty() || metric.section == section);
    });
    return found == metrics.end() ? nullptr : &*found;
}

Result<Report> parseCsv(std::string_view text) {
    return Reader(text).read();
}

Result<Report> readCsv(const std::filesystem::path &file) {
    CUDA_AGENT_ASSIGN(text, readTextFile(file, fileLimit));
    auto report = parseCsv(text);
    if (!report)
        return requestError("{}: {}", file.string(), report.error().message);
    return report;
}

Json toJson(const Report &report) {
    Json launches = Json::array();
    for (const auto &launch : report.launches) {
        Json metrics = Json::array();
        for (const auto &metric : launch.metrics) {
            Json json{{"name", metric.name},
                      {"value", metric.value ? Json(*metric.value) : Json()},
                      {"unit", metric.unit},
                      {"text", metric.text}};
            if (!metric.section.empty())
                json["section"] = metric.section;
            metrics.push_back(std::move(json));
        }
        launches.push_back({{"id", launch.id},
                            {"kernel", launch.kernel},
                            {"block", launch.block},
                            {"grid", launch.grid},
                            {"compute_capability", launch.computeCapability},
                            {"device", launch.device},
                            {"metrics", std::move(metrics)}});
    }
    return {{"launches", std::move(launches)}};
}

} // namespace cuda_agent::ncu
