// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/planner/strip_writer.h"

namespace cuda_agent::policy {

namespace {

/// One thread does a whole row, or a part of it, or a strip of neighbouring rows, in plain loops:
/// what a CPU compiler turns into vector instructions. No barriers, no exchange between threads.
/// Elements of a column that are added up before their sum joins the others.
constexpr std::int64_t stripTile = 32;

class LoopWriter : public StripWriter {
  public:
    using StripWriter::StripWriter;

  protected:
    void writeForm() override {
        const bool partial = g_.hasReductions() && s_.parts > 1;
        beginKernel(partial ? "_partial" : "", s_.threads);
        prologue();
        keepValues();
        for (std::size_t pass = 0; pass < passes_.size(); ++pass) {
            sweep(pass);
            if (partial) {
                handOver(pass);
                endKernel(launch());
                combineByThreads(pass, 16, false);
                return;
            }
            publishResults(pass, fmt::format("state{}{}", pass, rowSubscript()));
        }
        if (!rowStores().empty())
            storeRows();
        const std::vector<int> stores = elementStores();
        if (!stores.empty()) {
            hoist(storeRoots(stores));
            storeElements(stores);
        }
        endKernel(launch());
    }

    int lanes() const override {
        const bool wide =
            !strip() && !elementDims_.empty() && n_.dims[elementDims_.back()].size >= 2 * laneCount;
        return wide ? laneCount : 0;
    }

    void forElements(const std::vector<int> &, const std::vector<int> &,
                     const std::function<void()> &body) override {
        const std::size_t last = elementDims_.size();
        for (std::size_t k = firstTileLoop_; k + (inLanes_ ? 1 : 0) < last; ++k)
            openLoop(k);
        if (inLanes_)
            forLaneElements(body);
        else
            inScope(body);
        for (std::size_t k = last - (inLanes_ ? 1 : 0); k-- > firstTileLoop_;) {
            close();
            coordinates_[elementDims_[k]].clear();
        }
    }

  private:
    /// Two of the widest vectors: as many running results as keep a processor busy.
    static constexpr int laneCount = 32;

    void inScope(const std::function<void()> &body) {
        push();
        if (strip())
            forRowsInHand(body);
        else
            body();
        pop();
    }

    /// The innermost loop in strips of one element a lane, and what is left of it.
    void forLaneElements(const std::function<void()> &body) {
        const std::size_t k = elementDims_.size() - 1;
        const auto [name, from, to] = loopRange(k);
        const std::string strip = name + "Strip";
        coordinates_[elementDims_[k]] = name;
        open("");
        line(fmt::format("{} {} = {};", indexType_, strip, from));
        open(fmt::format("for (; {0} + {1} <= {2}; {0} += {1})", strip, laneCount, to));
        open(fmt::format("for (int lane = 0; lane < {}; ++lane)", laneCount));
        line(fmt::format("const {} {} = {} + lane;", indexType_, name, strip));
        inScope(body);
        close();
        close();
        open(fmt::format("for (int lane = 0; {} + lane < {}; ++lane)", strip, to));
        line(fmt::format("const {} {} = {} + lane;", indexType_, name, strip));
        inScope(body);
        close();
        close();
        coordinates_[elementDims_[k]].clear();
    }

    struct Range {
        std::string name, from, to;
    };
    Range loopRange(std::size_t k) {
        const int d = elementDims_[k];
        const std::string name = elementDims_.size() == 1 ? "i" : fmt::format("i{}", k);
        if (tiled_ && k + 1 == elementDims_.size())
            return {name, "tile", "tileEnd"};
        if (k == 0 && parted())
            return {name, "begin", "end"};
        return {name, "0", k == 0 ? outerText() : std::to_string(n_.dims[d].size)};
    }

    /// The position in the row, or in the rows of a strip, for arrays that hold them.
    std::string flatElement() const {
        std::vector<std::pair<std::string, std::int64_t>> terms;
        std::int64_t stride = strip() ? s_.chunk : 1;
        for (std::size_t k = elementDims_.size(); k-- > 0;) {
            terms.emplace_back(coordinates_[elementDims_[k]], stride);
            stride *= n_.dims[elementDims_[k]].size;
        }
        if (strip())
            terms.emplace_back("e", 1);
        return sumOf(terms);
    }
    std::string flatElementName() {
        for (std::size_t k = 0; k < elementDims_.size(); ++k)
            coordinates_[elementDims_[k]] = elementDims_.size() == 1 ? "i" : fmt::format("i{}", k);
        std::string text = flatElement();
        for (const int d : elementDims_)
            coordinates_[d].clear();
        return text;
    }

    /// What several sweeps need and is costly goes into an array of the thread's own.
    void keepValues() {
        constexpr std::int64_t longest = 8192;
        const std::int64_t room = n_.elements() * (strip() ? s_.chunk : 1);
        if (parted() || openLength() || room > longest || passes_.empty())
            return;
        std::vector<int> kept = keptValues();
        if (kept.empty() || static_cast<std::int64_t>(kept.size()) * room > 2 * longest)
            return;
        hoist(kept);
        std::map<int, std::string> names;
        for (const int id : kept) {
            names[id] = nameFor(id, true);
            line(fmt::format("{} {}[{}];", scalarType(p_.values[id].dtype), names[id], room));
        }
        forElements(kept, {}, [&] {
            for (const int id : kept)
                line(fmt::format("{}[{}] = {};", names[id], flatElement(), valueOf(id)));
        });
        const std::string at = flatElementName();
        for (const int id : kept)
            remember(id, fmt::format("{}[{}]", names[id], at));
    }

    std::int64_t inner() const { // elements below the outermost element loop
        return elementDims_.empty() ? 1 : n_.elements() / n_.dims[elementDims_[0]].size;
    }
    /// A part is a range of the outermost element loop.
    std::int64_t partLength() const {
        const std::int64_t outer = n_.dims[elementDims_[0]].size;
        if (s_.parts == 0)
            return std::max<std::int64_t>(1, s_.chunk / inner());
        return (outer + s_.parts - 1) / s_.parts;
    }
    bool parted() const { return s_.parts != 1 && !elementDims_.empty(); }

    std::string outerText() {
        const NestDim &dim = n_.dims[elementDims_[0]];
        return openLength() ? sizeParameter(dim.expression, "n") : std::to_string(dim.size);
    }

    void openLoop(std::size_t k) {
        const auto [name, from, to] = loopRange(k);
        coordinates_[elementDims_[k]] = name;
        open(fmt::format("for ({0} {1} = {2}; {1} < {3}; ++{1})", indexType_, name, from, to));
    }

    void prologue() {
        const auto [roots, stores] = workOf(g_.hasReductions() && s_.parts > 1);
        bufferParameters(roots, stores);
        line("const long long thread = (long long)blockIdx.x * blockDim.x + threadIdx.x;");
        const std::string work = sizeParameter(workExpression(), "work");
        line(fmt::format("if (thread >= {})", work));
        line("    return;");
        std::string unit = "thread";
        if (parted()) {
            const std::string parts = partsText();
            line(fmt::format("const long long part = {};",
                             rowDims_.empty() ? "thread" : "thread % " + parts));
            if (!rowDims_.empty())
                unit = "thread / " + parts;
            line(fmt::format("const {0} begin = ({0})part * {1};", indexType_, partLength()));
            line(fmt::format("const {0} end = begin + {1} < {2} ? begin + {1} : ({0}){2};",
                             indexType_, partLength(), outerText()));
        }
        if (strip()) {
            const std::int64_t last = n_.dims[rowDims_.back()].size;
            const bool open = n_.runtimeOuter && rowDims_.size() == 1;
            const std::string size =
                open ? sizeParameter(n_.rowsExpression(), "rows") : std::to_string(last);
            const std::int64_t strips = (last + s_.chunk - 1) / s_.chunk;
            line(fmt::format("const long long strip = {};", unit));
            if (rowDims_.size() == 1) {
                line(fmt::format("const long long first = strip * {};", s_.chunk));
            } else {
                line(fmt::format("const long long first = strip % {} * {};", strips, s_.chunk));
                std::string rest = fmt::format("strip / {}", strips);
                for (std::size_t i = rowDims_.size() - 1; i-- > 0;) {
                    const std::string name = fmt::format("k{}", i);
                    line(fmt::format(
                        "const long long {} = {};", name,
                        i == 0 ? rest : fmt::format("{} % {}", rest, n_.dims[rowDims_[i]].size)));
                    coordinates_[rowDims_[i]] = name;
                    rest = fmt::format("{} / {}", rest, n_.dims[rowDims_[i]].size);
                }
            }
            coordinates_[rowDims_.back()] = "first";
            line(fmt::format("const int width = (int)({0} - first < {1} ? {0} - first : {1});",
                             size, s_.chunk));
        } else if (!rowDims_.empty()) {
            line(fmt::format("const long long row = {};", unit));
            rowCoordinates("row", "long long");
        }
        rowPointers(roots, stores);
    }

    std::string partsText() const {
        const NestDim &dim = n_.dims[elementDims_[0]];
        if (s_.parts != 0)
            return std::to_string(s_.parts);
        return fmt::format("{}", (dim.size + partLength() - 1) / partLength());
    }

    /// Number of threads that have something to do.
    std::string workExpression() const {
        std::string rows = n_.rowsExpression();
        if (strip()) {
            const std::int64_t last = n_.dims[rowDims_.back()].size;
            const std::int64_t strips = (last + s_.chunk - 1) / s_.chunk;
            if (rowDims_.size() == 1)
                rows = fmt::format("cdiv({}, {})", rows, s_.chunk);
            else if (n_.runtimeOuter && !n_.dims[0].element)
                rows = fmt::format("{} * {}", n_.dims[0].expression,
                                   n_.rows() / n_.dims[0].size / last * strips);
            else
                rows = std::to_string(n_.rows() / last * strips);
        }
        if (!parted())
            return rows;
        if (s_.parts != 0)
            return fmt::format("{} * {}", rows, s_.parts);
        const std::string parts =
            openLength() ? fmt::format("cdiv({}, {})", n_.dims[0].expression, partLength())
                         : partsText();
        return rows == "1" ? parts : fmt::format("{} * {}", rows, parts);
    }

    void sweep(std::size_t pass) {
        hoist(passRoots(pass));
        declareStates(pass);
        push();
        // Long rows go in tiles that stay in the nearest cache; their sums are summed. Columns are
        // added one element after the other, so theirs are short for the sake of the rounding.
        std::int64_t length = n_.elements();
        if (parted())
            length = partLength() * inner();
        const std::int64_t tileLength = strip() ? stripTile : s_.chunk;
        const bool tiles = !elementDims_.empty() && length > tileLength;
        if (tiles) {
            const std::size_t last = elementDims_.size() - 1;
            for (std::size_t k = 0; k < last; ++k)
                openLoop(k);
            const std::int64_t size = n_.dims[elementDims_[last]].size;
            const bool whole = last == 0;
            const std::string from = whole && parted() ? "begin" : "0";
            const std::string to = whole ? (parted() ? "end" : outerText()) : std::to_string(size);
            open(fmt::format("for ({0} tile = {1}; tile < {2}; tile += {3})", indexType_, from, to,
                             tileLength));
            line(fmt::format("const {0} tileEnd = tile + {1} < {2} ? tile + {1} : ({0}){2};",
                             indexType_, tileLength, to));
            firstTileLoop_ = last;
            tiled_ = true;
        } else {
            open("");
        }
        tileReductions(pass, tiles);
        close();
        if (tiles) {
            for (std::size_t k = 0; k + 1 < elementDims_.size(); ++k) {
                close();
                coordinates_[elementDims_[k]].clear();
            }
            firstTileLoop_ = 0;
            tiled_ = false;
        }
        pop();
    }

    void handOver(std::size_t pass) {
        const std::string name = declarePartials(pass);
        if (!strip()) {
            line(fmt::format("{}[{}part] = state{};", name,
                             rowDims_.empty() ? "" : fmt::format("row * {} + ", s_.parts), pass));
            return;
        }
        forRowsInHand([&] {
            line(fmt::format("{}[({}) * {} + part] = state{}[e];", name, flatRow("first + e"),
                             s_.parts, pass));
        });
    }

    /// The flat row number from the coordinates, with this one innermost.
    std::string flatRow(const std::string &innermost) const {
        std::vector<std::pair<std::string, std::int64_t>> terms;
        std::int64_t stride = 1;
        for (std::size_t i = rowDims_.size(); i-- > 0;) {
            const bool last = i + 1 == rowDims_.size();
            terms.emplace_back(last ? innermost : coordinates_[rowDims_[i]], stride);
            stride *= n_.dims[rowDims_[i]].size;
        }
        return sumOf(terms);
    }

    Launch launch() const {
        Launch result;
        result.block[0] = s_.threads;
        result.grid[0] = fmt::format("cdiv({}, {})", workExpression(), s_.threads);
        return result;
    }

    bool tiled_ = false;
    std::size_t firstTileLoop_ = 0;
};

} // namespace

std::unique_ptr<KernelWriter> makeLoopWriter(const Program &p, const Group &g, const Nest &n,
                                             const Schedule &s, const std::string &name) {
    return std::make_unique<LoopWriter>(p, g, n, s, name);
}

} // namespace cuda_agent::policy
