// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/planner/product_epilogue.h"

namespace cuda_agent::policy {

namespace {

/// A product and everything that is computed from its elements. With parts of k, sums lie in
/// scratch memory, and a second kernel adds them up in order and goes on.
class ProductWriter : public ProductEpilogue {
  public:
    using ProductEpilogue::ProductEpilogue;

  protected:
    void writeForm() override {
        out_.helpers.insert({"widen", "loadVector", "storeVector"});
        writeProduct();
        if (s_.parts > 1)
            writeCombine();
    }

  private:
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

    void tileType() {
        const std::string type = storageType(product_.type);
        if (loops()) {
            line(fmt::format("using Tile = LoopProduct<{}, {}, {}, {}, {}, {}, {}, {}, {}>;", type,
                             s_.along, s_.across, s_.chunk, s_.rowsEach, product_.a.alongK,
                             product_.a.pitch, product_.b.alongK, product_.b.pitch));
            return;
        }
        line(fmt::format("using A = {};", operandType(product_.a, s_.along, product_.m)));
        line(fmt::format("using B = {};", operandType(product_.b, s_.across, product_.n)));
        if (s_.form == Schedule::Form::tensor)
            line(fmt::format("using Tile = TensorProduct<{}, {}, {}, {}, {}, {}, {}, {}, A, B>;",
                             type, s_.along, s_.across, s_.chunk, s_.rowsEach, s_.columnsEach,
                             s_.stages, s_.split));
        else
            line(fmt::format("using Tile = ThreadProduct<{}, {}, {}, {}, {}, {}, {}, A, B>;", type,
                             s_.along, s_.across, s_.chunk, s_.rowsEach, s_.columnsEach,
                             blockOfSums()));
    }

    /// Steps of k that one running sum takes before it is added to the others: sums of thousands of
    /// terms one after the other lose digits.
    int blockOfSums() const {
        constexpr std::int64_t longestSum = 2048, block = 512;
        const std::int64_t length = (product_.k + s_.parts - 1) / s_.parts;
        return length > longestSum ? static_cast<int>(block) : 0;
    }

    /// `rows` of a tile, `all` of them together.
    std::string operandType(const ProductOperand &operand, int rows, std::int64_t all) {
        const bool tensor = s_.form == Schedule::Form::tensor;
        const std::string shape =
            fmt::format("{}, {}, {}, {}", storageType(product_.type), rows, s_.chunk, s_.threads);
        std::vector<std::int64_t> numbers;
        if (!operand.windows) {
            const std::string plain =
                fmt::format("{}<{}, {}, {}, {}>", tensor ? "Operand" : "Slice", shape,
                            operand.alongK, widestRead(product_, operand, all), operand.pitch);
            if (!operand.filters)
                return plain;
            out_.helpers.insert({"neighbours", "padded"});
            const NeighbourFilters &f = *operand.filters;
            numbers.push_back(f.channels);
            for (const auto &sizes : {f.stride, f.taps, f.size, f.first})
                numbers.insert(numbers.end(), sizes.begin(), sizes.end());
            numbers.push_back(product_.b.windows->inner); // below each tap
            return fmt::format("Padded<{}, Neighbours<{}>>", plain, fmt::join(numbers, ", "));
        }
        out_.helpers.insert("windows");
        const ConvolutionWindows &w = *operand.windows;
        numbers.push_back(w.inner);
        for (const auto &sizes : {w.in, w.out, w.taps, w.stride, w.padding, w.dilation})
            numbers.insert(numbers.end(), sizes.begin(), sizes.end());
        const std::string windows = fmt::format("Windows<{}>", fmt::join(numbers, ", "));
        if (!operand.alongK)
            return fmt::format("{}<{}, {}>", tensor ? "WindowOperand" : "WindowSlice", shape,
                               windows);
        out_.helpers.insert("channelWindows");
        return fmt::format("{}<{}, {}, {}>", tensor ? "ChannelOperand" : "ChannelSlice", shape,
                           widestRead(product_, operand, all), windows);
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
        tileType();
        line(fmt::format("const int m = {};", rows));
        // Blocks that run at the same time take few rows and columns of tiles.
        constexpr int together = 8;
        line(fmt::format("const int down = (m + {}) / {}, wide = ({} + {}) / {};", s_.along - 1,
                         s_.along, product_.n, s_.across - 1, s_.across));
        line(fmt::format("const int first = (int)blockIdx.x / (wide * {0}) * {0};", together));
        line(fmt::format("const int high = down - first < {} ? down - first : {};", together,
                         together));
        line(fmt::format("const int within = (int)blockIdx.x % (wide * {});", together));
        line(fmt::format("const int top = (first + within % high) * {}, left = within / high * {};",
                         s_.along, s_.across));
        std::string a = p_.buffers[product_.a.buffer].name;
        std::string b = p_.buffers[product_.b.buffer].name;
        if (batched()) {
            line("const long long batch = blockIdx.z;");
            a += batchOffset(product_.a);
            b += batchOffset(product_.b);
        }
        std::string range = std::to_string(product_.k);
        if (!loops()) {
            range = "0, " + range;
            if (partial) {
                line(fmt::format("const int each = (({} - 1) / {} / {} + 1) * {};", product_.k,
                                 s_.chunk, s_.parts, s_.chunk));
                line(fmt::format(
                    "const int from = (int)blockIdx.y * each, end = from + each < {0} ? "
                    "from + each : {0};",
                    product_.k));
                range = "from, end";
            }
        }
        Launch launch;
        launch.block[0] = s_.threads;
        launch.grid[0] = fmt::format("cdiv({}, {}) * cdiv({}, {})", rowsExpression(), s_.along,
                                     product_.n, s_.across);
        launch.grid[1] = std::to_string(s_.parts);
        launch.grid[2] = std::to_string(product_.batch);
        std::string memory;
        if (s_.form == Schedule::Form::tensor) {
            line("extern __shared__ __align__(128) unsigned char tiles[];");
            launch.shared = sharedBytes(s_, product_);
            memory = ", tiles";
            chooseTensorHelpers();
        } else if (!loops()) {
            line("__shared__ __align__(16) float tiles[Tile::shared];");
            memory = ", tiles";
            out_.helpers.insert("product");
            if (blockOfSums() > 0)
                out_.helpers.insert("sumsInBlocks");
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
            epilogue();
        close("};");
        line(fmt::format("Tile::{}run{}({}, {}, m, {}, {}, top, left{}, finish);",
                         loops() ? "" : "template ",
                         loops() ? std::string() : fmt::format("<{}>", s_.vector), a, b, product_.n,
                         range, memory));
        endKernel(std::move(launch));
    }

    void chooseTensorHelpers() {
        out_.helpers.insert({"tensor", std::string(nameOf(product_.type))});
        const bool narrow = sizeOf(product_.type) == 2;
        for (const ProductOperand *operand : {&product_.a, &product_.b})
            out_.helpers.insert(operand->alongK ? "alongK"
                                : narrow        ? "shortAcross"
                                                : "floatAcross");
        if (s_.split)
            out_.helpers.insert("split");
        else if (!narrow)
            out_.helpers.insert("rounded");
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
        epilogue();
        Launch launch;
        launch.block[0] = threads;
        launch.grid[0] = fmt::format("cdiv({} * ({}) * {}, {})", product_.batch, rowsExpression(),
                                     product_.n, threads * s_.vector);
        endKernel(std::move(launch));
    }
};

} // namespace

int sharedBytes(const Schedule &s, const Product &product) {
    const int size = static_cast<int>(sizeOf(product.type));
    const auto slice = [&](bool alongK, int rows) {
        return alongK ? rows * (s.chunk * size + 16) : s.chunk * (rows + 8) * size;
    };
    const int slices =
        s.stages * (slice(product.a.alongK, s.along) + slice(product.b.alongK, s.across));
    const int sums = s.along * (s.across + 8) * static_cast<int>(sizeof(float)); // take their place
    return std::max(slices, sums);
}

std::unique_ptr<KernelWriter> makeProductWriter(const Program &p, const Group &g, const Nest &n,
                                                const Schedule &s, const std::string &name) {
    return std::make_unique<ProductWriter>(p, g, n, s, name);
}

} // namespace cuda_agent::policy
