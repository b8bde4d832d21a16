// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/planner/lowering.h"

#include "core/base/names.h"
#include "core/base/reordered.h"
#include "core/policy/planner/folding.h"
#include "core/policy/planner/group.h"

#include <cmath>
#include <limits>

namespace cuda_agent::policy {

namespace {

double numberOf(const Json &json, double fallback) {
    if (json.is_boolean())
        return json.get<bool>() ? 1 : 0;
    if (json.is_number())
        return json.get<double>();
    if (json.is_object() && json.contains("float")) {
        const std::string word = json["float"].get<std::string>();
        const double infinity = std::numeric_limits<double>::infinity();
        return word == "nan" ? std::nan("") : word == "inf" ? infinity : -infinity;
    }
    return fallback;
}

} // namespace

int dimensionOf(std::int64_t dim, std::size_t rank) {
    return static_cast<int>(dim < 0 ? dim + static_cast<std::int64_t>(rank) : dim);
}

std::vector<int> allDimensions(std::size_t rank) {
    std::vector<int> dims;
    for (std::size_t d = 0; d < rank; ++d)
        dims.push_back(static_cast<int>(d));
    return dims;
}

std::vector<int> dimensionsOf(const task::Node &node, std::size_t position, std::size_t rank) {
    std::vector<int> dims;
    for (const std::int64_t dim : Lowering::integers(node, position, "dim"))
        dims.push_back(dimensionOf(dim, rank));
    if (dims.empty() || rank == 0)
        return allDimensions(rank);
    std::sort(dims.begin(), dims.end());
    return dims;
}

const OperatorTable &operatorTable() {
    static const OperatorTable table = [] {
        OperatorTable result;
        addPointwiseOperators(result);
        addShapeOperators(result);
        addPartOperators(result);
        addWindowOperators(result);
        addScanOperators(result);
        addOrderOperators(result);
        addIndexingOperators(result);
        addScatterOperators(result);
        addResamplingOperators(result);
        addReductionOperators(result);
        addNormalisationOperators(result);
        addLibraryOperators(result);
        addRecurrenceOperators(result);
        return result;
    }();
    return table;
}

const Json *Lowering::find(const task::Node &node, std::size_t position, const char *name) {
    if (position < node.args.size())
        return &node.args[position];
    const auto found = node.kwargs.find(name);
    return found == node.kwargs.end() ? nullptr : &*found;
}

bool Lowering::given(const task::Node &node, std::size_t position, const char *name) const {
    const Json *argument = find(node, position, name);
    return argument != nullptr && !argument->is_null();
}

double Lowering::number(const task::Node &node, std::size_t position, const char *name,
                        double fallback) {
    const Json *argument = find(node, position, name);
    return argument == nullptr ? fallback : numberOf(*argument, fallback);
}

bool Lowering::flag(const task::Node &node, std::size_t position, const char *name, bool fallback) {
    return number(node, position, name, fallback ? 1 : 0) != 0;
}

std::vector<std::int64_t> Lowering::integers(const task::Node &node, std::size_t position,
                                             const char *name) {
    std::vector<std::int64_t> result;
    const Json *argument = find(node, position, name);
    if (argument == nullptr)
        return result;
    if (argument->is_number_integer())
        return {argument->get<std::int64_t>()};
    if (argument->is_array()) {
        for (const Json &item : *argument) {
            if (item.is_number_integer())
                result.push_back(item.get<std::int64_t>());
        }
    }
    return result;
}

std::string Lowering::text(const task::Node &node, std::size_t position, const char *name) {
    const Json *argument = find(node, position, name);
    if (argument != nullptr && argument->is_string())
        return argument->get<std::string>();
    if (argument != nullptr && argument->is_object() && argument->contains("dtype"))
        return (*argument)["dtype"].get<std::string>();
    return {};
}

const View *Lowering::known(const Json &argument) const {
    const auto *source = task::nodeOf(argument);
    if (!source)
        return nullptr;
    const auto found = known_.find(*source);
    return found == known_.end() || found->second.empty() ? nullptr : &found->second[0];
}

Result<View> Lowering::view(const task::Node &node, std::size_t position, const char *name) {
    const Json *argument = find(node, position, name);
    if (argument == nullptr || argument->is_null())
        return failedError("has no argument '{}'", name);
    return view(*argument, name);
}

bool Lowering::isEmpty(const Json &argument) const {
    const auto *source = task::nodeOf(argument);
    return source != nullptr && empty_.contains(*source);
}

Result<View> Lowering::view(const Json &argument, const char *name) {
    if (const auto *source = task::nodeOf(argument)) {
        // Every use of a tensor of the task starts with axes of its own.
        if (const auto buffer = placeholders_.find(*source); buffer != placeholders_.end())
            return loadPlaceholder(buffer->second);
        const View *found = known(argument);
        if (found == nullptr)
            return failedError("reads '{}', which is no tensor", *source);
        return *found;
    }
    if (argument.is_number() || argument.is_boolean() || argument.is_object()) {
        const DType dtype = argument.is_boolean()          ? DType::boolean
                            : argument.is_number_integer() ? DType::int64
                                                           : DType::float32;
        return constant(numberOf(argument, 0), dtype);
    }
    return failedError("takes an argument '{}' that is no tensor", name);
}

const task::Node *Lowering::producer(const task::Node &node, std::size_t position,
                                     const char *name) const {
    const Json *argument = find(node, position, name);
    const auto *source = argument ? task::nodeOf(*argument) : nullptr;
    return source ? task_.graph.find(*source) : nullptr;
}

bool Lowering::isResult(const task::Node &node) const {
    return std::ranges::find(task_.graph.outputs, node.name) != task_.graph.outputs.end();
}

std::size_t Lowering::readersOf(const task::Node &node) const {
    return static_cast<std::size_t>(
        std::ranges::count_if(task_.graph.nodes, [&](const task::Node &reader) {
            bool reads = false;
            task::forEachRead(reader, [&](const std::string &name) { reads |= name == node.name; });
            return reads;
        }));
}

Result<void> Lowering::placeholder(const task::Node &node, int tensorIndex) {
    if (node.outputs.empty()) {
        known_[node.name] = {constant(numberOf(node.scalar, 0), node.scalar.is_number_integer()
                                                                    ? DType::int64
                                                                    : DType::float32)};
        return {};
    }
    BufferInfo buffer;
    const bool input = node.origin == task::Origin::input;
    buffer.order = input ? memoryOrderOf(node.outputs[0]) : std::vector<int>{};
    buffer.dtype = node.outputs[0].dtype;
    buffer.shape = permuted(node.outputs[0], buffer.order).shape;
    buffer.role = input ? BufferRole::input : BufferRole::parameter;
    buffer.index = input ? tensorIndex : -1;
    buffer.key = input ? "" : node.key;
    buffer.name = input ? fmt::format("in{}", tensorIndex) : "p_" + nameFrom(node.key);
    for (std::size_t d = 0; d < buffer.shape.size(); ++d)
        buffer.expressions.push_back(
            input ? fmt::format("{}.shape[{}]", buffer.name,
                                buffer.order.empty() ? static_cast<int>(d) : buffer.order[d])
                  : std::to_string(buffer.shape[d]));
    for (const BufferInfo &other : program.buffers) {
        if (other.name == buffer.name)
            buffer.name += "_";
    }
    placeholders_[node.name] = program.addBuffer(std::move(buffer));
    return {};
}

View Lowering::loadPlaceholder(int buffer) {
    const View lying = loadBuffer(buffer);
    const std::vector<int> &order = program.buffers[buffer].order;
    View result = lying;
    for (std::size_t d = 0; d < order.size(); ++d)
        result.dims[static_cast<std::size_t>(order[d])] = lying.dims[d];
    return result;
}

Result<std::vector<View>> Lowering::shaped(const task::Node &node, std::vector<View> views) {
    for (std::size_t i = 0; i < std::min(views.size(), node.outputs.size()); ++i) {
        const Shape have = shapeOf(views[i]);
        const Shape &shape = node.outputs[i].shape;
        if (have == shape)
            continue;
        bool fits = have.size() <= shape.size();
        for (std::size_t d = 0; fits && d < have.size(); ++d)
            fits = have[d] == 1 || have[d] == shape[shape.size() - have.size() + d];
        if (!fits)
            return failedError("gives shape [{}] for [{}]", fmt::join(have, ", "),
                               fmt::join(shape, ", "));
        views[i] = expand(views[i], shape);
    }
    return views;
}

void Lowering::nameResult(int id, const std::string &node) {
    Value &value = program.values[id];
    const bool computed =
        value.kind == Kind::load ? !value.args.empty() : value.kind != Kind::constant;
    if (computed && value.name.empty())
        value.name = node;
}

std::vector<int> Lowering::orderToWrite(const View &result, const std::vector<int> &left) const {
    if (left.empty())
        return {};
    const Axes &asLeft = result.dims[static_cast<std::size_t>(left.back())];
    const Axes &rowMajor = result.dims.back();
    std::int64_t bytesAsLeft = 0, bytesRowMajor = 0;
    std::set<int> seen;
    for (const int id : reachableFrom(program, {result.value})) {
        const Value &load = program.values[id];
        if (load.kind != Kind::load || load.dims.empty() || !seen.insert(load.buffer).second)
            continue;
        const Axes run = program.axes.atoms(load.dims.back().axes);
        const auto along = [&](const Axes &dimension) {
            const Axes atoms = program.axes.atoms(dimension);
            return !run.empty() && !atoms.empty() && atoms.back() == run.back();
        };
        const std::int64_t bytes = program.bytesOf(load.buffer);
        bytesAsLeft += along(asLeft) ? bytes : 0;
        bytesRowMajor += along(rowMajor) ? bytes : 0;
    }
    const auto more = [](std::int64_t bytes, std::int64_t others) {
        return bytes - others > others / 8; // vectors and the like decide nothing
    };
    const bool longer = program.axes.size(program.axes.atoms(asLeft)) >
                        program.axes.size(program.axes.atoms(rowMajor));
    const bool follow =
        more(bytesAsLeft, bytesRowMajor) || (longer && !more(bytesRowMajor, bytesAsLeft));
    return follow ? left : std::vector<int>{};
}

Result<Program> Lowering::run() {
    // What outputs need; export leaves some dead nodes.
    std::set<std::string> needed(task_.graph.outputs.begin(), task_.graph.outputs.end());
    for (std::size_t i = task_.graph.nodes.size(); i-- > 0;) {
        const task::Node &node = task_.graph.nodes[i];
        if (needed.contains(node.name))
            task::forEachRead(node, [&](const std::string &source) { needed.insert(source); });
    }
    std::set<std::string> missing;
    std::set<std::string> broken;
    int tensors = 0;
    for (const task::Node &node : task_.graph.nodes) {
        if (node.op == "output")
            continue;
        if (node.op == "placeholder") {
            const bool tensorInput = node.origin == task::Origin::input && !node.outputs.empty();
            const int index = tensors;
            tensors += tensorInput ? 1 : 0;
            if (needed.contains(node.name))
                CUDA_AGENT_TRY(placeholder(node, index));
            continue;
        }
        if (!needed.contains(node.name))
            continue;
        const bool nothing = !node.outputs.empty() && node.outputs[0].elements() == 0;
        if (nothing && node.outputs.size() == 1) {
            empty_.emplace(node.name, node.op);
            continue;
        }
        if (node.op == "getitem") {
            const std::string source = node.args.at(0).value("node", "");
            const auto item = node.args.at(1).get<std::size_t>();
            if (const auto found = known_.find(source); found != known_.end() &&
                                                        item < found->second.size() &&
                                                        found->second[item].value >= 0)
                known_[node.name] = {found->second[item]};
            else if (!broken.contains(source))
                missing.insert(fmt::format("result {} of {}", item, source));
            if (!known_.contains(node.name))
                broken.insert(node.name);
            continue;
        }
        const auto found = operatorTable().find(node.op);
        if (found == operatorTable().end()) {
            missing.insert(node.op);
            broken.insert(node.name);
            continue;
        }
        bool blocked = false, readsEmpty = false;
        task::forEachRead(node, [&](const std::string &source) {
            blocked |= broken.contains(source);
            readsEmpty |= empty_.contains(source);
        });
        if (nothing || (readsEmpty && node.op != "aten.cat.default")) {
            missing.insert(node.op + " (of an empty tensor)");
            blocked = true;
        }
        if (!blocked) {
            const auto before = static_cast<int>(program.values.size());
            auto views = found->second(*this, node);
            if (views)
                views = shaped(node, std::move(*views));
            if (views) {
                if (!views->empty() && views->front().value >= before)
                    nameResult(views->front().value, node.name);
                known_[node.name] = std::move(*views);
                requireSizesOf(node);
                continue;
            }
            missing.insert(fmt::format("{} ({})", node.op, views.error().message));
        }
        broken.insert(node.name);
    }
    for (const std::string &name : task_.graph.outputs)
        if (const auto found = empty_.find(name); found != empty_.end())
            missing.insert(found->second + " (of an empty tensor)");
    if (!missing.empty())
        return failedError("the planner cannot do: {}", fmt::join(missing, ", "));

    for (std::size_t i = 0; i < task_.graph.outputs.size(); ++i) {
        const std::string &name = task_.graph.outputs[i];
        View result;
        if (const auto buffer = placeholders_.find(name); buffer != placeholders_.end())
            result = loadPlaceholder(buffer->second);
        else
            result = known_.at(name).at(0);
        const TensorType &type = task_.outputs.at(i).type;
        result = cast(result, type.dtype);
        if (const int scratch = wholeScratch(result); scratch >= 0) { // no copy of what is there
            program.makeOutput(scratch, static_cast<int>(i));
            continue;
        }
        const std::vector<int> order = orderToWrite(result, task_.graph.outputOrder(i));
        result.dims = reordered(result.dims, order);
        if (const int scratch = wholeScratch(result); scratch >= 0) {
            program.makeOutput(scratch, static_cast<int>(i), order);
            continue;
        }
        BufferInfo buffer;
        buffer.name = fmt::format("out{}", i);
        buffer.role = BufferRole::output;
        buffer.index = static_cast<int>(i);
        buffer.dtype = type.dtype;
        buffer.shape = reordered(type.shape, order);
        buffer.order = order;
        for (const Axes &dimension : result.dims)
            buffer.expressions.push_back(program.axes.expression(dimension));
        const int id = program.addBuffer(std::move(buffer));
        program.stores.push_back({result.value, result.dims, id});
    }
    if (options_.algebra)
        applyAlgebra(*this);
    Folding(program).foldAll();
    do
        program.simplify();
    while (program.storeOnce());
    // Joined axes may have gained an expression that an input supplies.
    for (const Store &store : program.stores) {
        auto &expressions = program.buffers[store.buffer].expressions;
        const Shape &shape = program.buffers[store.buffer].shape;
        for (std::size_t d = 0; d < store.dims.size(); ++d) {
            const bool picked = store.adds() && store.picks[d] >= 0;
            if (!picked && program.axes.size(program.axes.atoms(store.dims[d])) == shape[d])
                expressions[d] = program.axes.expression(store.dims[d]);
        }
    }
    return std::move(program);
}

Result<Program> lower(const task::Description &task, const LoweringOptions &options) {
    if (task.graph.nodes.empty())
        return failedError("the planner cannot do this task: it has no operator graph ({})",
                           task.graphProblem.empty() ? "export gave none" : task.graphProblem);
    return Lowering(task, options).run();
}

} // namespace cuda_agent::policy
