// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/knowledge/offer.h"

#include <set>

namespace cuda_agent::knowledge {

namespace {

constexpr std::size_t mostWorked = 5;
constexpr std::size_t mostFailed = 3;
constexpr std::size_t mostSchedules = 3;
constexpr std::size_t longestNote = 260;

/// What tells one way of doing it from another: the same schedule for another size is no news.
std::string wayOf(const Record &record) {
    const std::string &what = record.schedule.empty() ? record.note : record.schedule;
    return record.task.operators + "\n" + (what.empty() ? record.hash : what);
}

std::vector<Near> distinct(const std::vector<Near> &found, std::size_t most,
                           std::set<std::string> &seen) {
    std::vector<Near> result;
    for (const Near &near : found)
        if (result.size() < most && seen.insert(wayOf(near.record)).second)
            result.push_back(near);
    return result;
}

/// Whose time is compared, and how near the record is.
std::string placeOf(const Near &near, const Query &query) {
    const Record &record = near.record;
    std::string text;
    if (record.task.operators != query.task.operators)
        text += record.task.operators + " ";
    if (record.task.dtype != query.task.dtype)
        text += record.task.dtype + " ";
    if (record.device != query.device)
        text += "on " + record.device + " ";
    if (record.numerics != query.numerics)
        text += fmt::format("({} numerics) ", record.numerics);
    if (sizeDistance(record.task, query.task) > 2)
        text += "of another size ";
    if (text.empty())
        return "same kind, size and device: ";
    text.back() = ':';
    return text + " ";
}

std::string howOf(const Record &record) {
    std::string text = record.policy;
    if (!record.schedule.empty())
        text += " " + oneLine(record.schedule, 120);
    if (!record.note.empty())
        text += ": " + oneLine(record.note, longestNote);
    return text;
}

std::string workedLine(const Near &near, const Query &query) {
    const Record &record = near.record;
    std::string text = "- " + placeOf(near, query);
    std::string figures;
    const auto add = [&](const std::string &figure) {
        figures += (figures.empty() ? "" : ", ") + figure;
    };
    if (record.againstEager > 0)
        add(fmt::format("{:.2f}x eager", record.againstEager));
    if (record.againstCompile > 0)
        add(fmt::format("{:.2f}x torch.compile", record.againstCompile));
    if (record.fractionOfLimit > 0)
        add(fmt::format("{:.0f} % of the limit", 100 * record.fractionOfLimit));
    if (!record.full)
        add("verified in training strength");
    return text + figures + "; " + howOf(record);
}

std::string failedLine(const Near &near, const Query &query) {
    const Record &record = near.record;
    return "- " + placeOf(near, query) + howOf(record) + " - failed: " +
           oneLine(record.problem.empty() ? "no reason given" : record.problem, 160);
}

} // namespace

Json toJson(const Offer &offer) {
    const auto list = [](const std::vector<Near> &found) {
        Json json = Json::array();
        for (const Near &near : found)
            json.push_back(toJson(near.record));
        return json;
    };
    return {{"operators", offer.task.operators},
            {"dtype", offer.task.dtype},
            {"text", offer.text},
            {"worked", list(offer.worked)},
            {"failed", list(offer.failed)},
            {"schedules", offer.schedules}};
}

Result<Offer> offerFor(Store &store, const Query &query) {
    Offer offer;
    offer.task = query.task;
    CUDA_AGENT_ASSIGN(worked, store.near(query, true));
    CUDA_AGENT_ASSIGN(failed, store.near(query, false));
    for (const Near &near : worked) {
        const Record &record = near.record;
        if (near.nearness == Nearness::sameDevice && record.task.dtype == query.task.dtype &&
            !record.schedule.empty() && offer.schedules.size() < mostSchedules &&
            std::ranges::find(offer.schedules, record.schedule) == offer.schedules.end())
            offer.schedules.push_back(record.schedule);
    }
    std::set<std::string> seen;
    offer.worked = distinct(worked, mostWorked, seen);
    offer.failed = distinct(failed, mostFailed, seen); // not what worked at another size
    if (offer.worked.empty() && offer.failed.empty()) {
        offer.text = fmt::format("Nothing is known yet about tasks like {} on a device like {}.",
                                 textOf(query.task), query.device);
        return offer;
    }
    offer.text =
        fmt::format("What earlier sessions found for tasks like this one ({}). Times and verdicts "
                    "were measured "
                    "by this program; the words are those of earlier agents and may be wrong.",
                    textOf(query.task));
    const auto add = [&](const char *title, const std::vector<Near> &found, auto line) {
        bool titled = false;
        for (const Near &near : found) {
            const std::string text = (titled ? "\n" : fmt::format("\n{}:\n", title)) + line(near);
            if (offer.text.size() + text.size() > longestOffer)
                continue; // a shorter one may still fit
            offer.text += text;
            titled = true;
        }
    };
    add("Worked", offer.worked, [&](const Near &near) { return workedLine(near, query); });
    add("Failed", offer.failed, [&](const Near &near) { return failedLine(near, query); });
    return offer;
}

} // namespace cuda_agent::knowledge
