// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/export/interface.h"

#include "core/base/names.h"

#include <algorithm>
#include <cctype>

namespace cuda_agent::exporter {

namespace {

/// Gives each name of the plan an identifier that is no keyword, no function of the generated files
/// and nobody else's.
class Namer {
  public:
    std::string name(const std::string &wanted) {
        std::string text = nameFrom(wanted);
        if (text.empty() || isDigit(text[0]))
            text = "t" + text;
        // Double underscores and a capital after a leading one belong to compilers.
        while (text.size() > 1 && text[0] == '_')
            text.erase(0, 1);
        while (isReserved(text) || !taken_.insert(text).second)
            text += "_";
        return text;
    }
    void take(const std::string &text) { taken_.insert(text); }

  private:
    std::set<std::string> taken_;
};

const plan::Buffer *bufferOf(const plan::Plan &plan, plan::Role role, int index,
                             const std::string &key) {
    for (const auto &buffer : plan.buffers)
        if (buffer.role == role &&
            (role == plan::Role::parameter ? buffer.key == key : buffer.index == index))
            return &buffer;
    return nullptr;
}

/// The strictest alignment of all of the plan's buffers for one argument.
std::uint32_t alignmentOf(const plan::Plan &plan, const plan::Buffer &like) {
    std::uint32_t alignment = 1;
    for (const auto &buffer : plan.buffers)
        if (buffer.role == like.role && buffer.index == like.index && buffer.key == like.key)
            alignment = std::max(alignment, buffer.alignment);
    return alignment;
}

std::set<int> scalarsOf(const plan::Plan &plan) {
    std::set<int> positions;
    for (const auto &step : plan.steps)
        if (const auto *kernel = std::get_if<plan::KernelStep>(&step))
            for (const auto &argument : kernel->arguments)
                if (!argument.scalar.empty())
                    positions.insert(std::stoi(argument.scalar.substr(2)));
    return positions;
}

bool isConstant(const task::Description &description, const std::string &key) {
    return std::any_of(description.graph.nodes.begin(), description.graph.nodes.end(),
                       [&](const task::Node &node) {
                           return node.op == "placeholder" && node.key == key &&
                                  node.origin == task::Origin::constant;
                       });
}

void addInputs(const Source &source, Namer &namer, Interface &result) {
    const auto &description = source.description;
    const auto scalars = scalarsOf(source.plan);
    std::size_t tensor = 0;
    for (std::size_t position = 0; position < description.scalars.size(); ++position) {
        OperatorArgument argument;
        argument.position = static_cast<int>(position);
        if (tensor < description.inputs.size() &&
            description.inputs[tensor].inputIndex == argument.position) {
            argument.type = description.inputs[tensor].type;
            const auto *buffer =
                bufferOf(source.plan, plan::Role::input, static_cast<int>(tensor), {});
            ++tensor;
            argument.name = namer.name(buffer ? buffer->name : fmt::format("in{}", tensor - 1));
            if (buffer) {
                argument.planName = buffer->name;
                argument.alignment = alignmentOf(source.plan, *buffer);
            }
        } else if (scalars.contains(argument.position)) {
            argument.kind = OperatorArgument::Kind::scalar;
            argument.number = description.scalars[position];
            argument.name = namer.name(fmt::format("number{}", position));
        } else {
            continue;
        }
        result.arguments.push_back(std::move(argument));
    }
}

Result<void> addParameters(const Source &source, Namer &namer, Interface &result) {
    for (const auto &buffer : source.plan.buffers) {
        if (buffer.role != plan::Role::parameter || result.argumentOf(buffer.name))
            continue;
        const auto &ports = source.description.parameters;
        const auto port = std::find_if(ports.begin(), ports.end(),
                                       [&](const auto &each) { return each.name == buffer.key; });
        if (port == ports.end())
            return requestError("the plan's buffer '{}' is the parameter '{}', which the task does "
                                "not have",
                                buffer.name, buffer.key);
        if (std::any_of(result.arguments.begin(), result.arguments.end(),
                        [&](const auto &each) { return each.key == buffer.key; }))
            continue;
        OperatorArgument argument;
        argument.kind = OperatorArgument::Kind::parameter;
        argument.name = namer.name(buffer.name);
        argument.planName = buffer.name;
        argument.key = buffer.key;
        argument.constant = isConstant(source.description, buffer.key);
        argument.type = port->type;
        argument.alignment = alignmentOf(source.plan, buffer);
        result.arguments.push_back(std::move(argument));
    }
    return {};
}

Result<void> addOutputs(const Source &source, Interface &result) {
    for (std::size_t i = 0; i < source.description.outputs.size(); ++i) {
        const auto *buffer = bufferOf(source.plan, plan::Role::output, static_cast<int>(i), {});
        if (!buffer)
            return requestError("the plan has no buffer for the task's output {}", i);
        result.outputs.push_back(buffer);
    }
    return {};
}

/// A forward() that runs a backward itself has no further one, and neither have integers.
bool isDifferentiable(const Source &source, const Interface &interface) {
    const auto floats = [](const TensorType &type) { return isFloating(type.dtype); };
    if (source.text.find("autograd.grad") != std::string::npos ||
        source.text.find(".backward(") != std::string::npos)
        return false;
    const auto &outputs = source.description.outputs;
    return std::any_of(outputs.begin(), outputs.end(),
                       [&](const auto &port) { return floats(port.type); }) &&
           std::any_of(interface.arguments.begin(), interface.arguments.end(),
                       [&](const auto &each) { return each.isTensor() && floats(each.type); });
}

} // namespace

std::string OperatorArgument::schemaType() const {
    if (isTensor())
        return "Tensor";
    return number.is_boolean() ? "bool" : number.is_number_integer() ? "int" : "float";
}

const OperatorArgument *Interface::argumentOf(const std::string &planBuffer) const {
    for (const auto &argument : arguments)
        if (!argument.planName.empty() && argument.planName == planBuffer)
            return &argument;
    return nullptr;
}

std::string Interface::schema() const {
    std::vector<std::string> list;
    for (const auto &argument : arguments)
        list.push_back(argument.schemaType() + " " + argument.name);
    std::string result = "Tensor";
    for (std::size_t i = 1; i < outputs.size(); ++i)
        result += ", Tensor";
    return fmt::format("forward({}) -> {}", fmt::join(list, ", "),
                       outputs.size() == 1 ? result : "(" + result + ")");
}

std::string Interface::code(std::string_view expression, Language language) const {
    const Spelling spelling = [&](const std::string &name) -> std::string {
        const auto dot = name.find('.');
        const std::string own = names.at(name.substr(0, dot));
        if (dot == std::string::npos)
            return own;
        const std::string what = name.substr(dot + 1);
        if (what == "numel")
            return own + ".numel()";
        if (what == "ndim")
            return own + ".dim()";
        const std::string index = what.substr(6, what.size() - 7);
        return language == Language::cpp ? fmt::format("{}.size({})", own, index)
                                         : fmt::format("{}.shape[{}]", own, index);
    };
    return codeOf(expression, language, spelling).value(); // the plan was parsed before
}

std::string packageName(const std::string &task) {
    std::string name;
    for (const char c : task) {
        const auto lower = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        const bool plain = (lower >= 'a' && lower <= 'z') || (lower >= '0' && lower <= '9');
        if (plain || (!name.empty() && name.back() != '_'))
            name += plain ? lower : '_';
    }
    while (!name.empty() && name.back() == '_')
        name.pop_back();
    if (name.empty() || isDigit(name[0]))
        name = "op_" + name;
    return name + (name.back() == '_' ? "extension" : "_extension");
}

Result<Interface> interfaceOf(const Source &source) {
    Interface result;
    result.package = packageName(source.task);
    Namer namer;
    for (const auto &step : source.plan.steps)
        if (const auto *kernel = std::get_if<plan::KernelStep>(&step))
            namer.take(kernel->entry);
    addInputs(source, namer, result);
    CUDA_AGENT_TRY(addParameters(source, namer, result));
    CUDA_AGENT_TRY(addOutputs(source, result));

    for (const auto &buffer : source.plan.buffers) {
        const auto *argument = result.argumentOf(buffer.name);
        result.names[buffer.name] = argument ? argument->name : namer.name(buffer.name);
    }
    for (const auto &[name, expression] : source.plan.symbols)
        result.names[name] = namer.name(name);
    for (const auto &buffer : source.plan.buffers)
        if (!buffer.order.empty())
            result.ordered[buffer.name] = namer.name(result.names[buffer.name] + "_ordered");

    for (const auto &expression : source.plan.requires_)
        result.conditions.push_back({expression.text(), "the launch plan requires it"});
    for (const auto &buffer : source.plan.buffers)
        for (std::size_t d = 0; buffer.declaresShape && d < buffer.shape.size(); ++d)
            result.conditions.push_back(
                {fmt::format("{}.shape[{}] == ({})", buffer.name, d, buffer.shape[d].text()),
                 "the launch plan declares it"});
    for (auto &condition : shapeConditions(source, result.arguments))
        if (std::none_of(result.conditions.begin(), result.conditions.end(),
                         [&](const auto &each) { return each.expression == condition.expression; }))
            result.conditions.push_back(std::move(condition));

    result.forward = forwardParameters(source.text);
    // Names that the module itself uses would be hidden.
    const auto clashes = [](const ForwardParameter &parameter) {
        static const std::set<std::string> used{"each",  "problem", "reference", "refusal",
                                                "super", "torch",   "_warn_once"};
        return used.contains(parameter.name);
    };
    if (result.forward.size() != source.description.scalars.size() ||
        std::any_of(result.forward.begin(), result.forward.end(), clashes))
        result.forward.clear();
    result.differentiable = isDifferentiable(source, result);
    return result;
}

bool isReserved(const std::string &word) {
    static const std::set<std::string> words{
        // C++ and Python
        "alignas", "alignof", "and", "and_eq", "as", "asm", "assert", "async", "auto", "await",
        "bitand", "bitor", "bool", "break", "case", "catch", "char", "char16_t", "char32_t",
        "char8_t", "class", "compl", "concept", "const", "const_cast", "consteval", "constexpr",
        "constinit", "continue", "co_await", "co_return", "co_yield", "decltype", "def", "default",
        "del", "delete", "do", "double", "dynamic_cast", "elif", "else", "enum", "except",
        "explicit", "export", "extern", "false", "False", "finally", "float", "for", "friend",
        "from", "global", "goto", "if", "import", "in", "inline", "int", "is", "lambda", "long",
        "mutable", "namespace", "new", "None", "noexcept", "nonlocal", "not", "not_eq", "nullptr",
        "operator", "or", "or_eq", "pass", "private", "protected", "public", "raise", "register",
        "reinterpret_cast", "requires", "return", "self", "short", "signed", "sizeof", "static",
        "static_assert", "static_cast", "struct", "switch", "template", "this", "thread_local",
        "throw", "true", "True", "try", "typedef", "typeid", "typename", "union", "unsigned",
        "using", "virtual", "void", "volatile", "wchar_t", "while", "with", "xor", "xor_eq",
        "yield",
        // what the generated files use
        "each", "found", "given", "gradients", "inputs", "isinstance", "iter", "list", "next",
        "output", "pairs", "saved", "wanted", "zip", "at", "asInt32", "c10", "cdiv", "convolution",
        "product", "checkParameter", "checkTensor", "ctx", "dimension", "extent", "floorDivide",
        "floorModulo", "forward", "guard", "input", "int32_t", "int64_t", "launch", "len", "main",
        "math", "matrix", "max", "min", "model", "number", "os", "outputs", "print", "problem",
        "ready", "reference", "refusal", "sizes", "start", "std", "stream", "str", "sum", "torch",
        "tuple", "warnings"};
    return words.contains(word);
}

} // namespace cuda_agent::exporter
