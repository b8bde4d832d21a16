// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/bench/html_plots.h"

#include <algorithm>
#include <cmath>

namespace cuda_agent::bench {

namespace {

constexpr double width = 560, height = 260;
constexpr double left = 48, right = 12, top = 12, bottom = 34;

double across(double share) {
    return left + share * (width - left - right);
}
double down(double share) {
    return height - bottom - share * (height - top - bottom);
}

std::string open(const std::string &label) {
    return fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">\n", width,
                       height, escaped(label));
}

std::string tickX(double share, const std::string &text) {
    const double x = across(share);
    return fmt::format("<line class=\"grid\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" "
                       "y2=\"{2}\"/><text x=\"{0:.1f}\" y=\"{3}\" "
                       "text-anchor=\"middle\">{4}</text>\n",
                       x, top, height - bottom, height - bottom + 14, text);
}
std::string tickY(double share, const std::string &text) {
    const double y = down(share);
    return fmt::format("<line class=\"grid\" x1=\"{0}\" x2=\"{1}\" y1=\"{2:.1f}\" "
                       "y2=\"{2:.1f}\"/><text x=\"{3}\" y=\"{4:.1f}\" "
                       "text-anchor=\"end\">{5}</text>\n",
                       left, width - right, y, left - 6, y + 4, text);
}
std::string axisX(const std::string &text) {
    return fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n",
                       across(0.5), height - 4, text);
}

std::string nameOfStock(const std::string &stock) {
    return stock == "best_stock" ? "best stock" : stock == "compile" ? "torch.compile" : stock;
}

} // namespace

std::string escaped(std::string_view text) {
    std::string result;
    for (const char c : text) {
        switch (c) {
        case '&':
            result += "&amp;";
            break;
        case '<':
            result += "&lt;";
            break;
        case '>':
            result += "&gt;";
            break;
        case '"':
            result += "&quot;";
            break;
        case '\'':
            result += "&#39;";
            break;
        default:
            result += static_cast<unsigned char>(c) < 0x20 && c != '\n' ? ' ' : c;
        }
    }
    return result;
}

std::string fastPPlot(const Group &group) {
    const double most = fastPs().back();
    // A root spreads the small values, where most candidates are.
    const auto at = [&](double p) { return std::sqrt(p / most); };
    std::string svg = open("fast_p: share of correct candidates more than p times as fast");
    for (const double p : {0.0, 0.5, 1.0, 2.0, 4.0, 8.0})
        svg += tickX(at(p), fmt::format("{:g}", p));
    for (const double share : {0.0, 0.25, 0.5, 0.75, 1.0})
        svg += tickY(share, fmt::format("{:.0f} %", 100 * share));
    int series = 0;
    for (const auto &each : group.against) {
        std::string points;
        for (std::size_t i = 0; i < fastPs().size(); ++i)
            points += fmt::format("{:.1f},{:.1f} ", across(at(fastPs()[i])), down(each.fastP[i]));
        ++series;
        svg += fmt::format("<polyline class=\"s{}\" points=\"{}\"/>\n", series, points);
        svg += fmt::format("<text class=\"t{}\" x=\"{}\" y=\"{}\" "
                           "text-anchor=\"end\">over {}</text>\n",
                           series, width - right - 4, top + 14 * series, nameOfStock(each.name));
    }
    return svg + axisX("p") + "</svg>\n";
}

std::string speedupPlot(const std::vector<const Record *> &records, const std::string &over) {
    std::vector<std::pair<double, const Record *>> found;
    for (const auto *record : records)
        if (const auto speedup = record->speedup(over))
            found.emplace_back(*speedup, record);
    if (found.empty())
        return {};
    std::ranges::sort(found, {}, &std::pair<double, const Record *>::first);
    const double low = std::min(0.5, found.front().first);
    const double high = std::max(2.0, found.back().first);
    const auto at = [&](double value) { return std::log(value / low) / std::log(high / low); };
    std::string svg = open("speed-up of each correct candidate over " + nameOfStock(over));
    for (const double tick : {0.01, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 10.0, 100.0, 1000.0})
        if (tick >= low * 0.999 && tick <= high * 1.001)
            svg += tickY(at(tick), fmt::format("{:g}x", tick));
    svg += fmt::format("<line class=\"one\" x1=\"{}\" x2=\"{}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>\n",
                       left, width - right, down(at(1)), down(at(1)));
    for (std::size_t i = 0; i < found.size(); ++i) {
        const auto &[speedup, record] = found[i];
        const double share = (static_cast<double>(i) + 0.5) / static_cast<double>(found.size());
        svg += fmt::format("<circle class=\"{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" "
                           "r=\"3\"><title>{} {}: {:.2f}x</title></circle>\n",
                           record->algebra ? "d2" : "d1", across(share), down(at(speedup)),
                           escaped(record->task), escaped(record->name), speedup);
    }
    return svg + axisX("correct candidates, slowest first, over " + nameOfStock(over)) + "</svg>\n";
}

std::string phasesTable(const Summary &summary) {
    double whole = 0;
    for (const auto &[phase, seconds] : summary.phases)
        whole += seconds;
    if (whole <= 0)
        return {};
    std::vector<std::pair<std::string, double>> sorted(summary.phases.begin(),
                                                       summary.phases.end());
    std::ranges::sort(sorted, std::greater<>(), &std::pair<std::string, double>::second);
    std::string html = "<table class=\"phases\">\n";
    for (const auto &[phase, seconds] : sorted)
        html += fmt::format("<tr><td>{}</td><td class=\"n\">{:.1f} s</td><td class=\"n\">{:.1f} "
                            "%</td><td><div class=\"bar\" style=\"width:{:.1f}%\"></div></td>"
                            "</tr>\n",
                            escaped(phase), seconds, 100 * seconds / whole, 100 * seconds / whole);
    return html + "</table>\n";
}

} // namespace cuda_agent::bench
