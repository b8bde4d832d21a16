// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/planner/vector_writer.h"

namespace cuda_agent::policy {

namespace {

/// Groups that change the order of dimensions: reads have their neighbours along one loop
/// (`across`), writes along another (`along`). A block reads its piece in the one order into shared
/// memory and computes in the other, so that both sides touch memory in whole runs.
///
/// A warp takes 32 neighbours as vectors, several runs at once; with one element of padding a row,
/// no two of its lanes meet in a bank of shared memory on either side.
class TileWriter : public VectorWriter {
  public:
    using VectorWriter::VectorWriter;

  protected:
    void writeForm() override {
        beginKernel("", s_.threads);
        std::vector<int> stores;
        for (std::size_t i = 0; i < g_.stores.size(); ++i)
            stores.push_back(static_cast<int>(i));
        const std::vector<int> roots = storeRoots(stores);
        width_ = storeWidth();
        prologue(roots, stores);
        stage();
        comment("The same piece in the order of the writes.");
        hoist(roots);
        push();
        for (std::size_t i = 0; i < staged_.size(); ++i)
            remember(staged_[i],
                     fmt::format("tile{}[(b{}) * {} + a]", i, inVector() ? " + e" : "", pitch()));
        storeElements(stores);
        pop();
        endKernel(launch());
    }

    std::string elementOffset(const Access &access) override {
        std::vector<std::pair<std::string, std::int64_t>> terms;
        for (const int d : elementDims_)
            terms.emplace_back(coordinates_[d], access.strides[d]);
        return sumOf(terms);
    }

    void forElements(const std::vector<int> &roots, const std::vector<int> &stores,
                     const std::function<void()> &body) override {
        openPiece(s_.along, width_, "b", s_.across, "a");
        positions("a", n_.across, "x", "acrossStart + a");
        positions("b", n_.along, "y", "alongStart + b");
        loadVectors(roots);
        gatherVectors(stores);
        const std::vector<std::string> first = coordinates_;
        if (inVector()) {
            line("#pragma unroll");
            open(fmt::format("for (int e = 0; e < {}; ++e)", width_));
            push();
            positions("be", n_.along, "ye", "alongStart + b + e");
        }
        body();
        if (inVector()) {
            pop();
            close();
            coordinates_ = first;
        }
        storeVectors();
        closePiece();
    }

    int width() const override { return width_; }
    Run runOf(const Access &access) const override {
        if (!varies(access, n_.along))
            return Run::one;
        return inVector() && widest(access, n_.along, n_.across) >= width_ ? Run::beside
                                                                           : Run::apart;
    }

  private:
    bool inVector() const { return width_ > 1; }
    int pitch() const { return s_.across + 1; }
    std::int64_t length(const std::vector<int> &dims) const {
        std::int64_t product = 1;
        for (const int d : dims)
            product *= n_.dims[d].size;
        return product;
    }
    static bool varies(const Access &access, const std::vector<int> &dims) {
        return std::any_of(dims.begin(), dims.end(), [&](int d) { return access.strides[d] != 0; });
    }

    /// Elements that an access may take at once along `dims`; 0 when they are no run of memory.
    int widest(const Access &access, const std::vector<int> &dims,
               const std::vector<int> &others) const {
        std::int64_t expected = 1;
        for (std::size_t i = dims.size(); i-- > 0;) {
            if (access.strides[dims[i]] != expected)
                return 0;
            expected *= n_.dims[dims[i]].size;
        }
        int width = std::min(s_.vector, 4);
        const auto fit = [&](std::int64_t n) {
            while (width > 1 && n % width != 0)
                width /= 2;
        };
        fit(access.base);
        fit(expected);
        for (const int d : others)
            fit(access.strides[d]);
        for (const int d : rowDims_)
            fit(access.strides[d]);
        return width;
    }

    int storeWidth() const {
        int width = std::min(s_.vector, 4);
        bool any = false;
        for (std::size_t i = 0; i < n_.stores.size(); ++i) {
            const int fits = widest(n_.stores[i], n_.along, n_.across);
            const auto bytes = static_cast<int>(sizeOf(p_.buffers[g_.stores[i].buffer].dtype));
            if (fits > 0)
                width = std::min({width, fits, 16 / bytes});
            any = any || fits > 0;
        }
        return any ? width : 1;
    }

    /// Loops over the piece: `run` neighbours in vectors of `width`, for each of `count` others;
    /// only what lies within the tensor when `guarded`.
    void openPiece(int run, int width, const char *runName, int count, const char *countName,
                   bool guarded = true) {
        const int together = std::min(32, run); // neighbours that a warp takes of one run
        const int lanes = together / width;
        const int times = run * count / width / s_.threads;
        line("#pragma unroll");
        open(fmt::format("for (int k = 0; k < {}; ++k)", times));
        line(fmt::format("const int i = (int)threadIdx.x + k * {};", s_.threads));
        line(fmt::format("const int {} = i / {} % {};", countName, lanes, count));
        const std::string far =
            run > together ? fmt::format("i / {} * {} + ", lanes * count, together) : std::string();
        line(fmt::format("const int {} = {}i % {}{};", runName, far, lanes,
                         width > 1 ? fmt::format(" * {}", width) : ""));
        std::string guard;
        if (length(n_.across) % s_.across != 0)
            guard = fmt::format("acrossStart + a < {}", length(n_.across));
        if (length(n_.along) % s_.along != 0)
            guard +=
                fmt::format("{}alongStart + b < {}", guard.empty() ? "" : " && ", length(n_.along));
        open(guard.empty() || !guarded ? "" : fmt::format("if ({})", guard));
        push();
    }
    void closePiece() {
        pop();
        close();
        close();
        for (const int d : elementDims_)
            coordinates_[d].clear();
    }

    /// Coordinates of `dims`, which together are one loop, from the position along it.
    void positions(const std::string &prefix, const std::vector<int> &dims, const std::string &name,
                   const std::string &flat) {
        line(fmt::format("[[maybe_unused]] const {} {} = {};", indexType_, name, flat));
        if (dims.size() == 1) {
            coordinates_[dims[0]] = name;
            return;
        }
        std::string rest = name;
        for (std::size_t k = dims.size(); k-- > 0;) {
            const std::int64_t size = n_.dims[dims[k]].size;
            coordinates_[dims[k]] = fmt::format("{}{}", prefix, k);
            line(fmt::format("[[maybe_unused]] const {} {}{} = {};", indexType_, prefix, k,
                             k == 0 ? rest : fmt::format("{} % {}", rest, size)));
            rest = fmt::format("{} / {}", rest, size);
        }
    }

    void prologue(const std::vector<int> &roots, const std::vector<int> &stores) {
        bufferParameters(roots, stores);
        declareSteps("tilesAlong", length(n_.along), std::to_string(s_.along));
        declareSteps("tilesAcross", length(n_.across), std::to_string(s_.across));
        line(fmt::format("const {0} alongStart = ({0})(blockIdx.x % tilesAlong * {1});", indexType_,
                         s_.along));
        line(fmt::format("const {0} acrossStart = ({0})(blockIdx.x / tilesAlong % tilesAcross * "
                         "{1});",
                         indexType_, s_.across));
        if (!rowDims_.empty()) {
            line("const long long row = blockIdx.x / (tilesAlong * tilesAcross);");
            rowCoordinates("row", "long long");
        }
        rowPointers(roots, stores);
    }

    /// Whether neighbours across lie all within the border of a load, or all outside.
    bool insideTogether(int load) const {
        return std::ranges::none_of(reachableFrom(p_, p_.values[load].args), [&](int id) {
            const auto access = n_.accesses.find(id);
            return access != n_.accesses.end() && varies(access->second, n_.across);
        });
    }

    /// Elements of a load that are read at once.
    int readWidth(int load) const {
        const auto bytes = static_cast<int>(sizeOf(p_.values[load].dtype));
        const int fits =
            insideTogether(load) ? widest(n_.accesses.at(load), n_.across, n_.along) : 1;
        return std::max(1, std::min(fits, 16 / bytes));
    }

    /// Fills shared memory with what is read in the other order.
    void stage() {
        staged_ = loadsAcross(p_, n_);
        comment("What is read goes through shared memory, all of it in flight at once.");
        std::vector<int> widths;
        for (std::size_t t = 0; t < staged_.size(); ++t) {
            const int width = readWidth(staged_[t]);
            widths.push_back(width);
            const std::string type = scalarType(p_.values[staged_[t]].dtype);
            line(fmt::format("__shared__ {} tile{}[{} * {}];", type, t, s_.along, pitch()));
            line(fmt::format("{} x{}[{}][{}] = {{}};", type, t,
                             s_.along * s_.across / width / s_.threads, width));
        }
        for (std::size_t t = 0; t < staged_.size(); ++t) {
            openPiece(s_.across, widths[t], "a", s_.along, "b");
            positions("a", n_.across, "x", "acrossStart + a");
            positions("b", n_.along, "y", "alongStart + b");
            if (widths[t] > 1)
                loadVector(staged_[t], fmt::format("x{}[k]", t), widths[t]);
            else
                line(fmt::format("x{}[k][0] = {};", t,
                                 loadText(staged_[t], elementOffset(n_.accesses.at(staged_[t])))));
            closePiece();
        }
        // Without a condition here: compilers would join it with the one above, and wait for each
        // vector before they ask for the next.
        for (std::size_t t = 0; t < staged_.size(); ++t) {
            openPiece(s_.across, widths[t], "a", s_.along, "b", false);
            if (widths[t] > 1)
                line("#pragma unroll");
            line(fmt::format("for (int e = 0; e < {}; ++e)", widths[t]));
            line(fmt::format("    tile{}[b * {} + a + e] = x{}[k][e];", t, pitch(), t));
            closePiece();
        }
        line("__syncthreads();");
    }

    Launch launch() const {
        const auto tiles = fmt::format("cdiv({}, {}) * cdiv({}, {})", length(n_.along), s_.along,
                                       length(n_.across), s_.across);
        Launch result;
        result.block[0] = s_.threads;
        result.grid[0] =
            rowDims_.empty() ? tiles : fmt::format("{} * {}", n_.rowsExpression(), tiles);
        return result;
    }

    int width_ = 1;           ///< of the writes
    std::vector<int> staged_; ///< loads that go through shared memory
};

} // namespace

std::unique_ptr<KernelWriter> makeTileWriter(const Program &p, const Group &g, const Nest &n,
                                             const Schedule &s, const std::string &name) {
    return std::make_unique<TileWriter>(p, g, n, s, name);
}

} // namespace cuda_agent::policy
