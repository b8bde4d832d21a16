// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/planner/runs.h"
#include "core/policy/planner/shared_loop.h"
#include "core/policy/planner/vector_writer.h"

#include <bit>

namespace cuda_agent::policy {

namespace {

/// Rows whose elements lie next to each other: a team of threads walks along the row in vectors.
class RowWriter : public VectorWriter {
  public:
    using VectorWriter::VectorWriter;

  protected:
    void writeForm() override {
        const bool partial = isPartial();
        beginKernel(partial ? "_partial" : "", s_.threads, s_.resident > 1 ? s_.resident : 0);
        prologue();
        keepLoads();
        for (std::size_t pass = 0; pass < passes_.size(); ++pass) {
            sweep(pass);
            combineInBlock(pass);
            if (partial) {
                handOver(pass);
                endKernel(launch());
                writeCombine(pass);
                return;
            }
            if (s_.together && s_.parts > 1)
                meetOtherBlocks(pass);
            publishResults(pass, fmt::format("state{}", pass));
        }
        if (below_ >= 0) {
            // What two rows read is read once, as compilers see by the constants between them.
            line("#pragma unroll");
            open(fmt::format("for (int h = 0; h < {}; ++h)", s_.rowsEach));
        }
        finish();
        if (below_ >= 0)
            close();
        endKernel(launch());
    }

    std::string elementOffset(const Access &access) override {
        const std::string element = offsetInRow(access);
        const std::int64_t step = below_ < 0 ? 0 : access.strides[below_];
        if (step == 0)
            return element;
        return fmt::format("{}h * {}", element == "0" ? "" : element + " + ", step);
    }

    std::string offsetInRow(const Access &access) {
        if (const auto stride = n_.elementStride(access)) {
            if (*stride == 0)
                return "0";
            const std::string position = inVector_ ? "(i + e)" : "i";
            return *stride == 1 ? (inVector_ ? "i + e" : "i")
                                : fmt::format("{} * {}", position, *stride);
        }
        std::vector<std::pair<std::string, std::int64_t>> terms;
        for (const int d : elementDims_)
            terms.emplace_back(coordinates_[d], access.strides[d]);
        if (inVector_ && !n_.crossing)
            terms.emplace_back("e", access.strides[elementDims_.back()]);
        return sumOf(terms);
    }

    void forElements(const std::vector<int> &roots, const std::vector<int> &stores,
                     const std::function<void()> &body) override {
        openVector(roots, stores);
        loadVectors(roots);
        gatherVectors(stores);
        eachElement(body);
        storeVectors(s_.streaming ? "storeVectorStreaming" : "storeVector");
        closeVector();
    }

    int width() const override { return s_.vector; }
    Run runOf(const Access &access) const override {
        if (n_.crossing)
            return !n_.variesByElement(access)          ? Run::one
                   : widestRun(n_, access) >= s_.vector ? Run::beside
                                                        : Run::apart;
        const std::int64_t step = lastStride(access);
        return step == 0 ? Run::one : step == 1 && s_.vector > 1 ? Run::beside : Run::apart;
    }

  private:
    /// The loop of rows of which a thread of a map takes several; -1: it takes one.
    const int below_ = s_.rowsEach > 1 ? sharedLoopOf(p_, g_, n_).dim : -1;

    /// Whether it leaves the rest to a second kernel.
    bool isPartial() const { return g_.hasReductions() && s_.parts > 1 && !s_.together; }
    std::int64_t lastStride(const Access &access) const {
        return elementDims_.empty() ? 0 : access.strides[elementDims_.back()];
    }
    int atOnce() const { return s_.team * s_.vector; } ///< elements of a team's vectors
    std::int64_t tile() const { return static_cast<std::int64_t>(atOnce()) * s_.unroll; }
    /// `times` tiles: "7 * 256" of 7 vectors each, which nobody has to multiply.
    std::string tilesText(std::int64_t times) const {
        if (atOnce() == 1 || std::has_single_bit(static_cast<unsigned>(s_.unroll)))
            return std::to_string(times * tile());
        const auto text = fmt::format("{} * {}", s_.unroll, atOnce());
        return times == 1 ? text : fmt::format("{} * {}", times, text);
    }
    int rowsPerBlock() const { return s_.threads / s_.team; }
    bool oneTile() const { return s_.staged || s_.parts == 0; }
    bool guarded() const {
        if (openLength())
            return true;
        return s_.staged ? s_.parts * tile() != n_.elements() : n_.elements() % tile() != 0;
    }

    /// Once for each element of the vector; what it declares is of that element alone.
    void eachElement(const std::function<void()> &body) {
        if (s_.vector > 1) {
            line("#pragma unroll");
            open(fmt::format("for (int e = 0; e < {}; ++e)", s_.vector));
            inVector_ = true;
        }
        push();
        if (n_.crossing)
            emitCoordinates(placed_.roots, placed_.stores);
        body();
        pop();
        if (s_.vector > 1) {
            close();
            inVector_ = false;
        }
    }

    void openVector(const std::vector<int> &roots, const std::vector<int> &stores) {
        if (s_.unroll > 1) {
            line("#pragma unroll");
            open(fmt::format("for (int j = 0; j < {}; ++j)", inHandText()));
            line(
                fmt::format("[[maybe_unused]] const {} i = start + j * {};", indexType_, atOnce()));
        } else {
            open("");
            line(fmt::format("[[maybe_unused]] const {} i = start;", indexType_));
        }
        if (guarded())
            open(fmt::format("if (i < {})", elementsText()));
        push();
        if (n_.crossing)
            placed_ = {roots, stores};
        else
            emitCoordinates(roots, stores);
    }

    void closeVector() {
        pop();
        if (guarded())
            close();
        close();
        for (const int d : elementDims_)
            coordinates_[d].clear();
    }

    /// Positions along each loop, when something does not simply follow the row.
    void emitCoordinates(const std::vector<int> &roots, const std::vector<int> &stores) {
        bool needed = false;
        for (const int id : reachableFrom(p_, roots)) {
            const auto access = n_.accesses.find(id);
            if (access != n_.accesses.end() && recall(id) == nullptr)
                needed = needed || !n_.elementStride(access->second);
        }
        for (std::size_t pass = 0; stores.empty() && pass < passes_.size(); ++pass) {
            for (const Reducer &r : passes_[pass].reducers) {
                if (r.kind == Reducer::Kind::position)
                    needed = needed || !n_.elementStride(n_.accesses.at(r.value));
            }
        }
        for (const int store : stores)
            needed = needed || !n_.elementStride(n_.stores[store]);
        if (!needed)
            return;
        const bool narrow = inVector_ && indexType_ == "int"; // divides faster without a sign
        std::string rest = !inVector_ ? "i" : narrow ? "(unsigned)(i + e)" : "(i + e)";
        for (std::size_t k = elementDims_.size(); k-- > 0;) {
            const int d = elementDims_[k];
            const std::string size = fmt::format("{}{}", n_.dims[d].size, narrow ? "u" : "");
            const std::string name = fmt::format("r{}", k);
            coordinates_[d] = name;
            line(fmt::format("const {} {} = {};", indexType_, name,
                             k == 0      ? rest
                             : inVector_ ? fmt::format("{} % {}", rest, size)
                                         : fmt::format("({}) % {}", rest, size)));
            rest = fmt::format("{} / {}", rest, size);
        }
    }

    /// Declares arrays for loads and fills them, all vectors in flight before any is used.
    void preload(const std::vector<int> &loads) {
        std::vector<int> wanted;
        for (const int load : loads) {
            const Access &access = n_.accesses.at(load);
            if (n_.crossing ? runOf(access) == Run::beside : lastStride(access) != 0)
                wanted.push_back(load);
        }
        if (wanted.empty())
            return;
        std::map<int, std::string> names;
        for (const int load : wanted)
            names[load] = declareInHand(load);
        const std::string j = s_.unroll > 1 ? "[j]" : "";
        openVector(wanted, {});
        for (const int load : wanted) {
            const Access &access = n_.accesses.at(load);
            if (s_.vector > 1 && lastStride(access) == 1) {
                loadVector(load, names[load] + j, width());
            } else if (s_.vector > 1) {
                withPicks(p_.values[load], ""); // the same for the vector, so known before
                eachElement([&] {
                    line(fmt::format("{}{}[e] = {};", names[load], j,
                                     loadText(load, elementOffset(access))));
                });
            } else {
                line(fmt::format("{}{} = {};", names[load], j,
                                 loadText(load, elementOffset(access))));
            }
        }
        closeVector();
        for (const int load : wanted)
            remember(load, names[load] + j + (s_.vector > 1 ? "[e]" : ""));
    }

    void prologue() {
        const auto [roots, stores] = workOf(isPartial());
        bufferParameters(roots, stores);

        const std::string lane = s_.team == s_.threads
                                     ? "(int)threadIdx.x"
                                     : fmt::format("(int)threadIdx.x % {}", s_.team);
        line(fmt::format("const int lane = {};", lane));
        std::string block = "(long long)blockIdx.x";
        if (s_.parts != 1) {
            if (rowDims_.empty()) {
                line("const long long part = blockIdx.x;");
            } else {
                std::string parts = std::to_string(s_.parts);
                if (s_.parts == 0) {
                    parts = "parts";
                    declareSteps(parts, n_.elements(), tilesText(1));
                }
                line(fmt::format("const int part = blockIdx.x % {};", parts));
                block = fmt::format("blockIdx.x / {}", parts);
            }
        }
        if (!rowDims_.empty()) {
            if (rowsPerBlock() > 1) {
                const std::string rows = sizeParameter(n_.rowsExpression(), "rows");
                line(fmt::format("const long long wantedRow = {} * {} + threadIdx.x / {};", block,
                                 rowsPerBlock(), s_.team));
                if (s_.team >= 32) {
                    line(fmt::format("if (wantedRow >= {})", rows));
                    line("    return;");
                    line("const long long row = wantedRow;");
                } else {
                    // Shuffles need whole warps: surplus teams redo the last row and do not store.
                    line(fmt::format("const bool inside = wantedRow < {};", rows));
                    line(fmt::format("const long long row = inside ? wantedRow : {} - 1;", rows));
                }
            } else {
                line(fmt::format("const long long row = {};", block));
            }
            rowCoordinates("row", "long long", below_, s_.rowsEach);
        }
        rowPointers(roots, stores);
        declareHeld();
        if (oneTile())
            line(fmt::format("const {} start = {};", indexType_, startText()));
    }

    std::string startText() const {
        const std::string own = s_.vector == 1 ? "lane" : fmt::format("lane * {}", s_.vector);
        if (s_.parts == 1)
            return own;
        return namesHeld() ? fmt::format("({})part * ({} * {}) + {}", indexType_, inHandText(),
                                         atOnce(), own)
                           : fmt::format("({})part * {} + {}", indexType_, tilesText(1), own);
    }

    /// Loads that passes use: kept for the whole kernel when the row is staged.
    void keepLoads() {
        if (!s_.staged || passes_.empty())
            return;
        std::vector<int> roots;
        for (std::size_t pass = 0; pass < passes_.size(); ++pass) {
            for (const int root : passRoots(pass))
                roots.push_back(root);
        }
        comment("The row is read once and kept in registers.");
        preload(elementLoads(roots));
        const std::vector<int> kept = keptValues();
        if (kept.empty())
            return;
        hoist(kept);
        std::map<int, std::string> names;
        const std::string j = s_.unroll > 1 ? "[j]" : "";
        const std::string e = s_.vector > 1 ? "[e]" : "";
        for (const int id : kept)
            names[id] = declareInHand(id);
        forElements(kept, {}, [&] {
            for (const int id : kept)
                line(fmt::format("{}{}{} = {};", names[id], j, e, valueOf(id)));
        });
        for (const int id : kept)
            remember(id, names[id] + j + e);
    }

    void openTiles() {
        push();
        if (oneTile())
            return;
        open(fmt::format("for ({} start = {}; start < {}; start += {})", indexType_, startText(),
                         elementsText(), tilesText(s_.parts)));
    }
    void closeTiles() {
        if (!oneTile())
            close();
        pop();
    }

    void sweep(std::size_t pass) {
        hoist(passRoots(pass));
        declareStates(pass);
        openTiles();
        if (!s_.staged)
            preload(elementLoads(passRoots(pass)));
        if (oneTile())
            open("");
        tileReductions(pass, !oneTile());
        if (oneTile())
            close();
        closeTiles();
    }

    void combineInBlock(std::size_t pass) {
        const std::string state = fmt::format("state{}", pass);
        if (s_.team <= 32) {
            if (s_.team > 1) {
                out_.helpers.insert("reduceLanes");
                line(fmt::format("{0} = reduceLanes<{1}>({0});", state, s_.team));
            }
            return;
        }
        out_.helpers.insert("reduceBlock");
        line(fmt::format("__shared__ {} exchange{}[{}];", stateType(pass), pass, s_.threads / 32));
        line(fmt::format("{0} = reduceBlock<{1}>({0}, exchange{2});", state, s_.threads, pass));
    }

    std::string rowText() const { return rowDims_.empty() ? "0" : "row"; }

    void handOver(std::size_t pass) {
        const std::string name = declarePartials(pass);
        line("if (lane == 0)");
        line(fmt::format("    {}[{} * {} + part] = state{};", name, rowText(), s_.parts, pass));
    }

    /// Blocks of a row tell each other their results and wait. They are neighbours in the grid and
    /// at most as many as the device holds at once, so all of them get to run.
    void meetOtherBlocks(std::size_t pass) {
        const std::string name = declarePartials(pass);
        const std::string counter = name_ + "_arrived";
        if (pass == 0) {
            BufferInfo info;
            info.name = counter;
            info.dtype = DType::int32;
            info.expressions = {n_.rowsExpression()};
            out_.scratch.push_back(info);
            out_.zeroed.push_back(counter);
        }
        scratchParameter("int", counter);
        out_.helpers.insert("meetBlocks");
        out_.helpers.insert("reduceLanes");
        comment(fmt::format("The {} blocks of this row exchange their results.", s_.parts));
        line(fmt::format("state{0} = meetBlocks<{1}>(state{0}, {2} + {3} * {1}, {4} + {3}, part, "
                         "{5});",
                         pass, s_.parts, name, rowText(), counter, pass + 1));
    }

    void finish() {
        const std::vector<int> rowOnes = rowStores();
        const std::vector<int> elementOnes = elementStores();
        const bool clamped = !rowDims_.empty() && rowsPerBlock() > 1 && s_.team < 32;
        if (!rowOnes.empty()) {
            push();
            std::string condition = "lane == 0";
            if (s_.parts > 1)
                condition += " && part == 0";
            if (clamped)
                condition += " && inside";
            open(fmt::format("if ({})", condition));
            storeRows();
            close();
            pop();
        }
        if (elementOnes.empty())
            return;
        hoist(storeRoots(elementOnes));
        openTiles();
        if (!s_.staged)
            preload(elementLoads(storeRoots(elementOnes)));
        if (clamped)
            open("if (inside)");
        storeElements(elementOnes);
        if (clamped)
            close();
        closeTiles();
    }

    Launch launch() const {
        Launch result;
        result.block[0] = s_.threads;
        std::string rows = n_.rowsExpression();
        if (below_ >= 0)
            rows += fmt::format(" / {}", s_.rowsEach);
        if (s_.parts == 0) {
            const std::string tiles =
                fmt::format("cdiv({}, {})", elementsExpression(), tilesText(1));
            result.grid[0] = rowDims_.empty() ? tiles : fmt::format("{} * {}", rows, tiles);
        } else if (rowsPerBlock() > 1) {
            result.grid[0] = fmt::format("cdiv({}, {})", rows, rowsPerBlock());
        } else {
            result.grid[0] = s_.parts == 1 ? rows : fmt::format("{} * {}", rows, s_.parts);
        }
        return result;
    }

    /// Second kernel: one team per row puts the parts together.
    void writeCombine(std::size_t pass) {
        const bool warps = s_.parts <= 64 && n_.rows() >= 8;
        const int team = warps ? 32 : 256;
        const int rowsHere = warps ? 8 : 1;
        const std::string name = beginCombine(pass, 256);
        line(fmt::format("const int lane = (int)threadIdx.x % {};", team));
        if (!rowDims_.empty()) {
            if (warps) {
                const std::string rows = sizeParameter(n_.rowsExpression(), "rows");
                line("const long long row = (long long)blockIdx.x * 8 + threadIdx.x / 32;");
                line(fmt::format("if (row >= {})", rows));
                line("    return;");
            } else {
                line("const long long row = blockIdx.x;");
            }
            rowCoordinates("row", "long long");
        }
        line(fmt::format("{0} state{1} = {0}::identity();", stateType(pass), pass));
        line(fmt::format("for (int p = lane; p < {}; p += {})", s_.parts, team));
        line(fmt::format("    state{}.combine({}[{} * {} + p]);", pass, name, rowText(), s_.parts));
        if (warps) {
            out_.helpers.insert("reduceLanes");
            line(fmt::format("state{0} = reduceLanes<32>(state{0});", pass));
        } else {
            out_.helpers.insert("reduceBlock");
            line(fmt::format("__shared__ {} exchange[8];", stateType(pass)));
            line(fmt::format("state{0} = reduceBlock<256>(state{0}, exchange);", pass));
        }
        publishResults(pass, fmt::format("state{}", pass));
        open("if (lane == 0)");
        storeRows();
        close();
        Launch result;
        result.block[0] = 256;
        result.grid[0] = warps ? fmt::format("cdiv({}, {})", n_.rowsExpression(), rowsHere)
                               : n_.rowsExpression();
        endKernel(result);
    }

    bool inVector_ = false;
    Work placed_; ///< whose places are worked out element by element, where vectors cross
};

} // namespace

std::unique_ptr<KernelWriter> makeRowWriter(const Program &p, const Group &g, const Nest &n,
                                            const Schedule &s, const std::string &name) {
    return std::make_unique<RowWriter>(p, g, n, s, name);
}

} // namespace cuda_agent::policy
