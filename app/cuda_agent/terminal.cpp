// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/cuda_agent/terminal.h"

#include <algorithm>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace cuda_agent::app {

namespace {

constexpr int barWidth = 24;

std::size_t columnsOf(std::FILE *file) {
    winsize size{};
    return ::ioctl(::fileno(file), TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col : 80;
}

} // namespace

std::string spanText(double seconds) {
    const auto whole = static_cast<long>(seconds + 0.5);
    if (whole < 60)
        return fmt::format("{} s", whole);
    if (whole < 3600)
        return fmt::format("{} min {:02} s", whole / 60, whole % 60);
    return fmt::format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
}

Terminal::Terminal(std::FILE *out) : out_(out), interactive_(::isatty(::fileno(out)) != 0) {}

Terminal::~Terminal() {
    clear();
}

void Terminal::clear() {
    if (!shown_)
        return;
    fmt::print(out_, "\r\x1b[K");
    std::fflush(out_);
    shown_ = false;
}

void Terminal::line(const std::string &text) {
    clear();
    fmt::print(out_, "{}\n", text);
    std::fflush(out_);
}

void Terminal::bar(std::size_t done, std::size_t all, const std::string &text) {
    if (!interactive_)
        return;
    const double share = std::min(1.0, static_cast<double>(done) /
                                           static_cast<double>(std::max<std::size_t>(1, all)));
    const int full = static_cast<int>(share * barWidth);
    std::string shown = fmt::format("[{:#<{}}{:.<{}}] {}", "", full, "", barWidth - full, text);
    if (const auto columns = columnsOf(out_); shown.size() >= columns)
        shown.resize(columns - 1);
    clear();
    fmt::print(out_, "{}", shown);
    std::fflush(out_);
    shown_ = true;
}

} // namespace cuda_agent::app
