// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/planner/kernel_writer.h"

namespace cuda_agent::policy {

namespace {

/// Rows whose neighbours lie next to each other in memory: neighbouring threads own neighbouring
/// rows and walk along them in step, so that every step of a warp is one run of memory.
class ColumnWriter : public KernelWriter {
  public:
    using KernelWriter::KernelWriter;

  protected:
    std::string rowSubscript() const override { return s_.vector > 1 ? "[e]" : ""; }

    void forRowsInHand(const std::function<void()> &body) override {
        if (s_.vector == 1 || inVector_) {
            body();
            return;
        }
        line("#pragma unroll");
        open(fmt::format("for (int e = 0; e < {}; ++e)", s_.vector));
        inVector_ = true;
        push();
        body();
        pop();
        inVector_ = false;
        close();
    }

    void writeForm() override {
        beginKernel(s_.parts > 1 ? "_partial" : "", s_.threads);
        prologue();
        keepLoads();
        for (std::size_t pass = 0; pass < passes_.size(); ++pass) {
            sweep(pass);
            combineInBlock(pass);
            if (s_.parts > 1) {
                handOver(pass);
                endKernel(launch());
                writeCombine(pass);
                return;
            }
            publishResults(pass, fmt::format("state{}{}", pass, rowSubscript()));
        }
        finish();
        endKernel(launch());
    }

    std::string elementOffset(const Access &access) override {
        std::vector<std::pair<std::string, std::int64_t>> terms;
        for (const int d : elementDims_)
            terms.emplace_back(coordinates_[d], access.strides[d]);
        if (inVector_)
            terms.emplace_back("e", access.strides[rowDims_.back()]);
        return sumOf(terms);
    }

    void forElements(const std::vector<int> &roots, const std::vector<int> &stores,
                     const std::function<void()> &body) override {
        openStep();
        for (const int load : elementLoads(roots)) {
            const std::int64_t step = n_.accesses.at(load).strides[rowDims_.back()];
            if (step == 0) {
                valueOf(load);
            } else if (step == 1 && s_.vector > 1) {
                const std::string name = fmt::format("x{}", arrays_++);
                line(fmt::format("{} {}[{}];", scalarType(p_.values[load].dtype), name, s_.vector));
                loadVector(load, name);
                remember(load, name + "[e]");
            }
        }
        vectors_.clear();
        for (const int store : stores) {
            if (s_.vector > 1 && n_.stores[store].strides[rowDims_.back()] == 1) {
                vectors_[store] = fmt::format("y{}[e]", store);
                line(fmt::format("{} y{}[{}];",
                                 storageType(p_.buffers[g_.stores[store].buffer].dtype), store,
                                 s_.vector));
            }
        }
        forRowsInHand(body);
        for (const auto &[store, name] : vectors_) {
            out_.helpers.insert("storeVector");
            line(fmt::format("storeVector({} + {}, y{});",
                             pointer(n_.stores[store], g_.stores[store].buffer),
                             elementOffset(n_.stores[store]), store));
        }
        vectors_.clear();
        closeStep();
    }

  private:
    int lanesX() const { return s_.threads / s_.lanesY; }
    std::int64_t step() const { return static_cast<std::int64_t>(s_.lanesY) * s_.unroll; }
    std::int64_t partLength() const {
        const std::int64_t each = (n_.elements() + s_.parts - 1) / s_.parts;
        return (each + step() - 1) / step() * step();
    }
    bool guarded() const {
        return s_.parts > 1 ? n_.elements() != s_.parts * partLength()
                            : n_.elements() % step() != 0;
    }
    std::string endText() const { return s_.parts > 1 ? "end" : std::to_string(n_.elements()); }

    void openStep() {
        if (s_.unroll > 1) {
            line("#pragma unroll");
            open(fmt::format("for (int j = 0; j < {}; ++j)", s_.unroll));
            line(fmt::format("const {} r = start + j * {};", indexType_, s_.lanesY));
        } else {
            open("");
            line(fmt::format("const {} r = start;", indexType_));
        }
        if (guarded())
            open(fmt::format("if (r < {})", endText()));
        push();
        std::string rest = "r";
        for (std::size_t k = elementDims_.size(); k-- > 0;) {
            const int d = elementDims_[k];
            if (elementDims_.size() == 1) {
                coordinates_[d] = "r";
                break;
            }
            const std::string size = std::to_string(n_.dims[d].size);
            coordinates_[d] = fmt::format("r{}", k);
            line(fmt::format("const {} r{} = {};", indexType_, k,
                             k == 0 ? rest : fmt::format("({}) % {}", rest, size)));
            rest = fmt::format("{} / {}", rest, size);
        }
    }

    void closeStep() {
        pop();
        if (guarded())
            close();
        close();
        for (const int d : elementDims_)
            coordinates_[d].clear();
    }

    void loadVector(int load, const std::string &name) {
        out_.helpers.insert("loadVector");
        const Access &access = n_.accesses.at(load);
        const std::string at = withPicks(p_.values[load], elementOffset(access));
        line(fmt::format("loadVector({}, {} + {});", name, pointer(access, p_.values[load].buffer),
                         at));
    }

    void preload(const std::vector<int> &loads) {
        std::vector<int> wanted;
        for (const int load : loads) {
            const std::int64_t along = n_.accesses.at(load).strides[rowDims_.back()];
            if (along == 1 || (along != 0 && s_.vector == 1))
                wanted.push_back(load);
        }
        if (wanted.empty())
            return;
        std::map<int, std::string> names;
        for (const int load : wanted) {
            names[load] = fmt::format("x{}", arrays_++);
            line(fmt::format("{} {}{}{};", scalarType(p_.values[load].dtype), names[load],
                             s_.unroll > 1 ? fmt::format("[{}]", s_.unroll) : "",
                             s_.vector > 1 ? fmt::format("[{}]", s_.vector) : ""));
        }
        const std::string j = s_.unroll > 1 ? "[j]" : "";
        openStep();
        for (const int load : wanted) {
            if (s_.vector > 1)
                loadVector(load, names[load] + j);
            else
                line(fmt::format("{}{} = {};", names[load], j,
                                 loadText(load, elementOffset(n_.accesses.at(load)))));
        }
        closeStep();
        for (const int load : wanted)
            remember(load, names[load] + j + (s_.vector > 1 ? "[e]" : ""));
    }

    void prologue() {
        std::vector<int> roots = g_.reduces;
        std::vector<int> stores;
        for (std::size_t i = 0; i < g_.stores.size() && s_.parts == 1; ++i)
            stores.push_back(static_cast<int>(i));
        for (const int root : storeRoots(stores))
            roots.push_back(root);
        for (const int id : reachableFrom(p_, roots)) {
            if (p_.values[id].kind == Kind::load)
                bufferParameter(p_.values[id].buffer);
        }
        for (const int store : stores)
            bufferParameter(g_.stores[store].buffer);
        const std::string rows = sizeParameter(n_.rowsExpression(), "rows");
        const std::string x = fmt::format("((long long)blockIdx.x * {} + threadIdx.x)", lanesX());
        line(fmt::format("const long long column = {}{};", x,
                         s_.vector > 1 ? fmt::format(" * {}", s_.vector) : ""));
        if (s_.lanesY == 1 && s_.parts == 1) {
            line(fmt::format("if (column >= {})", rows));
            line("    return;");
            line("const long long row = column;");
        } else {
            // Surplus threads stay for the exchange within the block.
            line(fmt::format("const bool inside = column < {};", rows));
            line("const long long row = inside ? column : 0;");
        }
        rowCoordinates("row", "long long");
        rowPointers(roots, stores);
        if (s_.parts > 1) {
            line(fmt::format("const {} begin = ({})blockIdx.y * {};", indexType_, indexType_,
                             partLength()));
            line(fmt::format("const {0} end = begin + {1} < {2} ? begin + {1} : {2};", indexType_,
                             partLength(), n_.elements()));
        }
        if (s_.staged)
            line(fmt::format("const {} start = {};", indexType_, startText()));
    }

    std::string startText() const {
        const std::string y = s_.lanesY > 1 ? "(int)threadIdx.y" : "0";
        return s_.parts > 1 ? (s_.lanesY > 1 ? "begin + (int)threadIdx.y" : "begin") : y;
    }

    void keepLoads() {
        if (!s_.staged)
            return;
        std::vector<int> roots;
        for (std::size_t pass = 0; pass < passes_.size(); ++pass) {
            for (const int root : passRoots(pass))
                roots.push_back(root);
        }
        comment("The rows are read once and kept in registers.");
        preload(elementLoads(roots));
    }

    void openTiles() {
        push();
        if (!s_.staged)
            open(fmt::format("for ({} start = {}; start < {}; start += {})", indexType_,
                             startText(), endText(), step()));
    }
    void closeTiles() {
        if (!s_.staged)
            close();
        pop();
    }

    void sweep(std::size_t pass) {
        hoist(passRoots(pass));
        declareStates(pass);
        openTiles();
        if (!s_.staged)
            preload(elementLoads(passRoots(pass)));
        else
            open("");
        tileReductions(pass, !s_.staged);
        if (s_.staged)
            close();
        closeTiles();
    }

    void combineInBlock(std::size_t pass) {
        if (s_.lanesY == 1)
            return;
        const std::string name = fmt::format("exchange{}", pass);
        const std::string state = fmt::format("state{}{}", pass, rowSubscript());
        line(fmt::format("__shared__ {} {}[{}][{}];", stateType(pass), name, s_.lanesY,
                         lanesX() * s_.vector));
        const std::string at = s_.vector > 1 ? fmt::format("threadIdx.x * {} + e", s_.vector)
                                             : std::string("threadIdx.x");
        forRowsInHand([&] { line(fmt::format("{}[threadIdx.y][{}] = {};", name, at, state)); });
        line("__syncthreads();");
        forRowsInHand([&] {
            line(fmt::format("{} = {}[0][{}];", state, name, at));
            line("#pragma unroll");
            line(fmt::format("for (int y = 1; y < {}; ++y)", s_.lanesY));
            line(fmt::format("    {}.combine({}[y][{}]);", state, name, at));
        });
    }

    std::string ownsRow() const {
        std::string text = s_.lanesY > 1 || s_.parts > 1 ? "inside" : "";
        if (s_.lanesY > 1)
            text += " && threadIdx.y == 0";
        return text;
    }

    void handOver(std::size_t pass) {
        BufferInfo info;
        info.name = fmt::format("{}_partials{}", name_, pass);
        info.dtype = DType::uint8;
        info.expressions = {
            fmt::format("{} * {}", n_.rowsExpression(), s_.parts * stateBytes(pass))};
        out_.scratch.push_back(info);
        scratchParameter(stateType(pass), info.name);
        open(fmt::format("if ({})", ownsRow()));
        forRowsInHand([&] {
            line(fmt::format("{}[blockIdx.y * rows + row{}] = state{}{};", info.name,
                             s_.vector > 1 ? " + e" : "", pass, rowSubscript()));
        });
        close();
    }

    void finish() {
        if (!rowStores().empty()) {
            push();
            const std::string condition = ownsRow();
            open(condition.empty() ? "" : fmt::format("if ({})", condition));
            storeRows();
            close();
            pop();
        }
        const std::vector<int> stores = elementStores();
        if (stores.empty())
            return;
        hoist(storeRoots(stores));
        openTiles();
        if (!s_.staged)
            preload(elementLoads(storeRoots(stores)));
        if (s_.lanesY > 1)
            open("if (inside)");
        storeElements(stores);
        if (s_.lanesY > 1)
            close();
        closeTiles();
    }

    Launch launch() const {
        Launch result;
        result.block[0] = lanesX();
        result.block[1] = s_.lanesY;
        result.grid[0] = fmt::format("cdiv({}, {})", n_.rowsExpression(), lanesX() * s_.vector);
        result.grid[1] = std::to_string(s_.parts);
        return result;
    }

    /// Second kernel: one thread per row puts the parts together.
    void writeCombine(std::size_t pass) {
        beginKernel("_combine", 128);
        const std::vector<int> stores = rowStores();
        for (const int id : reachableFrom(p_, storeRoots(stores))) {
            if (p_.values[id].kind == Kind::load && perRow(id))
                bufferParameter(p_.values[id].buffer);
        }
        for (const int store : stores)
            bufferParameter(g_.stores[store].buffer);
        const std::string name = fmt::format("{}_partials{}", name_, pass);
        scratchParameter("const " + stateType(pass), name);
        const std::string rows = sizeParameter(n_.rowsExpression(), "rows");
        line("const long long row = (long long)blockIdx.x * 128 + threadIdx.x;");
        line(fmt::format("if (row >= {})", rows));
        line("    return;");
        rowCoordinates("row", "long long");
        line(fmt::format("{0} state{1} = {0}::identity();", stateType(pass), pass));
        line(fmt::format("for (int p = 0; p < {}; ++p)", s_.parts));
        line(fmt::format("    state{}.combine({}[p * {} + row]);", pass, name, rows));
        publishResults(pass, fmt::format("state{}", pass));
        for (const int store : stores) {
            const std::string code = stored(store, valueOf(g_.stores[store].value));
            line(fmt::format("{}[{}] = {};", pointer(n_.stores[store], g_.stores[store].buffer),
                             elementOffset(n_.stores[store]), code));
        }
        Launch result;
        result.block[0] = 128;
        result.grid[0] = fmt::format("cdiv({}, 128)", n_.rowsExpression());
        endKernel(result);
    }

    bool inVector_ = false;
    int arrays_ = 0;
};

} // namespace

std::unique_ptr<KernelWriter> makeColumnWriter(const Program &p, const Group &g, const Nest &n,
                                               const Schedule &s, const std::string &name) {
    return std::make_unique<ColumnWriter>(p, g, n, s, name);
}

} // namespace cuda_agent::policy
