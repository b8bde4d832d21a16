// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/planner/strip_writer.h"

namespace cuda_agent::policy {

namespace {

/// Running sums, products and extremes along rows. Row form: a block, or a warp, takes a row in
/// tiles, whose elements are combined thread by thread, warp by warp, and carried on. The other
/// forms: a thread walks along a row, or along a strip of neighbouring ones.
class ScanWriter : public StripWriter {
  public:
    using StripWriter::StripWriter;

  protected:
    void forElements(const std::vector<int> &, const std::vector<int> &,
                     const std::function<void()> &body) override {
        body();
    }

    void writeForm() override {
        beginKernel("", s_.threads);
        Launch launch;
        launch.block[0] = s_.threads;
        if (s_.form == Schedule::Form::row) {
            launch.grid[0] = perWarp()
                                 ? fmt::format("cdiv({}, {})", n_.rowsExpression(), s_.threads / 32)
                                 : n_.rowsExpression();
            writeBlockRows();
        } else {
            launch.grid[0] = fmt::format("cdiv({}, {})", workExpression(), s_.threads);
            writeThreadRows();
        }
        endKernel(launch);
    }

  private:
    bool backwards() const { return p_.values[g_.scans[0]].backwards; }
    std::int64_t length() const { return n_.elements(); }
    std::string typeOf(int scan) const { return scalarType(p_.values[scan].dtype); }
    /// What the running result is held in.
    std::string stateOf(int scan) const {
        const std::string type = typeOf(scan);
        const bool rounds = p_.values[scan].op == "sum" || p_.values[scan].op == "prod";
        return exactSums() && rounds && type == "float" ? "double" : type;
    }
    std::string identity(int scan) const {
        const std::string &op = p_.values[scan].op;
        if (op == "sum" || op == "prod")
            return op == "sum" ? "0" : "1";
        return op == "min" ? highestOf(typeOf(scan)) : lowestOf(typeOf(scan));
    }
    /// The struct of the prelude that combines two running results, of what is ahead first.
    std::string combination(int scan) {
        const std::string &op = p_.values[scan].op;
        const std::string name = op == "sum"    ? "Sum"
                                 : op == "prod" ? "Product"
                                 : op == "max"  ? "Largest"
                                 : op == "min"  ? "Smallest"
                                                : "SumOfExp";
        out_.helpers.insert(name);
        return name;
    }
    std::string combined(int scan, const std::string &a, const std::string &b) {
        const std::string &op = p_.values[scan].op;
        if (op == "sum" || op == "prod")
            return fmt::format("{} {} {}", a, op == "sum" ? "+" : "*", b);
        return fmt::format("{}::of<{}>({}, {})", combination(scan), typeOf(scan), a, b);
    }

    std::string typed(int scan, const std::string &number) const {
        return fmt::format("({}){}", typeOf(scan), number);
    }

    /// Names the place along the row for loads and stores.
    void place(const std::string &position) {
        std::string rest = position;
        for (std::size_t k = elementDims_.size(); k-- > 0;) {
            const int d = elementDims_[k];
            if (elementDims_.size() == 1) {
                coordinates_[d] = position;
                return;
            }
            coordinates_[d] = fmt::format("r{}", k);
            const std::string size = std::to_string(n_.dims[d].size);
            line(fmt::format("const {} r{} = {};", indexType_, k,
                             k == 0 ? rest : fmt::format("({}) % {}", rest, size)));
            rest = fmt::format("({}) / {}", rest, size);
        }
    }

    void declareParameters() {
        for (const int id : loadsFor(g_.roots()))
            bufferParameter(p_.values[id].buffer);
        for (const Store &store : g_.stores)
            bufferParameter(store.buffer);
    }
    void declarePointers() {
        std::vector<int> stores;
        for (std::size_t i = 0; i < g_.stores.size(); ++i)
            stores.push_back(static_cast<int>(i));
        rowPointers(g_.roots(), stores);
    }

    // --- a block or a warp to a row --------------------------------------------------------------

    std::int64_t lastStride(const Access &access) const {
        return access.strides[elementDims_.back()];
    }

    bool perWarp() const { return s_.team < s_.threads; }

    void writeBlockRows() {
        declareParameters();
        out_.helpers.insert(perWarp() ? "scanWarp" : "scanBlock");
        line(fmt::format("const int lane = (int)threadIdx.x{};", perWarp() ? " % 32" : ""));
        if (perWarp()) {
            line(fmt::format("const long long row = (long long)blockIdx.x * {} + threadIdx.x / 32;",
                             s_.threads / 32));
            line(fmt::format("if (row >= {})", sizeParameter(n_.rowsExpression(), "rows")));
            line("    return;");
        } else if (!rowDims_.empty()) {
            line("const long long row = blockIdx.x;");
        }
        if (!rowDims_.empty())
            rowCoordinates("row", "long long");
        declarePointers();
        hoist(g_.roots());
        const int warps = s_.threads / 32;
        const std::int64_t tile = static_cast<std::int64_t>(s_.team) * s_.vector * s_.unroll;
        for (std::size_t k = 0; k < g_.scans.size(); ++k) {
            if (!perWarp())
                line(
                    fmt::format("__shared__ {} exchange{}[2][{}];", typeOf(g_.scans[k]), k, warps));
            line(fmt::format("{} carry{} = {};", typeOf(g_.scans[k]), k, identity(g_.scans[k])));
        }
        if (!perWarp())
            line("int turn = 0;");
        open(
            fmt::format("for ({0} tile = 0; tile < {1}; tile += {2})", indexType_, length(), tile));
        for (std::size_t k = 0; k < g_.scans.size(); ++k)
            line(fmt::format("{} x{}[{}][{}];", typeOf(g_.scans[k]), k, s_.unroll, s_.vector));
        forVectors([&] {
            std::vector<int> inputs;
            for (const int scan : g_.scans)
                inputs.push_back(p_.values[scan].args[0]);
            loadVectors(inputs);
            forVectorElements([&](const std::string &valid) {
                for (std::size_t k = 0; k < g_.scans.size(); ++k)
                    line(fmt::format("x{}[u][e] = {};", k, identity(g_.scans[k])));
                if (!valid.empty())
                    open(fmt::format("if ({})", valid));
                push();
                place("at");
                for (std::size_t k = 0; k < g_.scans.size(); ++k)
                    line(fmt::format("x{}[u][e] = {};", k, valueOf(inputs[k])));
                pop();
                if (!valid.empty())
                    close();
            });
        });
        forVectors([&] {
            for (std::size_t k = 0; k < g_.scans.size(); ++k)
                remember(g_.scans[k],
                         fmt::format("({})", combined(g_.scans[k], fmt::format("before{}", k),
                                                      fmt::format("x{}[u][e]", k))));
            // What goes with the results is under way while these are combined.
            loadVectors(storeRoots(elementStores()));
            for (std::size_t k = 0; k < g_.scans.size(); ++k)
                scanTile(k, warps);
            if (!perWarp())
                line("turn ^= 1;");
            storeVectors();
        });
        close();
    }

    /// The vectors of a tile, in the order of the scan; `m` is where one starts in the row.
    void forVectors(const std::function<void()> &body) {
        line("#pragma unroll");
        open(fmt::format("for (int u = 0; u < {}; ++u)", s_.unroll));
        line(fmt::format("const {} i = tile + (u * {} + lane) * {};", indexType_, s_.team,
                         s_.vector));
        line(backwards() ? fmt::format("const {} m = {} - {} - i;", indexType_, length(), s_.vector)
                         : fmt::format("const {} m = i;", indexType_));
        push();
        body();
        pop();
        close();
    }

    bool wholeVectors() const { return length() % s_.vector == 0; }
    std::string vectorInside() const { return fmt::format("i < {}", length()); }

    /// Whether every row's vectors lie one after the other where memory may be accessed so.
    bool inVectors(const Access &access) const {
        return s_.vector > 1 && wholeVectors() && elementDims_.size() == 1 &&
               lastStride(access) == 1 && access.base % s_.vector == 0 &&
               std::ranges::all_of(rowDims_,
                                   [&](int row) { return access.strides[row] % s_.vector == 0; });
    }

    void loadVectors(const std::vector<int> &roots) {
        for (const int load : elementLoads(roots)) {
            if (!inVectors(n_.accesses.at(load)))
                continue;
            out_.helpers.insert("loadVector");
            const std::string name = nameFor(load, true);
            line(fmt::format("{} {}[{}];", scalarType(p_.values[load].dtype), name, s_.vector));
            line(fmt::format("if ({})", vectorInside()));
            line(fmt::format("    loadVector({}, {} + m);", name,
                             pointer(n_.accesses.at(load), p_.values[load].buffer)));
            remember(load, name + "[e]");
        }
    }

    /// Elements of a vector in the order of memory. `valid`: when there is something at `at`.
    void forVectorElements(const std::function<void(const std::string &valid)> &body) {
        line("#pragma unroll");
        open(fmt::format("for (int e = 0; e < {}; ++e)", s_.vector));
        line(fmt::format("[[maybe_unused]] const {} at = m + e;", indexType_));
        body(wholeVectors() ? vectorInside()
             : backwards()  ? std::string("at >= 0")
                            : fmt::format("at < {}", length()));
        close();
    }

    void scanTile(std::size_t k, int warps) {
        const int scan = g_.scans[k];
        const std::string x = fmt::format("x{}[u]", k);
        const int last = s_.vector - 1;
        if (s_.vector > 1) {
            line("#pragma unroll");
            line(backwards() ? fmt::format("for (int e = {}; e >= 0; --e)", last - 1)
                             : fmt::format("for (int e = 1; e < {}; ++e)", s_.vector));
            line(fmt::format("    {0}[e] = {1};", x,
                             combined(scan, x + (backwards() ? "[e + 1]" : "[e - 1]"), x + "[e]")));
        }
        const std::string type = typeOf(scan);
        line(fmt::format("{} total{};", type, k));
        const std::string own =
            fmt::format("{}[{}], {}", x, backwards() ? 0 : last, typed(scan, identity(scan)));
        const std::string ahead =
            perWarp() ? fmt::format("scanWarp<{}>({}, total{})", combination(scan), own, k)
                      : fmt::format("scanBlock<{}, {}>({}, exchange{}[turn], total{})", warps,
                                    combination(scan), own, k, k);
        line(fmt::format("const {} before{} = {}; // of the elements ahead of this thread's", type,
                         k, combined(scan, fmt::format("carry{}", k), ahead)));
        line(fmt::format("carry{0} = {1};", k,
                         combined(scan, fmt::format("carry{}", k), fmt::format("total{}", k))));
    }

    void storeVectors() {
        vectors_.clear();
        for (std::size_t i = 0; i < g_.stores.size(); ++i) {
            if (inVectors(n_.stores[i]))
                declareVector(static_cast<int>(i), s_.vector);
        }
        forVectorElements([&](const std::string &valid) {
            if (!valid.empty())
                open(fmt::format("if ({})", valid));
            push();
            place("at");
            for (std::size_t i = 0; i < g_.stores.size(); ++i) {
                const int store = static_cast<int>(i);
                const std::string code = stored(store, valueOf(g_.stores[i].value));
                if (const auto vector = vectors_.find(store); vector != vectors_.end())
                    line(fmt::format("{}[e] = {};", vector->second, code));
                else
                    line(fmt::format("{}[{}] = {};", pointer(n_.stores[i], g_.stores[i].buffer),
                                     elementOffset(n_.stores[i]), code));
            }
            pop();
            if (!valid.empty())
                close();
        });
        for (const auto &[store, name] : vectors_) {
            out_.helpers.insert("storeVector");
            line(fmt::format("if ({})", vectorInside()));
            line(fmt::format("    storeVector({} + m, {});",
                             pointer(n_.stores[store], g_.stores[store].buffer), name));
        }
    }

    // --- a thread to a row -----------------------------------------------------------------------

    std::int64_t strips() const {
        return (n_.dims[rowDims_.back()].size + s_.chunk - 1) / s_.chunk;
    }
    std::string workExpression() const {
        if (!strip())
            return n_.rowsExpression();
        if (rowDims_.size() == 1)
            return fmt::format("cdiv({}, {})", n_.rowsExpression(), s_.chunk);
        const std::int64_t others = n_.rows() / n_.dims[rowDims_.back()].size;
        if (n_.runtimeOuter)
            return fmt::format("{} * {}", n_.dims[0].expression,
                               others / n_.dims[0].size * strips());
        return std::to_string(others * strips());
    }

    void writeThreadRows() {
        declareParameters();
        line("const long long thread = (long long)blockIdx.x * blockDim.x + threadIdx.x;");
        line(fmt::format("if (thread >= {})", sizeParameter(workExpression(), "work")));
        line("    return;");
        if (strip()) {
            stripCoordinates();
        } else if (!rowDims_.empty()) {
            line("const long long row = thread;");
            rowCoordinates("row", "long long");
        }
        declarePointers();
        hoist(g_.roots());
        const std::string many = strip() ? fmt::format("[{}]", s_.chunk) : "";
        for (std::size_t k = 0; k < g_.scans.size(); ++k)
            line(fmt::format("{} state{}{};", stateOf(g_.scans[k]), k, many));
        forRowsInHand([&] {
            for (std::size_t k = 0; k < g_.scans.size(); ++k)
                line(fmt::format("state{}{} = {};", k, rowSubscript(), identity(g_.scans[k])));
        });
        if (s_.unroll == 1) {
            open(fmt::format("for ({0} i = 0; i < {1}; ++i)", indexType_, length()));
            walkOn();
            close();
            return;
        }
        open(fmt::format("for ({0} start = 0; start < {1}; start += {2})", indexType_, length(),
                         s_.unroll));
        push();
        loadAhead();
        forPlaces([&] { walkOn(); });
        pop();
        close();
    }

    /// The next `unroll` places along the row, those behind its end left out.
    void forPlaces(const std::function<void()> &body) {
        line("#pragma unroll");
        open(fmt::format("for (int j = 0; j < {}; ++j)", s_.unroll));
        line(fmt::format("const {} i = start + j;", indexType_));
        const bool whole = length() % s_.unroll == 0;
        if (!whole)
            open(fmt::format("if (i < {})", length()));
        body();
        if (!whole)
            close();
        close();
    }

    void placeOfThread() {
        line(fmt::format("const {} at = {};", indexType_,
                         backwards() ? fmt::format("{} - i", length() - 1) : "i"));
        push();
        place("at");
    }

    /// Reads what the next places take, all of it in flight at once.
    void loadAhead() {
        std::vector<int> loads = elementLoads(g_.roots());
        std::erase_if(loads, [&](int id) { return !p_.values[id].args.empty(); });
        std::map<int, std::string> names;
        for (const int id : loads) {
            names[id] = nameFor(id, true);
            line(fmt::format("{} {}[{}];", scalarType(p_.values[id].dtype), names[id], s_.unroll));
        }
        if (loads.empty())
            return;
        forPlaces([&] {
            placeOfThread();
            for (const int id : loads)
                line(fmt::format("{}[j] = {};", names[id],
                                 loadText(id, elementOffset(n_.accesses.at(id)))));
            pop();
        });
        for (const int id : loads)
            remember(id, names[id] + "[j]");
    }

    /// One place of the row, `i` from where the walk begins.
    void walkOn() {
        placeOfThread();
        forRowsInHand([&] {
            for (std::size_t k = 0; k < g_.scans.size(); ++k) {
                const int scan = g_.scans[k];
                const std::string state = fmt::format("state{}{}", k, rowSubscript());
                const std::string x = valueOf(p_.values[scan].args[0]);
                line(fmt::format("{} = {};", state, combined(scan, state, x)));
                remember(scan, fmt::format("({}){}", typeOf(scan), state));
            }
            for (std::size_t i = 0; i < g_.stores.size(); ++i) {
                const std::string code = stored(static_cast<int>(i), valueOf(g_.stores[i].value));
                line(fmt::format("{}[{}] = {};", pointer(n_.stores[i], g_.stores[i].buffer),
                                 elementOffset(n_.stores[i]), code));
            }
        });
        pop();
    }

    void stripCoordinates() {
        const std::int64_t last = n_.dims[rowDims_.back()].size;
        const bool open = n_.runtimeOuter && rowDims_.size() == 1;
        const std::string size =
            open ? sizeParameter(n_.rowsExpression(), "rows") : std::to_string(last);
        if (rowDims_.size() == 1) {
            line(fmt::format("const long long first = thread * {};", s_.chunk));
        } else {
            line(fmt::format("const long long first = thread % {} * {};", strips(), s_.chunk));
            std::string rest = fmt::format("thread / {}", strips());
            for (std::size_t i = rowDims_.size() - 1; i-- > 0;) {
                const std::int64_t extent = n_.dims[rowDims_[i]].size;
                line(fmt::format("const long long k{} = {};", i,
                                 i == 0 ? rest : fmt::format("{} % {}", rest, extent)));
                coordinates_[rowDims_[i]] = fmt::format("k{}", i);
                rest = fmt::format("{} / {}", rest, extent);
            }
        }
        coordinates_[rowDims_.back()] = "first";
        line(fmt::format("const int width = (int)({0} - first < {1} ? {0} - first : {1});", size,
                         s_.chunk));
    }
};

} // namespace

std::unique_ptr<KernelWriter> makeScanWriter(const Program &p, const Group &g, const Nest &n,
                                             const Schedule &s, const std::string &name) {
    return std::make_unique<ScanWriter>(p, g, n, s, name);
}

} // namespace cuda_agent::policy
