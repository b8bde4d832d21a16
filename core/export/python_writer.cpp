// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/names.h"
#include "core/base/reordered.h"
#include "core/export/task_text.h"
#include "core/export/template.h"
#include "core/export/writers.h"

#include <algorithm>

namespace cuda_agent::exporter {

namespace {

using Kind = OperatorArgument::Kind;

std::string joined(const std::vector<std::string> &list) {
    return fmt::format("{}", fmt::join(list, ", "));
}

/// A tuple of one needs its comma.
std::string tupleItems(const std::vector<std::string> &list) {
    return list.size() == 1 ? list[0] + "," : joined(list);
}

std::string pythonNumber(const Json &number) {
    if (number.is_boolean())
        return number.get<bool>() ? "True" : "False";
    if (number.is_number_integer())
        return number.dump();
    const std::string text =
        number.is_number() ? numberText(plan::Argument::Kind::float64, number.get<double>()) : "";
    return text;
}

/// "layers.0.weight" -> `getattr(self.layers, "0").weight`
std::string attribute(const std::string &key) {
    std::string text = "self";
    std::size_t begin = 0;
    while (begin <= key.size()) {
        const std::size_t dot = std::min(key.find('.', begin), key.size());
        const std::string part = key.substr(begin, dot - begin);
        text = !part.empty() && isDigit(part[0]) ? fmt::format("getattr({}, \"{}\")", text, part)
                                                 : fmt::format("{}.{}", text, part);
        begin = dot + 1;
    }
    return text;
}

class PackageWriter {
  public:
    PackageWriter(const Source &source, const Interface &interface)
        : source_(source), interface_(interface) {}

    std::map<std::string, std::string> values() const {
        return {{"PACKAGE", interface_.package},
                {"SUMMARY", summary()},
                {"IMPORTS", hasConstants() ? "import contextlib\n" : ""},
                {"MORE_IMPORTS", hasConstants() ? "import re\nimport threading\n" : ""},
                {"VERIFIED", verified()},
                {"REFUSAL", refusal()},
                {"ARGUMENTS", joined(argumentNames())},
                {"FAKE", fake()},
                {"MODEL_INIT", modelInit()},
                {"FORWARD", forward()},
                {"SIGNATURE", signature()},
                {"PROBLEM", problem()},
                {"RESULT", result()},
                {"OPERATOR_VALUES", tupleItems(operatorValues())}};
    }

    /// For the template of the backward.
    std::map<std::string, std::string> backwardValues() const {
        std::vector<std::string> state, constants, positional;
        for (const auto &argument : interface_.arguments)
            if (argument.kind == Kind::parameter)
                (argument.constant ? constants : state)
                    .push_back(fmt::format("\"{}\": {}", argument.key, argument.name));
        for (std::size_t i = 0; i < source_.description.scalars.size(); ++i)
            positional.push_back(givenAt(static_cast<int>(i)));
        return {{"GIVEN", tupleItems(argumentNames())},
                {"LENT", constants.empty()
                             ? ""
                             : fmt::format("with _lent({{{}}}):\n            ", joined(constants))},
                {"STATE", joined(state)},
                {"FORWARD_VALUES", tupleItems(positional)}};
    }

    /// Tensors that are neither parameters nor buffers need other ways to and from the reference.
    bool hasConstants() const {
        return std::any_of(interface_.arguments.begin(), interface_.arguments.end(),
                           [](const auto &each) { return each.constant; });
    }

  private:
    std::string summary() const {
        return fmt::format("{}: kernels for {}, made from its launch plan.", source_.task,
                           source_.device == device::Kind::cuda ? "an NVIDIA GPU" : "a CPU");
    }

    std::vector<std::string> argumentNames() const {
        std::vector<std::string> names;
        for (const auto &argument : interface_.arguments)
            names.push_back(argument.name);
        return names;
    }

    std::vector<std::string> tensorNames() const {
        std::vector<std::string> names;
        for (const auto &argument : interface_.arguments)
            if (argument.isTensor())
                names.push_back(argument.name);
        return names;
    }

    std::string verified() const {
        std::string text;
        for (const auto &argument : interface_.arguments)
            if (argument.kind == Kind::input)
                text += fmt::format("    \"{}\": ({}, [{}]),\n", argument.name,
                                    typeText(argument.type.dtype, Language::python),
                                    fmt::join(argument.type.shape, ", "));
        return text;
    }

    /// The symbols that an expression needs, in the plan's order.
    std::string symbolLines(const std::vector<std::string> &expressions) const {
        std::set<std::string> needed;
        const auto need = [&](const plan::Expression &expression) {
            for (const auto &name : expression.names())
                needed.insert(name);
        };
        for (const auto &text : expressions)
            need(*plan::Expression::parse(text));
        const auto &symbols = source_.plan.symbols;
        for (auto it = symbols.rbegin(); it != symbols.rend(); ++it)
            if (needed.contains(it->first))
                need(it->second);
        std::string lines;
        for (const auto &[name, expression] : symbols)
            if (needed.contains(name))
                lines += fmt::format("    {} = {}\n", interface_.names.at(name),
                                     interface_.code(expression.text(), Language::python));
        return lines;
    }

    std::string refusal() const {
        std::string text;
        for (const auto &argument : interface_.arguments) {
            if (!argument.isTensor())
                continue;
            const std::string type = typeText(argument.type.dtype, Language::python);
            text +=
                fmt::format("    if {0}.device.type != BUILT_FOR:\n"
                            "        return f\"{0} is on {{{0}.device}}; the kernels were built "
                            "for {{BUILT_FOR}}\"\n",
                            argument.name);
            text += fmt::format("    if {0}.dtype != {1}:\n"
                                "        return f\"{0} is {{{0}.dtype}}; the kernels take {1}\"\n",
                                argument.name, type);
            if (argument.kind == Kind::parameter)
                text +=
                    fmt::format("    if {0}.shape != ({1}):\n"
                                "        return f\"{0} is {{list({0}.shape)}}; the kernels take "
                                "[{2}]\"\n",
                                argument.name, shapeTuple(argument.type.shape),
                                fmt::join(argument.type.shape, ", "));
            else
                text += fmt::format("    if {0}.dim() != {1}:\n"
                                    "        return f\"{0} has {{{0}.dim()}} dimension(s); the "
                                    "kernels take {1}\"\n",
                                    argument.name, argument.type.shape.size());
        }
        std::vector<std::string> expressions;
        for (const auto &condition : interface_.conditions)
            expressions.push_back(condition.expression);
        text += symbolLines(expressions);
        for (const auto &condition : interface_.conditions)
            text += fmt::format(
                "    if not ({}):\n        return {}\n",
                interface_.code(condition.expression, Language::python),
                literalOf(condition.expression + " does not hold (" + condition.message + ")"));
        return text;
    }

    static std::string shapeTuple(const Shape &shape) {
        std::vector<std::string> list;
        for (const auto size : shape)
            list.push_back(fmt::format("{}", size));
        return tupleItems(list);
    }

    std::string fake() const {
        std::vector<std::string> expressions;
        for (const auto *output : interface_.outputs)
            for (const auto &extent : output->shape)
                expressions.push_back(extent.text());
        std::string text = symbolLines(expressions);
        const std::string first = tensorNames().front();
        std::vector<std::string> made;
        for (const auto *output : interface_.outputs) {
            std::vector<std::string> shape;
            for (const auto &extent : reordered(output->shape, output->order))
                shape.push_back(interface_.code(extent.text(), Language::python));
            made.push_back(fmt::format("{}.new_empty(({}), dtype={})", first, tupleItems(shape),
                                       typeText(output->dtype, Language::python)));
            if (!output->order.empty())
                made.back() +=
                    fmt::format(".permute({})", fmt::join(inverseOrder(output->order), ", "));
        }
        return text + fmt::format("    return {}\n", joined(made));
    }

    std::string modelInit() const {
        std::string text;
        if (mentionsTraining(source_.text))
            text += "        self._kernels_eval_only = True  # train() is something else\n";
        else
            text += "        self._kernels_eval_only = any(\n"
                    "            isinstance(each, (torch.nn.modules.batchnorm._NormBase,\n"
                    "                              torch.nn.modules.dropout._DropoutNd, "
                    "torch.nn.RReLU))\n"
                    "            for each in self.modules())\n";
        if (hasConstants()) {
            std::vector<std::string> keys;
            for (const auto &argument : interface_.arguments)
                if (argument.constant)
                    keys.push_back("\"" + argument.key + "\"");
            text += fmt::format("        self._kernels_constants = _constants(self, ({}))\n",
                                tupleItems(keys));
            for (const auto &argument : interface_.arguments)
                if (argument.constant)
                    text +=
                        fmt::format("        if \"{0}\" not in self._kernels_constants:\n"
                                    "            self._kernels_unfit = \"the Model has no tensor "
                                    "'{0}'\"\n",
                                    argument.key);
        }
        if (interface_.differentiable)
            text += "        _reference()  # now, for a compiler may not build modules\n";
        return text;
    }

    std::string given(int position) const {
        return interface_.forward.empty()
                   ? fmt::format("in{}", position)
                   : interface_.forward[static_cast<std::size_t>(position)].name;
    }

    std::string forward() const {
        std::vector<std::string> names;
        for (std::size_t i = 0; i < source_.description.scalars.size(); ++i)
            names.push_back(given(static_cast<int>(i)));
        return joined(names);
    }

    std::string signature() const {
        if (interface_.forward.empty())
            return forward();
        std::vector<std::string> list;
        for (const auto &[name, fallback] : interface_.forward)
            list.push_back(fallback.empty() ? name : name + "=" + fallback);
        return joined(list);
    }

    /// What is no tensor and no argument of the operator is baked into the kernels.
    const OperatorArgument *argumentAt(int position) const {
        for (const auto &argument : interface_.arguments)
            if (argument.position == position)
                return &argument;
        return nullptr;
    }

    std::string problem() const {
        std::string text = "        if self.training and self._kernels_eval_only:\n"
                           "            return \"the kernels were made for eval()\"\n";
        std::vector<std::string> tensors;
        for (std::size_t i = 0; i < source_.description.scalars.size(); ++i) {
            const auto *argument = argumentAt(static_cast<int>(i));
            const std::string name = given(static_cast<int>(i));
            if (argument && argument->isTensor()) {
                tensors.push_back(name);
            } else if (!argument) {
                const std::string value = pythonValue(source_.description.scalars[i]);
                text += fmt::format("        if {} != {}:\n"
                                    "            return \"{} is another one than the kernels were "
                                    "made for\"\n",
                                    name, value, name);
            }
        }
        text += fmt::format("        for each in ({}):\n"
                            "            if not isinstance(each, torch.Tensor):\n"
                            "                return \"a tensor is missing\"\n",
                            tupleItems(tensors));
        text += fmt::format("        if torch.is_autocast_enabled({}.device.type):\n"
                            "            return \"autocast asks for another precision\"\n",
                            tensors.front());
        return text;
    }

    static std::string pythonValue(const Json &value) {
        if (value.is_string())
            return literalOf(value.get<std::string>());
        const std::string number = pythonNumber(value);
        return number.empty() || number.find("std::") != std::string::npos ? "None" : number;
    }

    /// What Model hands to the operator, in its order.
    std::vector<std::string> operatorValues() const {
        std::vector<std::string> list;
        for (const auto &argument : interface_.arguments) {
            if (argument.kind != Kind::parameter)
                list.push_back(given(argument.position));
            else if (argument.constant)
                list.push_back(fmt::format("self._kernels_constants[\"{}\"].to({}.device)",
                                           argument.key, given(firstTensorPosition())));
            else
                list.push_back(attribute(argument.key));
        }
        return list;
    }

    /// A forward() that returns a tuple of one gives one back.
    std::string result() const {
        const std::string call = fmt::format("torch.ops.{}.forward(*self.operator_arguments({}))",
                                             interface_.package, forward());
        return interface_.outputs.size() == 1 && !source_.description.singleOutput
                   ? "(" + call + ",)"
                   : call;
    }

    int firstTensorPosition() const {
        for (const auto &argument : interface_.arguments)
            if (argument.kind == Kind::input)
                return argument.position;
        return 0;
    }

    /// The value at a position of forward() inside the backward, where operator arguments are
    /// local.
    std::string givenAt(int position) const {
        if (const auto *argument = argumentAt(position))
            return argument->name;
        return pythonValue(source_.description.scalars[static_cast<std::size_t>(position)]);
    }

    const Source &source_;
    const Interface &interface_;
};

constexpr const char *constantsText = R"py(def _exported(path):
    """What torch.export calls a tensor that is neither a parameter nor a buffer."""
    return "c_" + re.sub("[^a-z0-9]", "_", path.lower())


def _attributes(model):
    """Where such tensors of the model are: (module, name) by what torch.export calls them."""
    found = {}
    for prefix, module in model.named_modules():
        for name, value in vars(module).items():
            if isinstance(value, torch.Tensor):
                found[_exported(f"{prefix}.{name}" if prefix else name)] = (module, name)
    return found


def _made_in_forward():
    """Tensors that forward() of the reference makes from numbers, as torch.export finds them."""
    arguments = reference.get_init_inputs()
    model = reference.Model(**arguments) if isinstance(arguments, dict) else \
        reference.Model(*arguments)
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch.export's, about itself
        program = torch.export.export(model.eval(), tuple(reference.get_inputs()), strict=False)
        constants = program.run_decompositions().constants
    return {_exported(path): value for path, value in constants.items()
            if isinstance(value, torch.Tensor)}


def _constants(model, names):
    found = {name: getattr(*place) for name, place in _attributes(model).items()}
    if any(name not in found for name in names):
        try:
            found = _made_in_forward() | found
        except Exception:  # Model says what is missing and runs the reference
            pass
    return {name: found[name] for name in names if name in found}


_lending = threading.Lock()


@contextlib.contextmanager
def _lent(constants):
    """The reference of the backward with these for its own tensors; those that its forward() makes
    it makes again."""
    places = _attributes(_reference())
    with _lending:
        before = {name: getattr(*places[name]) for name in constants if name in places}
        for name in before:
            setattr(*places[name], constants[name])
        try:
            yield
        finally:
            for name, value in before.items():
                setattr(*places[name], value)


)py";

} // namespace

Result<std::string> packageFile(const Source &source, const Interface &interface) {
    const PackageWriter writer(source, interface);
    auto values = writer.values();
    if (interface.differentiable) {
        CUDA_AGENT_ASSIGN(backward, filledTemplate("autograd.py.in", writer.backwardValues()));
        values["AUTOGRAD"] = "\n" + backward;
    } else {
        values["AUTOGRAD"] = "\n";
    }
    if (writer.hasConstants())
        values["AUTOGRAD"] += constantsText;
    return filledTemplate("package.py.in", values);
}

} // namespace cuda_agent::exporter
