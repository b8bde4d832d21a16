// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/diff/diff.h"

#include <algorithm>
#include <limits>
#include <string>
#include <unordered_map>

namespace cuda_agent::widgets {

namespace {

/// Marks the symbols of two sequences that are not in their longest common subsequence.
class Myers {
  public:
    Myers(std::span<const int> a, std::span<const int> b, int mostEdits)
        : a_(a), b_(b), mostEdits_(std::max(mostEdits, 1)), removed(a.size(), 0),
          added(b.size(), 0), origin_(static_cast<int>(b.size()) + 1),
          forward_(a.size() + b.size() + 3), backward_(forward_.size()) {}

    void run() { compare(0, static_cast<int>(a_.size()), 0, static_cast<int>(b_.size())); }

  private:
    struct Point {
        int x;
        int y;
    };

    // The diagonal x - y runs from -|B| to |A|, and one is looked at beyond each end.
    int &forward(int diagonal) { return forward_[static_cast<std::size_t>(diagonal + origin_)]; }
    int &backward(int diagonal) { return backward_[static_cast<std::size_t>(diagonal + origin_)]; }
    bool same(int x, int y) const {
        return a_[static_cast<std::size_t>(x)] == b_[static_cast<std::size_t>(y)];
    }

    void compare(int beginA, int endA, int beginB, int endB) {
        for (;;) { // the second half is the next round: the depth stays small
            while (beginA < endA && beginB < endB && same(beginA, beginB)) {
                ++beginA;
                ++beginB;
            }
            while (beginA < endA && beginB < endB && same(endA - 1, endB - 1)) {
                --endA;
                --endB;
            }
            if (beginA == endA || beginB == endB) {
                std::fill(removed.begin() + beginA, removed.begin() + endA, 1);
                std::fill(added.begin() + beginB, added.begin() + endB, 1);
                return;
            }
            const Point middle = split(beginA, endA, beginB, endB);
            compare(beginA, middle.x, beginB, middle.y);
            beginA = middle.x;
            beginB = middle.y;
        }
    }

    /// A point on a shortest path, where the paths from both ends meet; or, when they have not met
    /// after `mostEdits_` steps, the point that came furthest.
    Point split(int beginA, int endA, int beginB, int endB) {
        const int lowest = beginA - endB;
        const int highest = endA - beginB;
        const int startF = beginA - beginB;
        const int startB = endA - endB;
        const bool odd = ((startF - startB) & 1) != 0;
        int lowF = startF, highF = startF, lowB = startB, highB = startB;
        forward(startF) = beginA;
        backward(startB) = endA;
        for (int edits = 1;; ++edits) {
            if (lowF > lowest)
                forward(--lowF - 1) = -1;
            else
                ++lowF;
            if (highF < highest)
                forward(++highF + 1) = -1;
            else
                --highF;
            for (int k = highF; k >= lowF; k -= 2) {
                int x = std::max(forward(k - 1) + 1, forward(k + 1));
                int y = x - k;
                while (x < endA && y < endB && same(x, y)) {
                    ++x;
                    ++y;
                }
                forward(k) = x;
                if (odd && lowB <= k && k <= highB && backward(k) <= x)
                    return {x, y};
            }
            if (lowB > lowest)
                backward(--lowB - 1) = far;
            else
                ++lowB;
            if (highB < highest)
                backward(++highB + 1) = far;
            else
                --highB;
            for (int k = highB; k >= lowB; k -= 2) {
                int x = std::min(backward(k - 1), backward(k + 1) - 1);
                int y = x - k;
                while (x > beginA && y > beginB && same(x - 1, y - 1)) {
                    --x;
                    --y;
                }
                backward(k) = x;
                if (!odd && lowF <= k && k <= highF && x <= forward(k))
                    return {x, y};
            }
            if (edits < mostEdits_)
                continue;
            // Too different: go on from where one of the two came furthest.
            Point bestF{beginA, beginB}, bestB{endA, endB};
            for (int k = highF; k >= lowF; k -= 2) {
                const int x = std::min({forward(k), endA, endB + k});
                if (x - k >= beginB && x >= beginA && x + x - k > bestF.x + bestF.y)
                    bestF = {x, x - k};
            }
            for (int k = highB; k >= lowB; k -= 2) {
                const int x = std::max({backward(k), beginA, beginB + k});
                if (x - k <= endB && x <= endA && x + x - k < bestB.x + bestB.y)
                    bestB = {x, x - k};
            }
            const int doneF = bestF.x - beginA + bestF.y - beginB;
            const int doneB = endA - bestB.x + endB - bestB.y;
            return doneF >= doneB ? bestF : bestB;
        }
    }

    static constexpr int far = std::numeric_limits<int>::max() / 2;
    std::span<const int> a_;
    std::span<const int> b_;
    int mostEdits_;

  public:
    std::vector<char> removed;
    std::vector<char> added;

  private:
    int origin_;
    std::vector<int> forward_;
    std::vector<int> backward_;
};

/// Symbols of one side that the other has too, and where they were. Symbols that only one side has
/// are in no common subsequence, so that leaving them out first makes very different texts cheap.
struct Shared {
    std::vector<int> symbols;
    std::vector<int> places;
};
Shared shared(std::span<const int> own, const std::unordered_map<int, int> &other) {
    Shared result;
    for (std::size_t i = 0; i < own.size(); ++i) {
        if (other.contains(own[i])) {
            result.symbols.push_back(own[i]);
            result.places.push_back(static_cast<int>(i));
        }
    }
    return result;
}

std::unordered_map<int, int> countsOf(std::span<const int> symbols) {
    std::unordered_map<int, int> counts;
    counts.reserve(symbols.size());
    for (const int symbol : symbols)
        ++counts[symbol];
    return counts;
}

std::vector<DiffBlock> blocksOf(const std::vector<char> &removed, const std::vector<char> &added) {
    std::vector<DiffBlock> blocks;
    const int countA = static_cast<int>(removed.size());
    const int countB = static_cast<int>(added.size());
    const auto at = [](const std::vector<char> &flags, int i) {
        return flags[static_cast<std::size_t>(i)] != 0;
    };
    for (int a = 0, b = 0; a < countA || b < countB;) {
        DiffBlock block{a, a, b, b};
        while (block.endA < countA && at(removed, block.endA))
            ++block.endA;
        while (block.endB < countB && at(added, block.endB))
            ++block.endB;
        if (block.endA > block.beginA || block.endB > block.beginB)
            blocks.push_back(block);
        a = block.endA + 1; // past the equal pair behind the block
        b = block.endB + 1;
    }
    return blocks;
}

/// Moves pure insertions and deletions down as far as they go without reaching the next block: an
/// added function then ends with its own brace and not with that of the one before.
void slideDown(std::vector<DiffBlock> &blocks, std::span<const int> a, std::span<const int> b) {
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        DiffBlock &block = blocks[i];
        const bool insertion = block.beginA == block.endA;
        if (!insertion && block.beginB != block.endB)
            continue;
        const bool last = i + 1 == blocks.size();
        const int stopA = last ? static_cast<int>(a.size()) : blocks[i + 1].beginA - 1;
        const int stopB = last ? static_cast<int>(b.size()) : blocks[i + 1].beginB - 1;
        const std::span<const int> own = insertion ? b : a;
        const int &begin = insertion ? block.beginB : block.beginA;
        const int &end = insertion ? block.endB : block.endA;
        while (block.endA < stopA && block.endB < stopB &&
               own[static_cast<std::size_t>(begin)] == own[static_cast<std::size_t>(end)]) {
            ++block.beginA, ++block.endA;
            ++block.beginB, ++block.endB;
        }
    }
}

enum class Kind { word, space, other };
Kind kindOf(char16_t c) {
    if ((c >= u'a' && c <= u'z') || (c >= u'A' && c <= u'Z') || (c >= u'0' && c <= u'9') ||
        c == u'_' || c >= 0x80)
        return Kind::word;
    return c == u' ' || c == u'\t' ? Kind::space : Kind::other;
}

std::vector<std::u16string_view> wordsOf(std::u16string_view line) {
    std::vector<std::u16string_view> words;
    for (std::size_t begin = 0; begin < line.size();) {
        const Kind kind = kindOf(line[begin]);
        std::size_t end = begin + 1;
        while (kind != Kind::other && end < line.size() && kindOf(line[end]) == kind)
            ++end;
        words.push_back(line.substr(begin, end - begin));
        begin = end;
    }
    return words;
}

/// Numbers texts so that equal ones have equal numbers.
class Numbering {
  public:
    std::vector<int> of(std::span<const std::u16string_view> texts) {
        std::vector<int> numbers;
        numbers.reserve(texts.size());
        for (const auto text : texts)
            numbers.push_back(
                known_.try_emplace(text, static_cast<int>(known_.size())).first->second);
        return numbers;
    }

  private:
    std::unordered_map<std::u16string_view, int> known_;
};

/// Sorted hashes of the first words of a line without spaces.
std::vector<std::size_t> signatureOf(std::u16string_view line) {
    std::vector<std::size_t> hashes;
    for (const auto word : wordsOf(line)) {
        if (hashes.size() < 200 && kindOf(word.front()) != Kind::space)
            hashes.push_back(std::hash<std::u16string_view>{}(word));
    }
    std::sort(hashes.begin(), hashes.end());
    return hashes;
}

/// Share of words that two lines have in common, 0 to 1.
double likeness(const std::vector<std::size_t> &a, const std::vector<std::size_t> &b) {
    if (a.empty() || b.empty())
        return a.empty() && b.empty() ? 1 : 0;
    std::size_t common = 0;
    for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
        if (a[i] == b[j]) {
            ++common, ++i, ++j;
        } else if (a[i] < b[j]) {
            ++i;
        } else {
            ++j;
        }
    }
    return 2.0 * double(common) / double(a.size() + b.size());
}

constexpr double alike = 0.4; ///< from here on two lines are versions of one

/// Pairs of lines of a block, ascending, with the greatest sum of likeness.
std::vector<std::pair<int, int>> pairsOf(std::span<const std::u16string_view> a,
                                         std::span<const std::u16string_view> b,
                                         const DiffBlock &block) {
    const int countA = block.endA - block.beginA;
    const int countB = block.endB - block.beginB;
    std::vector<std::pair<int, int>> pairs;
    if (countA == 0 || countB == 0)
        return pairs;
    if (static_cast<long long>(countA) * countB > 40'000) {
        for (int i = 0; i < std::min(countA, countB); ++i)
            pairs.emplace_back(block.beginA + i, block.beginB + i);
        return pairs;
    }
    std::vector<std::vector<std::size_t>> wordsA, wordsB;
    for (int i = block.beginA; i < block.endA; ++i)
        wordsA.push_back(signatureOf(a[static_cast<std::size_t>(i)]));
    for (int i = block.beginB; i < block.endB; ++i)
        wordsB.push_back(signatureOf(b[static_cast<std::size_t>(i)]));
    const auto at = [&](int i, int j) { return static_cast<std::size_t>(i * (countB + 1) + j); };
    std::vector<double> best(at(countA, countB) + 1, 0); // of the lines from i and j on
    std::vector<char> taken(best.size(), 0);
    for (int i = countA - 1; i >= 0; --i) {
        for (int j = countB - 1; j >= 0; --j) {
            double &here = best[at(i, j)];
            here = std::max(best[at(i + 1, j)], best[at(i, j + 1)]);
            const double like =
                likeness(wordsA[static_cast<std::size_t>(i)], wordsB[static_cast<std::size_t>(j)]);
            if (like >= alike && like + best[at(i + 1, j + 1)] >= here) {
                here = like + best[at(i + 1, j + 1)];
                taken[at(i, j)] = 1;
            }
        }
    }
    for (int i = 0, j = 0; i < countA && j < countB;) {
        if (taken[at(i, j)]) {
            pairs.emplace_back(block.beginA + i++, block.beginB + j++);
        } else if (best[at(i + 1, j)] >= best[at(i, j + 1)]) {
            ++i;
        } else {
            ++j;
        }
    }
    return pairs;
}

} // namespace

std::vector<DiffBlock> diffSymbols(std::span<const int> a, std::span<const int> b, int mostEdits) {
    std::size_t begin = 0;
    while (begin < a.size() && begin < b.size() && a[begin] == b[begin])
        ++begin;
    std::size_t end = 0;
    while (end < a.size() - begin && end < b.size() - begin &&
           a[a.size() - 1 - end] == b[b.size() - 1 - end])
        ++end;
    const auto middleA = a.subspan(begin, a.size() - begin - end);
    const auto middleB = b.subspan(begin, b.size() - begin - end);
    const Shared sharedA = shared(middleA, countsOf(middleB));
    const Shared sharedB = shared(middleB, countsOf(middleA));
    Myers myers(sharedA.symbols, sharedB.symbols, mostEdits);
    myers.run();

    std::vector<char> removed(a.size(), 0), added(b.size(), 0);
    const auto mark = [begin](std::vector<char> &flags, std::size_t count, const Shared &side,
                              const std::vector<char> &changed) {
        const auto first = flags.begin() + static_cast<std::ptrdiff_t>(begin);
        std::fill(first, first + static_cast<std::ptrdiff_t>(count), 1);
        for (std::size_t i = 0; i < changed.size(); ++i)
            first[side.places[i]] = changed[i];
    };
    mark(removed, middleA.size(), sharedA, myers.removed);
    mark(added, middleB.size(), sharedB, myers.added);
    std::vector<DiffBlock> blocks = blocksOf(removed, added);
    slideDown(blocks, a, b);
    return blocks;
}

std::vector<std::u16string_view> linesOf(std::u16string_view text) {
    std::vector<std::u16string_view> lines;
    while (!text.empty()) {
        const std::size_t end = text.find(u'\n');
        std::u16string_view line = text.substr(0, end);
        text.remove_prefix(end == text.npos ? text.size() : end + 1);
        if (!line.empty() && line.back() == u'\r')
            line.remove_suffix(1);
        lines.push_back(line);
    }
    return lines;
}

std::vector<DiffBlock> diffLines(std::span<const std::u16string_view> a,
                                 std::span<const std::u16string_view> b, int mostEdits) {
    Numbering numbering;
    const std::vector<int> numbersA = numbering.of(a);
    return diffSymbols(numbersA, numbering.of(b), mostEdits);
}

std::vector<DiffRow> alignRows(std::span<const std::u16string_view> a,
                               std::span<const std::u16string_view> b,
                               std::span<const DiffBlock> blocks) {
    std::vector<DiffRow> rows;
    rows.reserve(std::max(a.size(), b.size()));
    int lineA = 0, lineB = 0;
    const auto equalUntil = [&](int end) {
        while (lineA < end)
            rows.push_back({lineA++, lineB++, -1});
    };
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        const DiffBlock &block = blocks[i];
        const int number = static_cast<int>(i);
        equalUntil(block.beginA);
        const auto alone = [&](int endA, int endB) {
            while (lineA < endA)
                rows.push_back({lineA++, -1, number});
            while (lineB < endB)
                rows.push_back({-1, lineB++, number});
        };
        for (const auto &[pairA, pairB] : pairsOf(a, b, block)) {
            alone(pairA, pairB);
            rows.push_back({lineA++, lineB++, number});
        }
        alone(block.endA, block.endB);
    }
    equalUntil(static_cast<int>(a.size()));
    return rows;
}

std::vector<DiffBlock> diffInLine(std::u16string_view a, std::u16string_view b) {
    const std::vector<std::u16string_view> wordsA = wordsOf(a), wordsB = wordsOf(b);
    if (a == b)
        return {};
    const DiffBlock whole{0, static_cast<int>(a.size()), 0, static_cast<int>(b.size())};
    if (likeness(signatureOf(a), signatureOf(b)) < alike)
        return {whole};
    Numbering numbering;
    const std::vector<int> numbersA = numbering.of(wordsA);
    std::vector<DiffBlock> blocks = diffSymbols(numbersA, numbering.of(wordsB), 64);
    const auto place = [](const std::vector<std::u16string_view> &words, std::u16string_view line,
                          int word) {
        const auto at = static_cast<std::size_t>(word);
        return at < words.size() ? static_cast<int>(words[at].data() - line.data())
                                 : static_cast<int>(line.size());
    };
    for (DiffBlock &block : blocks) {
        block = {place(wordsA, a, block.beginA), place(wordsA, a, block.endA),
                 place(wordsB, b, block.beginB), place(wordsB, b, block.endB)};
    }
    return blocks;
}

} // namespace cuda_agent::widgets
