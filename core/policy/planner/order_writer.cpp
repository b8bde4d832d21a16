// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/planner/kernel_writer.h"
#include "core/policy/planner/order.h"

#include <bit>

namespace cuda_agent::policy {

namespace {

/// Elements of rows in order. A block takes rows to shared memory and stores the places that are
/// wanted. Rows that do not fit are put in order piece by piece; further kernels merge the pieces
/// two by two, each element finding its place by a search in the other piece.
class OrderWriter : public KernelWriter {
  public:
    OrderWriter(const Program &program, const Group &group, const Nest &nest,
                const Schedule &schedule, const std::string &name)
        : KernelWriter(program, group, nest, schedule, name),
          shape_(orderShape(program, group, nest)), elements_(orderedDims(group, nest, false)),
          places_(orderedDims(group, nest, true)) {}

  protected:
    void forElements(const std::vector<int> &, const std::vector<int> &,
                     const std::function<void()> &body) override {
        body();
    }
    std::string elementOffset(const Access &access) override {
        std::vector<std::pair<std::string, std::int64_t>> terms;
        for (const int d : elementDims_)
            terms.emplace_back(coordinates_[d], access.strides[d]);
        return sumOf(terms);
    }

    void writeForm() override {
        out_.helpers.insert("ranked");
        writeTiles();
        for (std::int64_t run = s_.chunk; run < shape_.length; run *= 2)
            writeMerge(run);
    }

  private:
    bool whole() const { return s_.chunk >= shape_.length; }
    bool alone() const { return s_.threads == 1; }
    std::int64_t chunk() const { return s_.chunk; }
    const Value &first() const { return p_.values[g_.orders[0]]; }
    std::string ranked() const {
        return fmt::format("Ranked<{}>", scalarType(p_.values[first().args[0]].dtype));
    }
    const char *largest() const { return first().backwards ? "true" : "false"; }
    std::string scratchOf(std::size_t merges) const {
        return fmt::format("{}_runs{}", name_, merges % 2);
    }

    /// Names the position along the loops of some dimensions, of which it is the row-major one.
    void place(const std::vector<int> &dims, const char *name, const std::string &position) {
        std::string rest = position;
        for (std::size_t k = dims.size(); k-- > 0;) {
            if (dims.size() == 1) {
                coordinates_[dims[k]] = position;
                return;
            }
            coordinates_[dims[k]] = fmt::format("{}{}", name, k);
            line(
                fmt::format("const int {}{} = {};", name, k,
                            k == 0 ? rest : fmt::format("({}) % {}", rest, n_.dims[dims[k]].size)));
            rest = fmt::format("({}) / {}", rest, n_.dims[dims[k]].size);
        }
    }

    void parametersOf(const std::vector<int> &roots) {
        std::set<int> seen;
        const std::function<void(int)> visit = [&](int id) {
            if (!seen.insert(id).second)
                return;
            if (p_.values[id].kind == Kind::load)
                bufferParameter(p_.values[id].buffer);
            for (const int arg : p_.values[id].args) {
                if (p_.values[id].kind != Kind::order)
                    visit(arg);
            }
        };
        for (const int root : roots)
            visit(root);
    }
    void storeParameters() {
        std::vector<int> roots;
        for (const Store &store : g_.stores)
            roots.push_back(store.value);
        parametersOf(roots);
        for (const Store &store : g_.stores)
            bufferParameter(store.buffer);
    }
    std::string rows() {
        return rowDims_.empty() ? std::string("1") : sizeParameter(n_.rowsExpression(), "rows");
    }
    void scratch(std::size_t number) {
        BufferInfo info;
        info.name = scratchOf(number);
        info.dtype = DType::uint8;
        info.expressions = {
            fmt::format("{} * {}", n_.rowsExpression(), shape_.length * shape_.bytes)};
        const bool known =
            std::any_of(out_.scratch.begin(), out_.scratch.end(),
                        [&](const BufferInfo &other) { return other.name == info.name; });
        if (!known)
            out_.scratch.push_back(info);
    }

    /// Stores what goes to the place `position`, where `own` is the element of that place.
    void storePlace(const std::string &row, const std::string &position) {
        push();
        rowCoordinates(row, "long long");
        place(places_, "q", position);
        for (const int order : g_.orders)
            remember(order, p_.values[order].op == "sorted" ? "own.value" : "(long long)own.place");
        for (std::size_t i = 0; i < g_.stores.size(); ++i) {
            const std::string code = stored(static_cast<int>(i), valueOf(g_.stores[i].value));
            line(fmt::format("{}[{}] = {};", pointer(n_.stores[i], g_.stores[i].buffer),
                             elementOffset(n_.stores[i]), code));
        }
        pop();
    }

    // --- rows, or pieces of one, in shared memory ------------------------------------------------

    void writeTiles() {
        const std::int64_t tiles = (shape_.length + chunk() - 1) / chunk();
        beginKernel(whole() ? "" : "_pieces", s_.threads);
        parametersOf({first().args[0]});
        if (whole()) {
            storeParameters();
        } else {
            scratch(0);
            scratchParameter(ranked(), scratchOf(0));
        }
        const std::string most = s_.rowsEach > 1 ? rows() : std::string();
        line("extern __shared__ __align__(16) unsigned char shared[];");
        line(fmt::format("{0} *at = reinterpret_cast<{0} *>(shared);", ranked()));
        if (tiles > 1) {
            declareSteps("tiles", shape_.length, std::to_string(chunk()));
            line("const long long firstRow = (long long)(blockIdx.x / tiles);");
            line(fmt::format("const int start = (int)(blockIdx.x % tiles) * {};", chunk()));
        } else {
            line(
                fmt::format("const long long firstRow = (long long)blockIdx.x * {};", s_.rowsEach));
        }
        fillTile(most);
        if (alone())
            sortTileAlone();
        else
            sortTile();
        if (whole())
            storeTile(most);
        else
            handOver();
        Launch launch;
        launch.block[0] = s_.threads;
        launch.grid[0] = tiles > 1 ? fmt::format("{} * cdiv({}, {})", n_.rowsExpression(),
                                                 shape_.length, chunk())
                                   : fmt::format("cdiv({}, {})", n_.rowsExpression(), s_.rowsEach);
        launch.shared = static_cast<int>((alone() ? 2 : s_.rowsEach) * chunk() * shape_.bytes);
        endKernel(launch);
    }

    std::string startOf(const std::string &position) const {
        return whole() ? position : "start + " + position;
    }

    void fillTile(const std::string &most) {
        const std::int64_t elements = chunk() * s_.rowsEach;
        if (alone())
            open(fmt::format("for (int c = 0; c < {0}{1}; ++c)", chunk(),
                             whole() ? "" : fmt::format(" && start + c < {}", shape_.length)));
        else
            open(fmt::format("for (int e = (int)threadIdx.x; e < {}; e += {})", elements,
                             s_.threads));
        std::string inside;
        if (!alone()) {
            splitElement(chunk(), shape_.readsAcross, "c");
            line(fmt::format("{} own = {{{}, 2147483647}};", ranked(), last()));
            if (shape_.length % chunk() != 0)
                inside = fmt::format("{} < {}", startOf("c"), shape_.length);
            if (s_.rowsEach > 1)
                inside += fmt::format("{}firstRow + r < {}", inside.empty() ? "" : " && ", most);
        } else {
            line(fmt::format("{} own;", ranked()));
        }
        open(inside.empty() ? "" : fmt::format("if ({})", inside));
        push();
        rowCoordinates(rowText(), "long long");
        place(elements_, "p", startOf("c"));
        const std::string value = valueOf(first().args[0]);
        line(fmt::format("own.value = {};", value));
        line(fmt::format("own.place = {};", startOf("c")));
        pop();
        close();
        line(fmt::format("at[{}] = own;", slot("c")));
        close();
        if (!alone())
            line("__syncthreads();");
    }

    /// A row of the block's and a position in it, by the number of an element; neighbouring threads
    /// take neighbours in memory.
    void splitElement(std::int64_t length, bool across, const char *position) {
        if (s_.rowsEach == 1) {
            line(fmt::format("const int {} = e;", position));
            return;
        }
        line(fmt::format("const int r = e {} {}, {} = e {} {};", across ? "%" : "/",
                         across ? s_.rowsEach : length, position, across ? "/" : "%",
                         across ? s_.rowsEach : length));
    }
    std::string rowText() const { return s_.rowsEach > 1 ? "(firstRow + r)" : "firstRow"; }
    std::string slot(const std::string &position) const {
        return s_.rowsEach > 1 ? fmt::format("r * {} + {}", chunk(), position) : position;
    }
    /// What comes after all elements.
    std::string last() const {
        const std::string type = scalarType(p_.values[first().args[0]].dtype);
        if (first().backwards)
            return lowestOf(type);
        return type == "float" || type == "double" ? "NAN" : highestOf(type);
    }

    void sortTile() {
        out_.helpers.insert("sortRuns");
        const std::int64_t kept = std::min(shape_.kept(), chunk());
        const auto run = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(kept)));
        const std::string with = fmt::format("<{}, {}, {}>(at, {}", s_.threads, s_.unroll,
                                             largest(), chunk() * s_.rowsEach);
        line(fmt::format("sortRuns{}, {});", with, run));
        if (run < chunk())
            line(fmt::format("keepFirst{}, {}, {});", with, chunk(), run));
    }

    void sortTileAlone() {
        out_.helpers.insert("sortAlone");
        const std::string count = whole()
                                      ? std::to_string(shape_.length)
                                      : fmt::format("min({} - start, {})", shape_.length, chunk());
        line(fmt::format("at = sortAlone<{}>(at, at + {}, {}, {});", largest(), chunk(), count,
                         shape_.kept()));
    }

    void storeTile(const std::string &most) {
        if (alone()) {
            open(fmt::format("for (int j = 0; j < {}; ++j)", shape_.count));
        } else {
            open(fmt::format("for (int e = (int)threadIdx.x; e < {}; e += {})",
                             shape_.count * s_.rowsEach, s_.threads));
            splitElement(shape_.count, shape_.writesAcross, "j");
            if (s_.rowsEach > 1) {
                line(fmt::format("if (firstRow + r >= {})", most));
                line("    continue;");
            }
        }
        line(fmt::format("const {} own = at[{}{}];", ranked(), slot("j"),
                         shape_.first > 0 ? fmt::format(" + {}", shape_.first) : ""));
        storePlace(rowText(), "j");
        close();
    }

    /// A piece in order goes to memory, as far as it may be wanted.
    void handOver() {
        const std::int64_t kept = std::min(shape_.kept(), chunk());
        open(fmt::format("for (int j = {}; j < {} && start + j < {}; j += {})",
                         alone() ? "0" : "(int)threadIdx.x", kept, shape_.length, s_.threads));
        line(fmt::format("{}[firstRow * {} + start + j] = at[j];", scratchOf(0), shape_.length));
        close();
    }

    // --- pieces merged two by two
    // -----------------------------------------------------------------

    void writeMerge(std::int64_t run) {
        const bool last = 2 * run >= shape_.length;
        const auto number = static_cast<std::size_t>(
            std::bit_width(static_cast<std::uint64_t>((run + chunk() - 1) / chunk())) - 1);
        constexpr std::int64_t aloneTakes = 4096;
        const int threads = alone() ? 1 : 256;
        const std::int64_t each = alone() ? aloneTakes : threads;
        beginKernel(fmt::format("_merge{}", number), threads);
        out_.helpers.insert("countBefore");
        scratchParameter("const " + ranked(), scratchOf(number));
        if (last) {
            storeParameters();
        } else {
            scratch(number + 1);
            scratchParameter(ranked(), scratchOf(number + 1));
        }
        const std::string all = rowDims_.empty() ? std::to_string(shape_.length)
                                                 : fmt::format("{} * {}", rows(), shape_.length);
        open(fmt::format("for (long long e = (long long)blockIdx.x * {0} + threadIdx.x, end = "
                         "(long long)(blockIdx.x + 1) * {0}; e < end && e < {1}; e += {2})",
                         each, all, threads));
        line(fmt::format("const long long row = e / {};", shape_.length));
        line(fmt::format("const int c = (int)(e % {}), own0 = c / {} * {}, i = c - own0;",
                         shape_.length, run, run));
        if (shape_.kept() < run) {
            line(fmt::format("if (i >= {}) // not wanted", shape_.kept()));
            line("    continue;");
        }
        line(fmt::format("const {} *mine = {} + row * {};", ranked(), scratchOf(number),
                         shape_.length));
        line(fmt::format("const {} own = mine[c];", ranked()));
        comment("The run that this one is merged with, and the start of both.");
        line(fmt::format("const bool second = own0 / {} % 2 != 0;", run));
        line(fmt::format("const int other = second ? own0 - {0} : own0 + {0};", run));
        line("const int start = second ? other : own0;");
        line(fmt::format("const int count = min(max({} - other, 0), {});", shape_.length,
                         std::min(run, shape_.kept())));
        line(fmt::format("const int rank = i + countBefore<{}>(mine + other, count, own);",
                         largest()));
        if (shape_.kept() < shape_.length) {
            line(fmt::format("if (rank >= {})", shape_.kept()));
            line("    continue;");
        }
        if (!last) {
            line(fmt::format("{}[row * {} + start + rank] = own;", scratchOf(number + 1),
                             shape_.length));
        } else if (shape_.first > 0) {
            line(fmt::format("const int j = rank - {};", shape_.first));
            open("if (j >= 0)");
            storePlace("row", "j");
            close();
        } else {
            storePlace("row", "rank");
        }
        close();
        Launch launch;
        launch.block[0] = threads;
        launch.grid[0] = fmt::format("cdiv({} * {}, {})", n_.rowsExpression(), shape_.length, each);
        endKernel(launch);
    }

    OrderShape shape_;
    std::vector<int> elements_, places_; ///< loops along the row
};

} // namespace

std::unique_ptr<KernelWriter> makeOrderWriter(const Program &p, const Group &g, const Nest &n,
                                              const Schedule &s, const std::string &name) {
    return std::make_unique<OrderWriter>(p, g, n, s, name);
}

} // namespace cuda_agent::policy
