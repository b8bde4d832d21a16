// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/trace/trace_finder.h"

#include <QElapsedTimer>

#include <algorithm>
#include <array>

namespace cuda_agent::widgets {

namespace {

constexpr qint64 sliceMs = 8;
/// Bytes searched between two looks at the clock.
constexpr std::size_t piece = 1 << 20;

constexpr std::array<unsigned char, 256> makeFold() {
    std::array<unsigned char, 256> fold{};
    for (std::size_t i = 0; i < fold.size(); ++i)
        fold[i] = static_cast<unsigned char>(i >= 'A' && i <= 'Z' ? i - 'A' + 'a' : i);
    return fold;
}
constexpr auto fold = makeFold();
unsigned char folded(char c) {
    return fold[static_cast<unsigned char>(c)];
}

} // namespace

std::string foldCase(std::string_view text) {
    std::string result(text);
    for (char &c : result)
        c = static_cast<char>(folded(c));
    return result;
}

std::size_t findFolded(std::string_view text, std::string_view needle, std::size_t from,
                       std::size_t limit) {
    if (needle.empty() || text.size() < needle.size())
        return std::string_view::npos;
    // Horspool: the last byte under the needle says how far it may be moved.
    std::array<std::size_t, 256> skip;
    skip.fill(needle.size());
    for (std::size_t i = 0; i + 1 < needle.size(); ++i)
        skip[folded(needle[i])] = needle.size() - 1 - i;
    const std::size_t last = std::min(limit, text.size() - needle.size() + 1);
    for (std::size_t at = from; at < last;) {
        const unsigned char tail = folded(text[at + needle.size() - 1]);
        if (tail == static_cast<unsigned char>(needle.back()) &&
            std::equal(needle.begin(), needle.end() - 1, text.begin() + std::ptrdiff_t(at),
                       [](char a, char b) { return static_cast<unsigned char>(a) == folded(b); }))
            return at;
        at += skip[tail];
    }
    return std::string_view::npos;
}

TraceFinder::TraceFinder(TraceModel *model, QObject *parent) : QObject(parent), model_(model) {
    timer_.setInterval(0);
    connect(&timer_, &QTimer::timeout, this, &TraceFinder::work);
    connect(model, &QAbstractItemModel::rowsInserted, this, &TraceFinder::start);
    connect(model, &QAbstractItemModel::rowsRemoved, this,
            [this](const QModelIndex &, int first) { forgetFrom(first); });
    connect(model, &QAbstractItemModel::modelReset, this, [this] { forgetFrom(0); });
    connect(model, &QAbstractItemModel::dataChanged, this,
            [this](const QModelIndex &, const QModelIndex &last, const QList<int> &roles) {
                // Words on the provisional card change; logged ones never do.
                if (roles.contains(TraceModel::TextRole))
                    forgetFrom(last.row());
            });
}

void TraceFinder::setPattern(const QString &pattern) {
    pattern_ = pattern;
    needle_ = foldCase(pattern.toStdString());
    forgetFrom(0);
    emit changed();
}

std::pair<int, int> TraceFinder::matchesOf(int row) const {
    const auto before = [](const Match &match, int at) { return match.row < at; };
    const auto first = std::lower_bound(matches_.begin(), matches_.end(), row, before);
    const auto end = std::lower_bound(first, matches_.end(), row + 1, before);
    return {int(first - matches_.begin()), int(end - matches_.begin())};
}

void TraceFinder::forgetFrom(int row) {
    bool fewer = false;
    if (row <= row_) {
        row_ = row;
        byte_ = 0;
        const std::size_t kept = std::size_t(matchesOf(row).first);
        fewer = kept < matches_.size();
        matches_.resize(kept);
    }
    start();
    if (fewer)
        emit changed();
}

void TraceFinder::start() {
    if (needle_.empty() || row_ >= model_->rowCount() || matches_.size() >= most)
        timer_.stop();
    else if (!timer_.isActive())
        timer_.start();
}

void TraceFinder::work() {
    QElapsedTimer clock;
    clock.start();
    while (row_ < model_->rowCount() && matches_.size() < most && clock.elapsed() < sliceMs) {
        if (searchSome(row_)) {
            ++row_;
            byte_ = 0;
        }
    }
    start();
    emit changed();
}

/// A piece of a row; true when the row is through.
bool TraceFinder::searchSome(int row) {
    const Card card = model_->card(row);
    const auto search = [&](std::string_view text, bool title, std::size_t from,
                            std::size_t limit) {
        std::size_t at = from;
        while ((at = findFolded(text, needle_, at, limit)) != std::string_view::npos) {
            if (matches_.size() >= most)
                return limit;
            matches_.push_back({row, title, at, at + needle_.size()});
            at += needle_.size();
        }
        // The next piece begins behind a match that reaches into it.
        const bool reaches = !matches_.empty() && matches_.back().row == row &&
                             matches_.back().title == title && matches_.back().end > limit;
        return reaches ? matches_.back().end : limit;
    };
    if (byte_ == 0) {
        const std::string title = card.title.toStdString();
        search(title, true, 0, title.size());
    }
    const std::string_view body = card.body();
    byte_ = search(body, false, byte_, std::min(body.size(), byte_ + piece));
    return byte_ >= body.size();
}

} // namespace cuda_agent::widgets
