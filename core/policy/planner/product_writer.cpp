// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/planner/kernel_writer.h"
#include "core/policy/planner/products.h"

namespace cuda_agent::policy {

namespace {

/// A product and everything that is computed from its elements, which stay in registers. With parts
/// of k, sums lie in scratch memory, and a second kernel adds them up in order and goes on.
class ProductWriter : public KernelWriter {
  public:
    ProductWriter(const Program &program, const Group &group, const Nest &nest,
                  const Schedule &schedule, const std::string &name)
        : KernelWriter(program, group, nest, schedule, name),
          product_(*program.library[group.product].product), value_(productValue(program, group)) {}

  protected:
    void writeForm() override {
        out_.helpers.insert({"widen", "loadVector", "storeVector"});
        for (std::size_t i = 0; i < g_.stores.size(); ++i)
            stores_.push_back(static_cast<int>(i));
        roots_ = storeRoots(stores_);
        writeProduct();
        if (s_.parts > 1)
            writeCombine();
    }

    std::string elementOffset(const Access &access) override {
        std::vector<std::pair<std::string, std::int64_t>> terms;
        for (const int d : elementDims_)
            terms.emplace_back(coordinates_[d], access.strides[d]);
        return sumOf(terms);
    }

    /// The elements of a vector along a row of the product.
    void forElements(const std::vector<int> &roots, const std::vector<int> &stores,
                     const std::function<void()> &body) override {
        const bool vectors = s_.vector > 1, apart = vectors && !loops();
        for (const int load : elementLoads(roots)) {
            const Access &access = n_.accesses.at(load);
            if (!vectors || lastStride(access) == 0) {
                valueOf(load); // the same for the whole vector
            } else if (apart && inRuns(access)) {
                const std::string name = fmt::format("v{}", arrays_++);
                line(fmt::format("{} {}[{}];", scalarType(p_.values[load].dtype), name, s_.vector));
                line(fmt::format("loadVector({}, {} + {});", name,
                                 pointer(access, p_.values[load].buffer), elementOffset(access)));
                remember(load, name + "[e]");
            }
        }
        vectors_.clear();
        for (const int store : stores) {
            if (!apart || !inRuns(n_.stores[store]))
                continue;
            vectors_[store] = fmt::format("y{}[e]", store);
            line(fmt::format("{} y{}[{}];", storageType(p_.buffers[g_.stores[store].buffer].dtype),
                             store, s_.vector));
        }
        const std::vector<std::string> first = coordinates_;
        if (vectors) {
            if (apart)
                line("#pragma unroll");
            open(fmt::format("for (int e = 0; e < {}; ++e)",
                             loops() ? "width" : std::to_string(s_.vector)));
            std::string &last = coordinates_[n_.sides[2].back()];
            last = fmt::format("({} + e)", last);
        }
        push();
        body();
        pop();
        if (vectors) {
            close();
            coordinates_ = first;
            for (const auto &[store, name] : vectors_)
                line(fmt::format("storeVector({} + {}, y{});",
                                 pointer(n_.stores[store], g_.stores[store].buffer),
                                 elementOffset(n_.stores[store]), store));
        }
        vectors_.clear();
    }

  private:
    bool loops() const { return s_.form == Schedule::Form::loopProduct; }
    bool batched() const { return product_.batch > 1; }

    std::int64_t lastStride(const Access &access) const {
        return n_.sides[2].empty() ? 0 : access.strides[n_.sides[2].back()];
    }

    /// Whether neighbours along a row of the product may be moved at once.
    bool inRuns(const Access &access) const {
        if (lastStride(access) != 1 || access.base % s_.vector != 0)
            return false;
        for (std::size_t d = 0; d < access.strides.size(); ++d) {
            if (static_cast<int>(d) != n_.sides[2].back() && access.strides[d] % s_.vector != 0)
                return false;
        }
        return true;
    }

    std::string rowsText() {
        if (!n_.runtimeOuter)
            return std::to_string(product_.m);
        return fmt::format("(int)({})", sizeParameter(rowsExpression(), "rows"));
    }
    std::string rowsExpression() const {
        if (!n_.runtimeOuter)
            return std::to_string(product_.m);
        const std::int64_t inner = product_.m / n_.dims[0].size;
        return inner == 1 ? n_.dims[0].expression
                          : fmt::format("({}) * {}", n_.dims[0].expression, inner);
    }

    std::string templateArguments(const std::string &operandA, const std::string &operandB) const {
        const std::string type = storageType(product_.type);
        if (loops())
            return fmt::format("LoopProduct<{}, {}, {}, {}, {}, {}, {}>", type, s_.along, s_.across,
                               s_.chunk, s_.rowsEach, operandA, operandB);
        if (s_.form == Schedule::Form::tensor)
            return fmt::format("TensorProduct<{}, {}, {}, {}, {}, {}, {}, {}, {}, {}>", type,
                               s_.along, s_.across, s_.chunk, s_.rowsEach, s_.columnsEach,
                               s_.stages, s_.split, operandA, operandB);
        return fmt::format("ThreadProduct<{}, {}, {}, {}, {}, {}, {}, {}, {}>", type, s_.along,
                           s_.across, s_.chunk, s_.rowsEach, s_.columnsEach, operandA, operandB,
                           blockOfSums());
    }

    /// Steps of k that one running sum takes before it is added to the others: sums of thousands of
    /// terms one after the other lose digits.
    int blockOfSums() const {
        constexpr std::int64_t longestSum = 2048, block = 512;
        const std::int64_t length = (product_.k + s_.parts - 1) / s_.parts;
        return length > longestSum ? static_cast<int>(block) : 0;
    }

    std::string operandText(const ProductOperand &operand, std::int64_t rows) const {
        if (loops())
            return fmt::format("{}, {}", operand.alongK, operand.pitch);
        return fmt::format("{}, {}, {}", operand.alongK, widestRead(product_, operand, rows),
                           operand.pitch);
    }

    std::string partLength() const {
        const std::int64_t slices = (product_.k + s_.chunk - 1) / s_.chunk;
        return std::to_string((slices + s_.parts - 1) / s_.parts * s_.chunk);
    }

    void writeProduct() {
        const bool partial = s_.parts > 1;
        beginKernel(partial ? "_partial" : "", s_.threads, s_.resident > 1 ? s_.resident : 0);
        bufferParameter(product_.a.buffer);
        bufferParameter(product_.b.buffer);
        if (!partial)
            otherParameters();
        const std::string rows = rowsText();
        const std::string form =
            s_.form == Schedule::Form::tensor
                ? "on tensor cores"
                : (loops() ? "by one thread in plain loops" : "in float arithmetic");
        comment(fmt::format("[{}, {}] = [{}, {}] x [{}, {}] {}; tiles of {} by {}.", product_.m,
                            product_.n, product_.m, product_.k, product_.k, product_.n, form,
                            s_.along, s_.across));
        line(fmt::format("using Tile = {};",
                         templateArguments(operandText(product_.a, product_.m),
                                           operandText(product_.b, product_.n))));
        line(fmt::format("const int m = {};", rows));
        // Blocks that run at the same time take few rows and columns of tiles.
        constexpr int together = 8;
        const std::int64_t tilesN = (product_.n + s_.across - 1) / s_.across;
        line(fmt::format("const int down = (m + {}) / {}, first = (int)blockIdx.x / {} * {};",
                         s_.along - 1, s_.along, tilesN * together, together));
        line(fmt::format("const int high = down - first < {} ? down - first : {};", together,
                         together));
        line(fmt::format("const int within = (int)blockIdx.x % {};", tilesN * together));
        line(fmt::format("const int top = (first + within % high) * {}, left = within / high * {};",
                         s_.along, s_.across));
        std::string a = p_.buffers[product_.a.buffer].name;
        std::string b = p_.buffers[product_.b.buffer].name;
        if (batched()) {
            line("const long long batch = blockIdx.z;");
            if (product_.a.batchStride != 0)
                a += fmt::format(" + batch * {}", product_.a.batchStride);
            if (product_.b.batchStride != 0)
                b += fmt::format(" + batch * {}", product_.b.batchStride);
        }
        std::string range = std::to_string(product_.k);
        if (!loops()) {
            range = "0, " + range;
            if (partial) {
                line(fmt::format("const int from = (int)blockIdx.y * {0}, end = from + {0} < {1} ? "
                                 "from + {0} : {1};",
                                 partLength(), product_.k));
                range = "from, end";
            }
        }
        Launch launch;
        launch.block[0] = s_.threads;
        launch.grid[0] = fmt::format("cdiv({}, {}) * {}", rowsExpression(), s_.along, tilesN);
        launch.grid[1] = std::to_string(s_.parts);
        launch.grid[2] = std::to_string(product_.batch);
        std::string memory;
        if (s_.form == Schedule::Form::tensor) {
            line("extern __shared__ __align__(128) unsigned char tiles[];");
            launch.shared = sharedBytes(s_, product_);
            memory = ", tiles";
            out_.helpers.insert("tensor");
            if (product_.type == DType::float16)
                out_.helpers.insert("tensorHalf");
        } else if (!loops()) {
            line("__shared__ __align__(16) float tiles[Tile::shared];");
            memory = ", tiles";
            out_.helpers.insert("product");
        } else {
            out_.helpers.insert("loopProduct");
        }
        if (loops())
            open("const auto finish = [&](int row, int column, int width, const float *sum)");
        else
            open(fmt::format("const auto finish = [&](int row, int column, const float (&sum)[{}])",
                             s_.vector));
        if (partial)
            storePartial();
        else
            epilogue("batch");
        close("};");
        line(fmt::format("Tile::{}run{}({}, {}, m, {}, {}, top, left{}, finish);",
                         loops() ? "" : "template ",
                         loops() ? std::string() : fmt::format("<{}>", s_.vector), a, b, product_.n,
                         range, memory));
        endKernel(std::move(launch));
    }

    /// Everything but the product's own operands.
    void otherParameters() {
        for (const int id : reachableFrom(p_, roots_)) {
            if (p_.values[id].kind != Kind::load || id == value_)
                continue;
            bufferParameter(p_.values[id].buffer);
            pointer(n_.accesses.at(id), p_.values[id].buffer);
        }
        for (const int store : stores_) {
            bufferParameter(g_.stores[store].buffer);
            pointer(n_.stores[store], g_.stores[store].buffer);
        }
    }

    /// Coordinates of one side of the product from a position along it.
    void positions(int side, const std::string &prefix, const std::string &flat) {
        const std::vector<int> &dims = n_.sides[static_cast<std::size_t>(side)];
        if (dims.empty())
            return;
        if (dims.size() == 1) {
            coordinates_[dims[0]] = fmt::format("({}){}", indexType_, flat);
            return;
        }
        std::string rest = fmt::format("({}){}", indexType_, flat);
        for (std::size_t k = dims.size(); k-- > 0;) {
            const std::int64_t size = n_.dims[dims[k]].size;
            const std::string name = fmt::format("{}{}", prefix, k);
            line(fmt::format("[[maybe_unused]] const {} {} = {};", indexType_, name,
                             k == 0 ? rest : fmt::format("{} % {}", rest, size)));
            coordinates_[dims[k]] = name;
            rest = fmt::format("{} / {}", rest, size);
        }
    }

    /// What is computed from `sum` at `row` and `column`, and stored.
    void epilogue(const std::string &batch) {
        push();
        positions(0, "b", batch);
        positions(1, "m", "row");
        const bool single = loops() && s_.vector == 1; // loops that no vector goes along
        if (single)
            open("for (int e = 0; e < width; ++e)");
        positions(2, "n", single ? "(column + e)" : "column");
        std::string sum = s_.vector > 1 || single ? "sum[e]" : "sum[0]";
        if (product_.alpha != 1)
            sum = fmt::format("({} * {})", sum, literal(product_.alpha, DType::float32));
        remember(value_, sum);
        storeElements(stores_);
        if (single)
            close();
        pop();
        coordinates_.assign(n_.dims.size(), "");
    }

    std::string partialName() const { return name_ + "_sums"; }

    void storePartial() {
        BufferInfo info;
        info.name = partialName();
        info.dtype = DType::float32;
        info.expressions = {std::to_string(s_.parts), std::to_string(product_.batch),
                            rowsExpression(), std::to_string(product_.n)};
        out_.scratch.push_back(info);
        scratchParameter("float", info.name);
        line(fmt::format("float *to = {} + (({}blockIdx.y * {}) * m + row) * {} + column;",
                         info.name, batched() ? "batch + (long long)" : "(long long)",
                         product_.batch, product_.n));
        line(s_.vector > 1 ? "storeVector(to, sum);" : "to[0] = sum[0];");
    }

    void writeCombine() {
        constexpr int threads = 256;
        beginKernel("", threads);
        scratchParameter("const float", partialName());
        otherParameters();
        const std::string rows = rowsText();
        line(fmt::format("const long long each = (long long){} * {} * {};", product_.batch, rows,
                         product_.n));
        line(fmt::format("const long long i = ((long long)blockIdx.x * {} + threadIdx.x) * {};",
                         threads, s_.vector));
        line("if (i >= each)");
        line("    return;");
        line(fmt::format("float sum[{}] = {{}};", s_.vector));
        line("#pragma unroll 4");
        open(fmt::format("for (int part = 0; part < {}; ++part)", s_.parts));
        line(fmt::format("float more[{}];", s_.vector));
        line(s_.vector > 1 ? fmt::format("loadVector(more, {} + part * each + i);", partialName())
                           : fmt::format("more[0] = {}[part * each + i];", partialName()));
        line("#pragma unroll");
        line(fmt::format("for (int e = 0; e < {}; ++e)", s_.vector));
        line("    sum[e] += more[e];");
        close();
        line(fmt::format("const long long line = i / {};", product_.n));
        line(fmt::format("[[maybe_unused]] const int column = (int)(i % {});", product_.n));
        line(fmt::format("[[maybe_unused]] const int row = (int)(line % {});", rows));
        line(fmt::format("[[maybe_unused]] const int batch = (int)(line / {});", rows));
        epilogue("batch");
        Launch launch;
        launch.block[0] = threads;
        launch.grid[0] = fmt::format("cdiv({} * ({}) * {}, {})", product_.batch, rowsExpression(),
                                     product_.n, threads * s_.vector);
        endKernel(std::move(launch));
    }

    const Product &product_;
    int value_;
    std::vector<int> stores_, roots_;
    int arrays_ = 0;
};

} // namespace

int sharedBytes(const Schedule &s, const Product &product) {
    const int size = static_cast<int>(sizeOf(product.type));
    const auto slice = [&](bool alongK, int rows) {
        return alongK ? rows * (s.chunk * size + 16) : s.chunk * (rows + 8) * size;
    };
    return s.stages * (slice(product.a.alongK, s.along) + slice(product.b.alongK, s.across));
}

std::unique_ptr<KernelWriter> makeProductWriter(const Program &p, const Group &g, const Nest &n,
                                                const Schedule &s, const std::string &name) {
    return std::make_unique<ProductWriter>(p, g, n, s, name);
}

} // namespace cuda_agent::policy
