// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/chat/chat.h"

#include "core/base/names.h"
#include "core/policy/chat/index_map.h"
#include "core/tools/judge_summary.h"
#include "core/tools/toolbox.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

namespace cuda_agent::chat {

namespace {

constexpr std::string_view role =
    "Write CUDA kernels and a launch plan that compute what the PyTorch module computes, faster.";

std::string_view shortName(DType type) {
    switch (type) {
    case DType::float16:
        return "f16";
    case DType::bfloat16:
        return "bf16";
    case DType::float32:
        return "f32";
    case DType::float64:
        return "f64";
    case DType::int8:
        return "i8";
    case DType::uint8:
        return "u8";
    case DType::int16:
        return "i16";
    case DType::int32:
        return "i32";
    case DType::int64:
        return "i64";
    case DType::boolean:
        return "bool";
    }
    return "?";
}

std::string typeText(const TensorType &type) {
    return fmt::format("{}[{}]", shortName(type.dtype), fmt::join(type.shape, ", "));
}

/// How a tensor lies where its dimensions lie in another order than they stand.
std::string orderText(const std::string &name, const TensorType &type,
                      const std::vector<int> &order) {
    return order.empty() ? ""
                         : fmt::format(", order [{}], {}", fmt::join(order, ", "),
                                       memoryMap(name, type.shape, order));
}

/// "000077_kronecker_product" is "kronecker_product": the number says nothing of what to do.
std::string_view plainName(std::string_view name) {
    const auto digits = name.find_first_not_of("0123456789");
    return digits != name.npos && digits > 0 && name[digits] == '_' && digits + 1 < name.size()
               ? name.substr(digits + 1)
               : name;
}

/// "aten.add.Tensor" is "aten.add": the arguments say the rest.
std::string plainOperator(const std::string &op) {
    return op.starts_with("aten.") ? fmt::format("aten.{}", task::operatorName(op)) : op;
}

/// Names of the graph's placeholders as buffers of a plan.
std::map<std::string, std::string> bufferNames(const task::Description &task) {
    std::map<std::string, std::string> names;
    std::set<std::string> taken;
    int tensors = 0;
    for (const auto &node : task.graph.nodes) {
        if (node.op != "placeholder" || node.outputs.empty())
            continue;
        std::string name;
        if (node.origin == task::Origin::input) {
            name = fmt::format("in{}", tensors++);
        } else {
            name = "p_" + nameFrom(node.key);
        }
        while (!taken.insert(name).second)
            name += "_";
        names[node.name] = name;
    }
    return names;
}

/// Without the comments and empty lines that a source begins with, such as its licence.
std::string_view withoutHeading(std::string_view source) {
    while (source.starts_with('#') || source.starts_with('\n') || source.starts_with('\r')) {
        const auto end = source.find('\n');
        source.remove_prefix(end == source.npos ? source.size() : end + 1);
    }
    return source;
}

/// `rounded`: numbers as a float has them, 0.6666667 and not 0.6666666666666666.
std::string valueText(const Json &value, const std::map<std::string, std::string> &names,
                      bool rounded = false) {
    if (value.is_object()) {
        if (const auto *node = task::nodeOf(value)) {
            const auto found = names.find(*node);
            return found == names.end() ? *node : found->second;
        }
        for (const char *key : {"dtype", "float"})
            if (const auto found = value.find(key); found != value.end() && found->is_string())
                return found->get<std::string>();
    }
    if (value.is_null())
        return "None";
    if (value.is_boolean())
        return value.get<bool>() ? "True" : "False";
    if (value.is_array()) {
        std::vector<std::string> parts;
        for (const auto &part : value)
            parts.push_back(valueText(part, names, rounded));
        return fmt::format("[{}]", fmt::join(parts, ", "));
    }
    auto text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
    if (rounded && value.is_number_float()) {
        auto shorter = fmt::format("{}", static_cast<float>(value.get<double>()));
        if (shorter.size() + 2 < text.size()) // not "2" of 2.0
            return shorter;
    }
    return text;
}

/// "[(0, 0), (1, 2)]": what is added before and behind along each of `dims` dimensions, outermost
/// first, where ATen has one flat list that begins with the last one.
std::string paddingText(const Json &amounts, std::size_t dims) {
    std::vector<std::string> parts;
    for (std::size_t d = dims; d-- > 0;) {
        const std::size_t at = 2 * d;
        parts.push_back(at + 1 < amounts.size()
                            ? fmt::format("({}, {})", amounts[at].dump(), amounts[at + 1].dump())
                            : "(0, 0)");
    }
    return fmt::format("[{}]", fmt::join(parts, ", "));
}

/// "aten.add(in0, in1) f32[64]": without the name that it gets.
std::string nodeText(const task::Node &node, const std::map<std::string, std::string> &names) {
    std::vector<std::string> arguments;
    // Only what is computed in double has more digits.
    const bool rounded = std::ranges::none_of(
        node.outputs, [](const TensorType &type) { return type.dtype == DType::float64; });
    const bool pads = node.op.starts_with("aten.constant_pad_nd") && node.outputs.size() == 1;
    for (const auto &argument : node.args)
        arguments.push_back(pads && arguments.size() == 1 && argument.is_array()
                                ? paddingText(argument, node.outputs[0].shape.size())
                                : valueText(argument, names, rounded));
    std::vector<std::string> types;
    for (const auto &type : node.outputs)
        types.push_back(typeText(type));
    if (node.op == "getitem" && arguments.size() == 2)
        return fmt::format("{}[{}] {}", arguments[0], arguments[1], fmt::join(types, ", "));
    while (!arguments.empty() && arguments.back() == "None")
        arguments.pop_back();
    for (const auto &[name, value] : node.kwargs.items())
        if (!value.is_null())
            arguments.push_back(fmt::format("{}={}", name, valueText(value, names, rounded)));
    return fmt::format("{}({}) {}", plainOperator(node.op), fmt::join(arguments, ", "),
                       fmt::join(types, ", "));
}

/// Whether another result of the same operator and arguments is another one.
bool isRandom(std::string_view op) { // "aten.bernoulli.p", "aten.normal_.default"
    static const std::set<std::string, std::less<>> kinds{
        "bernoulli",         "binomial",   "cauchy",      "dropout",        "exponential",
        "geometric",         "log_normal", "multinomial", "native_dropout", "normal",
        "normal_functional", "poisson",    "rand",        "rand_like",      "randint",
        "randint_like",      "randn",      "randn_like",  "random",         "randperm",
        "rrelu_with_noise",  "uniform"};
    auto name = task::operatorName(op);
    if (name.ends_with('_'))
        name.remove_suffix(1);
    return kinds.contains(name);
}

/// An operator as a prompt tells it, without its name and its map.
struct Told {
    const task::Node *node;
    std::string text;
};

/// Gradients compute again what the forward pass had, and autograd hands on aliases: what is there
/// once is told once, and `names` gets its name for the others.
std::vector<Told> toldOperators(const task::Graph &graph,
                                std::map<std::string, std::string> &names) {
    std::vector<Told> operators;
    std::map<std::string, std::string> told;
    for (const auto &node : graph.nodes) {
        if (node.op == "placeholder" || node.op == "output")
            continue;
        if (const auto op = plainOperator(node.op);
            node.args.size() == 1 && (op == "aten.alias" || op == "aten.detach")) {
            names[node.name] = valueText(node.args[0], names);
            continue;
        }
        auto text = nodeText(node, names);
        const auto [first, fresh] = told.try_emplace(text, node.name);
        if (fresh || isRandom(node.op))
            operators.push_back({&node, std::move(text)});
        else
            names[node.name] = first->second;
    }
    return operators;
}

/// As toldParameters() finds them.
constexpr std::string_view buffersHeading = "\nBuffers:\n", parameterKind = ": parameter ";

/// One line a buffer that a plan for the task may name.
std::string buffersText(const task::Description &task,
                        const std::map<std::string, std::string> &names) {
    std::string text;
    for (const auto &node : task.graph.nodes) {
        if (node.op != "placeholder")
            continue;
        if (node.outputs.empty()) {
            text += fmt::format("{}: number {} of get_inputs(): {}\n", node.name, node.inputIndex,
                                valueText(node.scalar, names));
            continue;
        }
        const auto &name = names.at(node.name);
        text += node.origin == task::Origin::input
                    ? fmt::format("{}: input {}{}\n", name, typeText(node.outputs[0]),
                                  orderText(name, node.outputs[0], memoryOrderOf(node.outputs[0])))
                    : fmt::format("{}{}{} {}\n", name, parameterKind, node.key,
                                  typeText(node.outputs[0]));
    }
    for (std::size_t i = 0; i < task.outputs.size(); ++i)
        text += fmt::format(
            "out{}: output {}{}{}\n", i, typeText(task.outputs[i].type),
            orderText(fmt::format("out{}", i), task.outputs[i].type, task.graph.outputOrder(i)),
            i < task.graph.outputs.size()
                ? " = " + (names.contains(task.graph.outputs[i]) ? names.at(task.graph.outputs[i])
                                                                 : task.graph.outputs[i])
                : std::string());
    return text;
}

std::string deviceText(const device::Info &device) {
    if (device.kind == device::Kind::cpu)
        return fmt::format("cpu, {} threads", device.multiprocessors);
    return fmt::format("cuda, {}, {}, {} multiprocessors", device.name, device.architecture,
                       device.multiprocessors);
}

/// The first `lines` lines, at most `most` bytes.
std::string firstLines(const std::string &text, int lines, std::size_t most) {
    std::size_t end = 0;
    for (int i = 0; i < lines && end < text.size(); ++i)
        end = std::min(text.find('\n', end + (i > 0 ? 1 : 0)), text.size());
    return tools::clipped(text.substr(0, end), most);
}

std::string observationText(const session::ToolCall *call, const session::Observation &observation,
                            std::size_t most) {
    if (const auto verdict = observation.data.find("verdict");
        observation.data.is_object() && verdict != observation.data.end() && verdict->is_object())
        return tools::clipped(tools::summaryOf(*verdict), most);
    if (!observation.ok)
        return firstLines(observation.text, 3, most);
    if (call != nullptr)
        for (const auto *quiet : {"Write", "Edit", "MultiEdit", "TodoWrite", "Compile"})
            if (call->tool == quiet)
                return "ok";
    return tools::clipped(observation.text, most);
}

std::string exemplarsText(const std::vector<Exemplar> &exemplars) {
    if (exemplars.empty())
        return {};
    std::string text = "\n\nEarlier candidates for this task, the best one first. Compare them "
                       "and write a faster one.";
    for (std::size_t i = 0; i < exemplars.size(); ++i) {
        text += fmt::format("\n\nCandidate {}: {}", i + 1, exemplars[i].score);
        for (const auto &[path, content] : exemplars[i].files)
            text += fmt::format(
                "\n{}:\n{}", path,
                std::string_view(content).substr(0, content.find_last_not_of(" \t\r\n") + 1));
    }
    return text;
}

} // namespace

Segment promptOf(const policy::Context &context, std::string_view source,
                 const PromptLimits &limits, const std::vector<Exemplar> &exemplars) {
    const auto &task = context.task;
    auto names = bufferNames(task);
    const auto operators = toldOperators(task.graph, names);
    std::string text = fmt::format("Task: {}\nDevice: {}\nNumerics: {}\n\n", plainName(task.name),
                                   deviceText(context.device), task::nameOf(context.numerics));
    std::string code(withoutHeading(source));
    while (!code.empty() && code.back() == '\n')
        code.pop_back();
    text += tools::clipped(std::move(code), limits.sourceBytes) + "\n";
    text += buffersHeading;
    text += buffersText(task, names);
    text += "\nOperators:\n";
    const IndexMaps maps(task.graph, names);
    for (std::size_t i = 0; i < operators.size() && i < limits.nodes; ++i) {
        const auto &[node, told] = operators[i];
        const auto map = maps.textOf(*node);
        text += fmt::format("{} = {}{}{}\n", node->name, told, map.empty() ? "" : "; ", map);
    }
    if (operators.size() > limits.nodes)
        text += fmt::format("[{} more]\n", operators.size() - limits.nodes);
    for (std::size_t i = 0; i < task.graph.outputs.size(); ++i)
        if (const auto map = maps.memoryTextOf(fmt::format("out{}", i), task.graph.outputs[i],
                                               task.graph.outputOrder(i));
            !map.empty())
            text += map + "\n";
    text.pop_back();
    text += exemplarsText(exemplars);
    return {Author::context, fmt::format("{0}system\n{1}{2}\n{0}user\n{3}{2}\n{0}assistant\n",
                                         imStart, role, imEnd, withoutSpecials(text))};
}

std::vector<ToldParameter> toldParameters(std::string_view conversation) {
    std::vector<ToldParameter> told;
    auto rest =
        conversation.substr(std::min(conversation.find(buffersHeading), conversation.size()));
    rest.remove_prefix(std::min(buffersHeading.size(), rest.size()));
    for (std::size_t end = 0; end != rest.npos && !rest.empty() && rest.front() != '\n';
         rest.remove_prefix(std::min(end, rest.size() - 1) + 1)) {
        end = rest.find('\n');
        const auto line = rest.substr(0, end);
        const auto at = line.find(parameterKind);
        if (at == line.npos)
            continue;
        const auto of = line.substr(at + parameterKind.size());
        if (const auto key = of.substr(0, of.find(' ')); !key.empty() && key.size() < of.size())
            told.push_back({std::string(key), std::string(line.substr(0, at))});
    }
    return told;
}

bool tellsAllOperators(const task::Description &task, const PromptLimits &limits) {
    auto names = bufferNames(task);
    return toldOperators(task.graph, names).size() <= limits.nodes;
}

Segment observationsOf(const std::vector<session::ToolCall> &calls,
                       const std::vector<session::Observation> &observations, std::size_t most) {
    std::string text = fmt::format("\n{}user", imStart);
    for (const auto &observation : observations) {
        const auto call = std::ranges::find(calls, observation.id, &session::ToolCall::id);
        text += fmt::format("\n{}\n{}\n{}", toolResponse,
                            withoutSpecials(observationText(call == calls.end() ? nullptr : &*call,
                                                            observation, most)),
                            toolResponseEnd);
    }
    if (observations.empty())
        text += "\nNo tool was called.";
    return {Author::context, text + fmt::format("{}\n{}assistant\n", imEnd, imStart)};
}

} // namespace cuda_agent::chat
