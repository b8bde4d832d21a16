// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/planner/vector_writer.h"

namespace cuda_agent::policy {

namespace {

/// Rows whose neighbours lie next to each other in memory: neighbouring threads own neighbouring
/// rows and walk along them in step, so that every step of a warp is one run of memory. A thread
/// may own several: `vector` neighbours, or `rowsEach` one below the other, whose windows overlap.
class ColumnWriter : public VectorWriter {
  public:
    using VectorWriter::VectorWriter;

  protected:
    std::string rowSubscript() const override { return rowsInHand() > 1 ? "[e]" : ""; }
    int rowsInHand() const override { return s_.vector * s_.rowsEach; }
    int loopOfRowsInHand() const override {
        return s_.rowsEach > 1 ? rowDims_[rowDims_.size() - 2] : KernelWriter::loopOfRowsInHand();
    }

    void forRowsInHand(const std::function<void()> &body) override {
        if (rowsInHand() == 1 || inVector_) {
            body();
            return;
        }
        line("#pragma unroll");
        open(fmt::format("for (int e = 0; e < {}; ++e)", rowsInHand()));
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
                combineByThreads(pass, 128, true);
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
            terms.emplace_back("e", access.strides[loopOfRowsInHand()]);
        return sumOf(terms);
    }

    void forElements(const std::vector<int> &roots, const std::vector<int> &stores,
                     const std::function<void()> &body) override {
        openStep();
        loadVectors(roots);
        gatherVectors(stores);
        forRowsInHand(body);
        storeVectors();
        closeStep();
    }

    int width() const override { return s_.vector; }
    Run runOf(const Access &access) const override {
        const std::int64_t step = access.strides[loopOfRowsInHand()];
        return step == 0 ? Run::one : step == 1 && s_.vector > 1 ? Run::beside : Run::apart;
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
            open(fmt::format("for (int j = 0; j < {}; ++j)", inHandText()));
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

    void preload(const std::vector<int> &loads) {
        std::vector<int> wanted;
        for (const int load : loads) {
            const std::int64_t along = n_.accesses.at(load).strides[rowDims_.back()];
            // What windows one below the other have in common is read once by itself, as the
            // compiler sees. Where a position is picked, or a border asked for, each may have its
            // own.
            const bool own =
                s_.rowsEach > 1 && (n_.accesses.at(load).strides[loopOfRowsInHand()] != 0 ||
                                    !p_.values[load].args.empty());
            if (!own && (along == 1 || (along != 0 && s_.vector == 1) || s_.rowsEach > 1))
                wanted.push_back(load);
        }
        if (wanted.empty())
            return;
        std::map<int, std::string> names;
        for (const int load : wanted)
            names[load] = declareInHand(load);
        const std::string j = s_.unroll > 1 ? "[j]" : "";
        openStep();
        for (const int load : wanted) {
            if (s_.vector > 1)
                loadVector(load, names[load] + j, width());
            else
                line(fmt::format("{}{} = {};", names[load], j,
                                 loadText(load, elementOffset(n_.accesses.at(load)))));
        }
        closeStep();
        for (const int load : wanted)
            remember(load, names[load] + j + (s_.vector > 1 ? "[e]" : ""));
    }

    void prologue() {
        const auto [roots, stores] = workOf(s_.parts > 1);
        bufferParameters(roots, stores);
        std::string rows = sizeParameter(n_.rowsExpression(), "rows");
        if (s_.rowsEach > 1)
            rows += fmt::format(" / {}", s_.rowsEach);
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
        rowCoordinates("row", "long long", s_.rowsEach > 1 ? loopOfRowsInHand() : -1, s_.rowsEach);
        rowPointers(roots, stores);
        if (s_.parts > 1) {
            line(fmt::format("const {} each = (({} - 1) / {} / {} + 1) * {};", indexType_,
                             n_.elements(), s_.parts, step(), step()));
            line(fmt::format("const {0} begin = ({0})blockIdx.y * each;", indexType_));
            line(fmt::format("const {0} end = begin + each < {1} ? begin + each : {1};", indexType_,
                             n_.elements()));
        }
        if (s_.staged) {
            declareHeld();
            line(fmt::format("const {} start = {};", indexType_, startText()));
        }
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
        // A warp that meets the border goes both ways, so rows have to be longer than one.
        constexpr std::int64_t longRow = 64;
        std::map<int, std::string> whole;
        if (!s_.staged && !rowDims_.empty() && n_.dims[rowDims_.back()].size >= longRow)
            whole = wholeWindows(passRoots(pass));
        if (whole.empty())
            return sweepTiles(pass);
        std::vector<std::string> conditions;
        for (const auto &[id, text] : whole)
            conditions.push_back(text);
        comment("Windows that lie inside as a whole need no look at the border.");
        open(fmt::format("if ({})", fmt::join(conditions, " && ")));
        push();
        for (const auto &[id, text] : whole)
            remember(id, "true");
        sweepTiles(pass);
        pop();
        otherwise();
        sweepTiles(pass);
        close();
    }

    void sweepTiles(std::size_t pass) {
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
        const std::string name = declarePartials(pass);
        open(fmt::format("if ({})", ownsRow()));
        forRowsInHand([&] {
            line(fmt::format("{}[blockIdx.y * rows + row{}] = state{}{};", name,
                             s_.vector > 1 ? " + e" : "", pass, rowSubscript()));
        });
        close();
    }

    void finish() {
        if (!rowStores().empty()) {
            push();
            const std::string condition = ownsRow();
            open(condition.empty() ? "" : fmt::format("if ({})", condition));
            gatherVectors(rowStores());
            storeRows();
            storeVectors();
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
        result.grid[0] = fmt::format("cdiv({}, {})", n_.rowsExpression(), lanesX() * rowsInHand());
        result.grid[1] = std::to_string(s_.parts);
        return result;
    }

    bool inVector_ = false;
};

} // namespace

std::unique_ptr<KernelWriter> makeColumnWriter(const Program &p, const Group &g, const Nest &n,
                                               const Schedule &s, const std::string &name) {
    return std::make_unique<ColumnWriter>(p, g, n, s, name);
}

} // namespace cuda_agent::policy
