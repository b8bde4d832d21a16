// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/reordered.h"
#include "core/export/template.h"
#include "core/export/writers.h"

#include "core/plan/scalar_bits.h"

#include <algorithm>
#include <cmath>

namespace cuda_agent::exporter {

namespace {

using Kind = plan::Argument::Kind;

constexpr std::int64_t gridLimits[3] = {2147483647, 65535, 65535};
constexpr std::int64_t blockLimits[3] = {1024, 1024, 64};

/// Writes forward(): one line of C++ after the other.
class OperatorWriter {
  public:
    OperatorWriter(const Source &source, const Interface &interface)
        : source_(source), plan_(source.plan), interface_(interface) {}

    std::string write() {
        checks();
        sizes();
        // After whatever may be refused: nothing of a device is touched for that.
        blank();
        line("const c10::OptionalDeviceGuard guard(at::device_of({}));", firstTensor());
        buffers();
        for (std::size_t i = 0; i < plan_.steps.size(); ++i) {
            step_ = i;
            std::visit([this](const auto &each) { step(each); }, plan_.steps[i]);
        }
        return text_;
    }

  private:
    template <typename... Args>
    void line(fmt::format_string<Args...> format, Args &&...args) {
        text_ += "    " + fmt::format(format, std::forward<Args>(args)...) + "\n";
    }
    void blank() { text_ += "\n"; }

    std::string code(const plan::Expression &expression) const {
        return interface_.code(expression.text(), Language::cpp);
    }
    /// The tensor that the steps see as that buffer, which may be a value, too.
    const std::string &name(const std::string &buffer) const {
        const auto ordered = interface_.ordered.find(buffer);
        return ordered != interface_.ordered.end() ? ordered->second : interface_.names.at(buffer);
    }
    static bool isNumber(const plan::Expression &expression) {
        return std::all_of(expression.text().begin(), expression.text().end(),
                           [](char c) { return c >= '0' && c <= '9'; });
    }

    /// In the order that it has for the steps.
    std::string shapeOf(const plan::Buffer &buffer) const {
        std::vector<std::string> list;
        for (const auto &each : reordered(buffer.shape, buffer.order))
            list.push_back(code(each));
        return fmt::format("{{{}}}", fmt::join(list, ", "));
    }

    void checks() {
        const std::string first = firstTensor();
        for (const auto &argument : interface_.arguments) {
            if (!argument.isTensor())
                continue;
            const std::string type = typeText(argument.type.dtype, Language::cpp);
            if (argument.kind == OperatorArgument::Kind::parameter)
                line("checkParameter({}, \"{}\", {}, {{{}}}, {});", argument.name, argument.name,
                     type, fmt::join(argument.type.shape, ", "), first);
            else
                line("checkTensor({}, \"{}\", {}, {}, {});", argument.name, argument.name, type,
                     argument.type.shape.size(), first);
        }
    }

    std::string firstTensor() const {
        for (const auto &argument : interface_.arguments)
            if (argument.isTensor())
                return argument.name;
        return {};
    }

    void sizes() {
        if (!plan_.symbols.empty())
            blank();
        for (const auto &[symbol, expression] : plan_.symbols)
            line("const int64_t {} = {};", name(symbol), code(expression));
        if (!interface_.conditions.empty())
            blank();
        for (const auto &condition : interface_.conditions) {
            std::string shown;
            for (const auto &each : plan::Expression::parse(condition.expression)->names())
                shown += fmt::format(", \"{}{} = \", {}", shown.empty() ? " for " : ", ", each,
                                     interface_.code(each, Language::cpp));
            line("TORCH_CHECK({}, {}{});", interface_.code(condition.expression, Language::cpp),
                 literalOf(condition.expression + " does not hold"), shown);
        }
    }

    /// The place where a buffer's first value comes from: a convolution makes its own result.
    bool beginsWithConvolution(const plan::Buffer &buffer) const {
        for (const auto &each : plan_.steps) {
            if (const auto *convolution = std::get_if<plan::ConvolutionStep>(&each)) {
                if (convolution->output == buffer.name)
                    return true;
            } else if (const auto *kernel = std::get_if<plan::KernelStep>(&each)) {
                for (const auto &argument : kernel->arguments)
                    if (argument.kind == Kind::buffer && argument.buffer == buffer.name)
                        return false;
            } else if (const auto *gemm = std::get_if<plan::GemmStep>(&each)) {
                if (gemm->c == buffer.name || gemm->a == buffer.name || gemm->b == buffer.name)
                    return false;
            } else if (std::get<plan::FillStep>(each).buffer == buffer.name) {
                return false;
            }
        }
        return false;
    }

    void buffers() {
        for (const auto &argument : interface_.arguments) {
            if (!argument.isTensor() || argument.planName.empty())
                continue;
            if (const auto &order = plan_.find(argument.planName)->order; !order.empty())
                line("const at::Tensor {} = ready({}.permute({{{}}}), {});",
                     name(argument.planName), argument.name, fmt::join(order, ", "),
                     argument.alignment);
            else
                line("{} = ready({}, {});", argument.name, argument.name, argument.alignment);
        }
        for (const auto &buffer : plan_.buffers) {
            const bool given =
                buffer.role == plan::Role::input || buffer.role == plan::Role::parameter;
            if (given && !interface_.argumentOf(buffer.name)) {
                line("const at::Tensor &{} = {};", name(buffer.name), argumentLike(buffer));
            } else if (!given && beginsWithConvolution(buffer)) {
                line("at::Tensor {};", name(buffer.name));
            } else if (!given) {
                line("{}at::Tensor {} = at::empty({}, {}.options().dtype({}));",
                     isConvolved(buffer) ? "" : "const ", name(buffer.name), shapeOf(buffer),
                     firstTensor(), typeText(buffer.dtype, Language::cpp));
            }
        }
        if (std::any_of(plan_.steps.begin(), plan_.steps.end(), [](const auto &each) {
                return std::holds_alternative<plan::KernelStep>(each);
            }))
            line("void *const stream = currentStream();");
    }

    bool isConvolved(const plan::Buffer &buffer) const {
        return std::any_of(plan_.steps.begin(), plan_.steps.end(), [&](const auto &each) {
            const auto *convolution = std::get_if<plan::ConvolutionStep>(&each);
            return convolution && convolution->output == buffer.name;
        });
    }

    /// The operator's argument that a second buffer of the same input or parameter stands for.
    std::string argumentLike(const plan::Buffer &buffer) const {
        for (const auto &each : plan_.buffers)
            if (each.role == buffer.role && each.index == buffer.index && each.key == buffer.key)
                if (const auto *argument = interface_.argumentOf(each.name))
                    return argument->name;
        return firstTensor(); // not reached: every input and parameter buffer has an argument
    }

    std::string launchSizes(const plan::Expression (&values)[3], const char *what,
                            const std::int64_t (&limits)[3]) const {
        std::vector<std::string> list;
        for (int i = 0; i < 3; ++i)
            list.push_back(isNumber(values[i]) ? values[i].text()
                                               : fmt::format("extent({}, \"{}[{}]\", {})",
                                                             code(values[i]), what, i, limits[i]));
        return fmt::format("{{{}}}", fmt::join(list, ", "));
    }

    std::string argumentText(const plan::Argument &argument) const {
        if (argument.kind == Kind::buffer) {
            const auto &buffer = *plan_.find(argument.buffer);
            const bool written =
                buffer.role == plan::Role::output || buffer.role == plan::Role::scratch;
            return name(argument.buffer) + (written ? ".mutable_data_ptr()" : ".const_data_ptr()");
        }
        if (!argument.scalar.empty())
            return scalarText(argument);
        if (argument.kind == Kind::int32)
            return isNumber(argument.value) ? fmt::format("int32_t{{{}}}", code(argument.value))
                                            : fmt::format("asInt32({})", code(argument.value));
        if (argument.kind == Kind::int64)
            return fmt::format("int64_t{{{}}}", code(argument.value));
        return numberText(argument.kind, argument.number);
    }

    std::string scalarText(const plan::Argument &argument) const {
        const int position = std::stoi(argument.scalar.substr(2));
        const auto found = std::find_if(
            interface_.arguments.begin(), interface_.arguments.end(), [&](const auto &each) {
                return each.kind == OperatorArgument::Kind::scalar && each.position == position;
            });
        const std::string &given = found->name;
        if (argument.kind == Kind::float32)
            return fmt::format("static_cast<float>({})", given);
        if (argument.kind == Kind::float64)
            return fmt::format("static_cast<double>({})", given);
        const std::string whole =
            found->schemaType() == "float" ? fmt::format("static_cast<int64_t>({})", given) : given;
        return argument.kind == Kind::int32 ? fmt::format("asInt32({})", whole)
                                            : fmt::format("static_cast<int64_t>({})", whole);
    }

    void step(const plan::KernelStep &kernel) {
        blank();
        line("// Step {}: {} of {}.", step_, kernel.entry, kernel.source);
        std::string launch =
            fmt::format(".grid = {}, .block = {}", launchSizes(kernel.grid, "grid", gridLimits),
                        launchSizes(kernel.block, "block", blockLimits));
        if (kernel.shared.text() != "0")
            launch += fmt::format(", .shared = static_cast<size_t>({})", code(kernel.shared));
        if (kernel.cluster[0] * kernel.cluster[1] * kernel.cluster[2] > 1)
            launch += fmt::format(", .cluster = {{{}, {}, {}}}", kernel.cluster[0],
                                  kernel.cluster[1], kernel.cluster[2]);
        line("start_{}({{{}, .stream = stream}}", kernel.entry, launch);
        for (const auto &argument : kernel.arguments) {
            text_.pop_back();
            text_ += fmt::format(",\n        {}\n", argumentText(argument));
        }
        text_.pop_back();
        text_ += ");\n";
    }

    void step(const plan::GemmStep &gemm) {
        blank();
        line("// Step {}: a product, by ATen (cuBLAS on a GPU).", step_);
        std::string fields =
            fmt::format(".m = {}, .n = {}, .k = {}", code(gemm.m), code(gemm.n), code(gemm.k));
        const auto add = [&](const char *field, const std::string &value) {
            fields += fmt::format(", .{} = {}", field, value);
        };
        if (gemm.batch.text() != "1")
            add("batch", code(gemm.batch));
        if (gemm.transposeA)
            add("transposeA", "true");
        if (gemm.transposeB)
            add("transposeB", "true");
        // What the parser filled in is what a contiguous matrix has.
        const auto wrapped = [](const plan::Expression &e) { return "(" + e.text() + ")"; };
        const std::string m = wrapped(gemm.m), n = wrapped(gemm.n), k = wrapped(gemm.k);
        const auto addUnless = [&](const char *field, const plan::Expression &value,
                                   const std::string &usual) {
            if (value.text() != usual)
                add(field, code(value));
        };
        addUnless("lda", gemm.lda, gemm.transposeA ? m : k);
        addUnless("ldb", gemm.ldb, gemm.transposeB ? k : n);
        addUnless("ldc", gemm.ldc, n);
        addUnless("strideA", gemm.strideA, (gemm.transposeA ? k : m) + "*" + wrapped(gemm.lda));
        addUnless("strideB", gemm.strideB, (gemm.transposeB ? n : k) + "*" + wrapped(gemm.ldb));
        addUnless("strideC", gemm.strideC, m + "*" + wrapped(gemm.ldc));
        if (gemm.alpha != 1)
            add("alpha", numberText(Kind::float64, gemm.alpha));
        if (gemm.beta != 0)
            add("beta", numberText(Kind::float64, gemm.beta));
        if (gemm.compute == "tf32")
            add("tf32", "true");
        line("product({}, {}, {}, {{{}}}{});", name(gemm.a), name(gemm.b), name(gemm.c), fields,
             gemm.bias.empty() ? "" : ", " + name(gemm.bias));
    }

    void step(const plan::ConvolutionStep &convolution) {
        blank();
        line("// Step {}: a convolution, by ATen (cuDNN on a GPU).", step_);
        std::vector<std::string> fields;
        const auto add = [&](const char *field, const std::vector<std::int64_t> &list) {
            if (!list.empty())
                fields.push_back(fmt::format(".{} = {{{}}}", field, fmt::join(list, ", ")));
        };
        add("stride", convolution.stride);
        add("padding", convolution.padding);
        add("dilation", convolution.dilation);
        add("outputPadding", convolution.outputPadding);
        if (convolution.groups != 1)
            fields.push_back(fmt::format(".groups = {}", convolution.groups));
        if (convolution.transposed)
            fields.emplace_back(".transposed = true");
        if (convolution.compute == "tf32")
            fields.emplace_back(".tf32 = true");
        if (convolution.channelsLast)
            fields.emplace_back(".channelsLast = true");
        line("{} = convolution({}, {}, {}, {{{}}}, {});", name(convolution.output),
             name(convolution.input), name(convolution.weight),
             convolution.bias.empty() ? "std::nullopt" : name(convolution.bias),
             fmt::join(fields, ", "), shapeOf(*plan_.find(convolution.output)));
    }

    void step(const plan::FillStep &fill) {
        blank();
        line("// Step {}.", step_);
        double value = fill.value;
        const DType type = plan_.find(fill.buffer)->dtype;
        if (!isFloating(type)) {
            // Integers are rounded towards zero and saturate.
            const auto bits = plan::elementBits(type, value);
            const int unused = 64 - 8 * static_cast<int>(bits.bytes);
            const bool isSigned = type != DType::uint8 && type != DType::boolean;
            const auto whole = static_cast<std::int64_t>(bits.bits << unused) >> unused;
            line("{}.fill_({});", name(fill.buffer),
                 isSigned ? whole : static_cast<std::int64_t>(bits.bits));
            return;
        }
        line("{}.fill_({});", name(fill.buffer), numberText(Kind::float64, value));
    }

    const Source &source_;
    const plan::Plan &plan_;
    const Interface &interface_;
    std::string text_;
    std::size_t step_ = 0;
};

std::string returnType(const Interface &interface) {
    if (interface.outputs.size() == 1)
        return "at::Tensor";
    std::string list = "at::Tensor";
    for (std::size_t i = 1; i < interface.outputs.size(); ++i)
        list += ", at::Tensor";
    return "std::tuple<" + list + ">";
}

} // namespace

Result<std::string> operatorFile(const Source &source, const Interface &interface) {
    std::vector<std::string> parameters, results;
    for (const auto &argument : interface.arguments) {
        const std::string type = argument.schemaType();
        parameters.push_back(fmt::format("{} {}",
                                         type == "Tensor"  ? "at::Tensor"
                                         : type == "float" ? "double"
                                         : type == "int"   ? "int64_t"
                                                           : "bool",
                                         argument.name));
    }
    for (const auto *output : interface.outputs) {
        const auto ordered = interface.ordered.find(output->name);
        results.push_back(ordered == interface.ordered.end()
                              ? interface.names.at(output->name)
                              : fmt::format("{}.permute({{{}}})", ordered->second,
                                            fmt::join(inverseOrder(output->order), ", ")));
    }
    const char *between = parameters.size() > 3 ? ",\n        " : ", ";
    return filledTemplate(
        "operator.cpp.in",
        {{"WHAT", source.plan.name.empty()
                      ? ""
                      : fmt::format("// Its name there: {}.\n", source.plan.name)},
         {"TYPE", returnType(interface)},
         {"PARAMETERS", fmt::format("{}", fmt::join(parameters, between))},
         {"BODY", OperatorWriter(source, interface).write()},
         {"RESULT",
          results.size() == 1 ? results[0] : fmt::format("{{{}}}", fmt::join(results, ", "))},
         {"PACKAGE", interface.package},
         {"SCHEMA", interface.schema()}});
}

std::string numberText(plan::Argument::Kind kind, double value) {
    const bool narrow = kind == Kind::float32;
    const char *type = narrow ? "float" : "double";
    if (narrow)
        value = static_cast<float>(value);
    if (std::isnan(value))
        return fmt::format("std::numeric_limits<{}>::quiet_NaN()", type);
    if (std::isinf(value))
        return fmt::format("{}std::numeric_limits<{}>::infinity()", value < 0 ? "-" : "", type);
    std::string text =
        narrow ? fmt::format("{}", static_cast<float>(value)) : fmt::format("{}", value);
    if (text.find_first_of(".e") == std::string::npos)
        text += ".0";
    return narrow ? text + "f" : text;
}

std::string typeText(DType type, Language language) {
    if (language == Language::python)
        return fmt::format("torch.{}", nameOf(type));
    switch (type) {
    case DType::float16:
        return "at::kHalf";
    case DType::bfloat16:
        return "at::kBFloat16";
    case DType::float32:
        return "at::kFloat";
    case DType::float64:
        return "at::kDouble";
    case DType::int8:
        return "at::kChar";
    case DType::uint8:
        return "at::kByte";
    case DType::int16:
        return "at::kShort";
    case DType::int32:
        return "at::kInt";
    case DType::int64:
        return "at::kLong";
    case DType::boolean:
        break;
    }
    return "at::kBool";
}

std::string literalOf(const std::string &text) {
    std::string result = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\')
            result += '\\';
        result += c == '\n' ? ' ' : c;
    }
    return result + "\"";
}

std::string head(const char *mark) {
    return fmt::format("{0} SPDX-FileCopyrightText: The CUDA Agent Workbench authors\n"
                       "{0} SPDX-License-Identifier: BSD-3-Clause\n",
                       mark);
}

} // namespace cuda_agent::exporter
