// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

// The two forms of a report for scripts: JSON with everything, CSV with the figures.

#include "core/profile/datasheet.h"
#include "core/profile/profile.h"

namespace cuda_agent::profile {

namespace {

void put(Json &json, const char *name, const Figure &figure) {
    if (figure)
        json[name] = *figure;
}

Json toJson(const Traffic &traffic) {
    Json json = Json::object();
    put(json, "dram_read", traffic.dramRead);
    put(json, "dram_write", traffic.dramWrite);
    put(json, "dram", traffic.dram());
    put(json, "l2", traffic.l2);
    put(json, "l1", traffic.l1);
    put(json, "shared", traffic.shared);
    put(json, "local", traffic.local);
    return json;
}

Json toJson(const Operations &operations) {
    Json json = Json::object();
    put(json, "fp32", operations.fp32);
    put(json, "fp16", operations.fp16);
    put(json, "fp64", operations.fp64);
    put(json, "tensor_fp16", operations.tensorFp16);
    put(json, "tensor_bf16", operations.tensorBf16);
    put(json, "tensor_tf32", operations.tensorTf32);
    put(json, "tensor_other", operations.tensorOther);
    put(json, "tensor", operations.tensor());
    put(json, "all", operations.all());
    return json;
}

Json toJson(const std::vector<Roof> &roofs) {
    Json list = Json::array();
    for (const auto &roof : roofs) {
        Json json{
            {"name", roof.name}, {"unit", roof.unit}, {"amount", roof.amount}, {"rate", roof.rate}};
        put(json, "measured", roof.measured);
        put(json, "datasheet", roof.datasheet);
        put(json, "of_measured", roof.ofMeasured);
        put(json, "of_datasheet", roof.ofDatasheet);
        put(json, "intensity", roof.intensity);
        list.push_back(std::move(json));
    }
    return list;
}

Json toJson(const Access &access) {
    Json json = Json::object();
    put(json, "requests", access.requests);
    put(json, "sectors", access.sectors);
    put(json, "bytes_per_sector", access.bytesPerSector());
    put(json, "sectors_per_request", access.sectorsPerRequest());
    put(json, "least_sectors_per_request", access.leastSectorsPerRequest());
    return json;
}

Json toJson(const SharedAccess &access) {
    Json json = Json::object();
    put(json, "requests", access.requests);
    put(json, "wavefronts", access.wavefronts);
    put(json, "bank_conflicts", access.conflicts);
    put(json, "conflict_share", access.conflictShare());
    return json;
}

Json toJson(const Launch &launch, const device::Architecture *architecture) {
    Json json{{"kind", nameOf(launch.kind)},
              {"name", launch.name},
              {"step", launch.step},
              {"label", launch.label},
              {"seconds", launch.seconds},
              {"low", launch.low},
              {"high", launch.high},
              {"share", launch.share},
              {"counted_bytes", launch.countedBytes},
              {"counted_operations", launch.countedOperations}};
    if (!launch.file.empty()) {
        json["file"] = launch.file;
        json["line"] = launch.line;
    }
    put(json, "gap_before", launch.gapBefore);
    if (launch.kind == LaunchKind::kernel) {
        json["grid"] = launch.grid;
        json["block"] = launch.block;
        if (launch.cluster[0] > 0)
            json["cluster"] = launch.cluster;
    }
    const auto count = [&](const char *name, std::int64_t value) {
        if (value >= 0)
            json[name] = value;
    };
    count("registers", launch.registers);
    count("spill_bytes", launch.spillBytes);
    count("local_bytes", launch.localBytes);
    count("static_shared", launch.sharedStatic);
    count("dynamic_shared", launch.sharedDynamic);
    if (launch.theoretical && architecture != nullptr)
        json["theoretical_occupancy"] = device::toJson(*launch.theoretical, *architecture);
    put(json, "achieved_occupancy", launch.achievedOccupancy);
    put(json, "waves", launch.waves);
    put(json, "tail", launch.tail);
    put(json, "idle_multiprocessors", launch.idleMultiprocessors);
    json["roofs"] = toJson(launch.roofs);
    if (launch.counters.empty())
        return json;
    json["bytes"] = toJson(launch.traffic);
    json["operations"] = toJson(launch.operations);
    json["global_loads"] = toJson(launch.globalLoads);
    json["global_stores"] = toJson(launch.globalStores);
    put(json, "global_atomics", launch.atomics);
    json["shared_loads"] = toJson(launch.sharedLoads);
    json["shared_stores"] = toJson(launch.sharedStores);
    put(json, "l1_hit_rate", launch.l1HitRate);
    put(json, "l2_hit_rate", launch.l2HitRate);
    json["stalls"] = Json::array();
    for (const auto &stall : launch.stalls)
        json["stalls"].push_back({{"name", stall.name},
                                  {"meaning", stall.meaning},
                                  {"warps", stall.warps},
                                  {"share", stall.share}});
    put(json, "issue_active", launch.issueActive);
    put(json, "active_lanes", launch.activeLanes);
    json["lines"] = Json::array();
    for (const auto &line : launch.lines)
        json["lines"].push_back({{"file", line.file},
                                 {"line", line.line},
                                 {"samples", line.samples},
                                 {"share", line.share},
                                 {"stall", line.stall},
                                 {"stall_share", line.stallShare}});
    json["counters"] = launch.counters;
    return json;
}

Json toJson(const Finding &finding) {
    Json json{{"rule", finding.rule},       {"launch", finding.launch},
              {"message", finding.message}, {"evidence", finding.evidence},
              {"gain", finding.gain},       {"stop", finding.stop}};
    if (!finding.file.empty()) {
        json["file"] = finding.file;
        json["line"] = finding.line;
    }
    return json;
}

Json sheetJson(const device::Info &device) {
    const auto sheet = device.kind == device::Kind::cuda ? datasheetOf(device.name) : std::nullopt;
    if (!sheet)
        return nullptr;
    return {{"card", sheet->card},
            {"bytes_per_second", sheet->bytesPerSecond},
            {"fp32_flops_per_second", sheet->fp32},
            {"tf32_flops_per_second", sheet->tf32Tensor},
            {"half_flops_per_second", sheet->halfTensor}};
}

/// A field in quotes where it needs them (RFC 4180).
std::string quoted(const std::string &text) {
    if (text.find_first_of(",\"\r\n") == std::string::npos)
        return text;
    std::string out = "\"";
    for (const char c : text)
        out += c == '"' ? std::string("\"\"") : std::string(1, c);
    return out + "\"";
}

std::string number(const Figure &figure) {
    return figure ? fmt::format("{:.9g}", *figure) : std::string();
}
std::string count(std::int64_t value) {
    return value >= 0 ? std::to_string(value) : std::string();
}

using Fields = std::vector<std::pair<const char *, std::string>>;

void addWork(Fields &fields, const Traffic &traffic, const Operations &operations,
             const std::vector<Roof> &roofs) {
    fields.insert(fields.end(), {{"dram_read", number(traffic.dramRead)},
                                 {"dram_write", number(traffic.dramWrite)},
                                 {"l2", number(traffic.l2)},
                                 {"l1", number(traffic.l1)},
                                 {"shared", number(traffic.shared)},
                                 {"local", number(traffic.local)},
                                 {"fp32", number(operations.fp32)},
                                 {"fp16", number(operations.fp16)},
                                 {"fp64", number(operations.fp64)},
                                 {"tensor_fp16", number(operations.tensorFp16)},
                                 {"tensor_bf16", number(operations.tensorBf16)},
                                 {"tensor_tf32", number(operations.tensorTf32)},
                                 {"tensor_other", number(operations.tensorOther)}});
    const std::pair<const char *, const char *> shares[] = {
        {"DRAM", "dram_of_measured"},        {"L2", "l2_of_measured"},
        {"L1/shared", "l1_of_measured"},     {"FP32", "fp32_of_measured"},
        {"TF32 tensor", "tf32_of_measured"}, {"FP16/BF16 tensor", "half_of_measured"}};
    for (const auto &[name, field] : shares) {
        Figure share;
        for (const auto &roof : roofs)
            if (roof.name == name)
                share = roof.ofMeasured;
        fields.emplace_back(field, number(share));
    }
}

Fields fieldsOf(const Launch &launch) {
    const auto shape = [](const std::array<std::uint32_t, 3> &size) {
        return size[0] > 0 ? fmt::format("{}x{}x{}", size[0], size[1], size[2]) : std::string();
    };
    const auto &theoretical = launch.theoretical;
    std::string limiter;
    if (theoretical)
        for (const auto each : theoretical->limiters)
            limiter += (limiter.empty() ? "" : ";") + std::string(device::nameOf(each));
    Fields fields{
        {"kind", std::string(nameOf(launch.kind))},
        {"name", launch.name},
        {"step", count(launch.step)},
        {"label", launch.label},
        {"seconds", number(launch.seconds)},
        {"low", number(launch.low)},
        {"high", number(launch.high)},
        {"share", number(launch.share)},
        {"gap_before", number(launch.gapBefore)},
        {"grid", shape(launch.grid)},
        {"block", shape(launch.block)},
        {"registers", count(launch.registers)},
        {"spill_bytes", count(launch.spillBytes)},
        {"static_shared", count(launch.sharedStatic)},
        {"dynamic_shared", count(launch.sharedDynamic)},
        {"theoretical_occupancy", theoretical ? number(theoretical->fraction) : std::string()},
        {"limiters", limiter},
        {"achieved_occupancy", number(launch.achievedOccupancy)},
        {"waves", number(launch.waves)},
        {"tail", number(launch.tail)},
        {"counted_bytes", std::to_string(launch.countedBytes)},
        {"counted_operations", number(launch.countedOperations)}};
    addWork(fields, launch.traffic, launch.operations, launch.roofs);
    fields.insert(
        fields.end(),
        {{"load_sectors_per_request", number(launch.globalLoads.sectorsPerRequest())},
         {"store_sectors_per_request", number(launch.globalStores.sectorsPerRequest())},
         {"global_atomics", number(launch.atomics)},
         {"load_bank_conflicts", number(launch.sharedLoads.conflicts)},
         {"store_bank_conflicts", number(launch.sharedStores.conflicts)},
         {"l1_hit_rate", number(launch.l1HitRate)},
         {"l2_hit_rate", number(launch.l2HitRate)},
         {"issue_active", number(launch.issueActive)},
         {"active_lanes", number(launch.activeLanes)},
         {"largest_stall", launch.stalls.empty() ? std::string() : launch.stalls.front().name}});
    return fields;
}

/// The whole call in the columns of a launch.
Launch wholeOf(const Report &report) {
    Launch whole;
    whole.name = "all";
    whole.seconds = report.spanSeconds > 0 ? report.spanSeconds : report.busySeconds;
    whole.low = whole.high = whole.seconds;
    whole.share = 1;
    whole.traffic = report.traffic;
    whole.operations = report.operations;
    whole.roofs = report.roofs;
    whole.countedBytes = report.countedBytes;
    whole.countedOperations = report.countedOperations;
    return whole;
}

} // namespace

Json toJson(const Report &report) {
    const auto *architecture = device::findArchitecture(report.device.architecture);
    Json json{{"device", device::toJson(report.device)},
              {"ceilings", device::toJson(report.ceilings)},
              {"datasheet", sheetJson(report.device)},
              {"source", report.source},
              {"label", report.label},
              {"span_seconds", report.spanSeconds},
              {"busy_seconds", report.busySeconds},
              {"bytes", toJson(report.traffic)},
              {"operations", toJson(report.operations)},
              {"roofs", toJson(report.roofs)},
              {"counted_bytes", report.countedBytes},
              {"counted_operations", report.countedOperations},
              {"launches", Json::array()},
              {"findings", Json::array()},
              {"notes", report.notes}};
    put(json, "gap_share", report.gapShare);
    for (const auto &launch : report.launches)
        json["launches"].push_back(toJson(launch, architecture));
    for (const auto &finding : report.findings)
        json["findings"].push_back(toJson(finding));
    return json;
}

std::string toCsv(const Report &report) {
    std::string csv;
    const auto line = [&](const Fields &fields, bool names) {
        for (std::size_t i = 0; i < fields.size(); ++i)
            csv += (i > 0 ? "," : "") + quoted(names ? fields[i].first : fields[i].second);
        csv += "\r\n";
    };
    Fields whole = fieldsOf(wholeOf(report));
    whole.front().second = "call";
    line(whole, true);
    for (const auto &launch : report.launches)
        line(fieldsOf(launch), false);
    line(whole, false);
    return csv;
}

} // namespace cuda_agent::profile
