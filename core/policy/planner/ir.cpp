// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/planner/ir.h"

#include "core/base/names.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace cuda_agent::policy {

namespace {

/// A text in which each word that `names` has is another.
std::string withNames(const std::string &text, const std::map<std::string, std::string> &names) {
    std::string result;
    for (auto at = text.begin(); at != text.end();) {
        const auto end = std::find_if_not(at, text.end(), isNamePart);
        const std::string word(at, end);
        const auto found = names.find(word);
        result += found == names.end() ? word : found->second;
        at = end == text.end() ? end : end + 1;
        result.append(end, at);
    }
    return result;
}

/// Buffers of a step of a plan get other names.
void renameFields(Json &step, const std::map<std::string, std::string> &names) {
    for (Json &field : step)
        if (field.is_string())
            if (const auto found = names.find(field.get<std::string>()); found != names.end())
                field = found->second;
}

} // namespace

std::size_t Value::picks() const {
    return static_cast<std::size_t>(std::count_if(
        dims.begin(), dims.end(), [](const LoadDim &dimension) { return dimension.pick >= 0; }));
}

int Program::add(Value value) {
    const auto id = static_cast<int>(values.size());
    if (value.rank < 0)
        value.rank = id;
    values.push_back(std::move(value));
    return id;
}

int Program::constant(double number, DType dtype) {
    Value value;
    value.number = number;
    value.dtype = dtype;
    return add(std::move(value));
}

int Program::pointwise(std::string op, std::vector<int> args, DType dtype) {
    Value value;
    value.kind = Kind::pointwise;
    value.op = std::move(op);
    value.args = std::move(args);
    value.dtype = dtype;
    return add(std::move(value));
}

int Program::reduce(std::string op, int arg, Axes over, DType dtype) {
    Value value;
    value.kind = Kind::reduce;
    value.op = std::move(op);
    value.args = {arg};
    value.axes = std::move(over);
    value.dtype = dtype;
    return add(std::move(value));
}

int Program::scan(std::string op, int arg, Axes along, DType dtype) {
    const int id = reduce(std::move(op), arg, std::move(along), dtype);
    values[id].kind = Kind::scan;
    return id;
}

int Program::order(std::string op, int arg, Axes over, Axes places, bool largest) {
    const DType dtype = op == "sorted" ? values[arg].dtype : DType::int64;
    const int id = reduce(std::move(op), arg, std::move(over), dtype);
    values[id].kind = Kind::order;
    values[id].places = std::move(places);
    values[id].backwards = largest;
    return id;
}

int Program::addBuffer(BufferInfo buffer) {
    buffers.push_back(std::move(buffer));
    return static_cast<int>(buffers.size()) - 1;
}

int Program::addScratch(DType dtype, const std::vector<Axes> &dims) {
    const auto taken = [this](const std::string &name) {
        return std::ranges::find(buffers, name, &BufferInfo::name) != buffers.end();
    };
    std::size_t count = 0;
    while (taken(fmt::format("tmp{}", count)))
        ++count;
    BufferInfo buffer;
    buffer.name = fmt::format("tmp{}", count);
    buffer.dtype = dtype;
    for (const Axes &dimension : dims) {
        const Axes atoms = axes.atoms(dimension);
        buffer.shape.push_back(axes.size(atoms));
        buffer.expressions.push_back(axes.expression(atoms));
    }
    return addBuffer(std::move(buffer));
}

void Program::makeOutput(int buffer, int index, std::vector<int> order) {
    BufferInfo &made = buffers[buffer];
    made.role = BufferRole::output;
    made.index = index;
    made.order = std::move(order);
    rename({{buffer, fmt::format("out{}", index)}});
}

void Program::numberScratch(const std::vector<int> &written) {
    std::vector<int> scratch;
    for (const int buffer : written)
        if (buffers[buffer].role == BufferRole::scratch &&
            std::ranges::find(scratch, buffer) == scratch.end())
            scratch.push_back(buffer);
    std::vector<std::string> names;
    for (const int buffer : scratch)
        names.push_back(buffers[buffer].name);
    std::ranges::sort(names, {}, [](const auto &name) { return std::pair(name.size(), name); });
    std::map<int, std::string> named;
    for (std::size_t i = 0; i < scratch.size(); ++i)
        named[scratch[i]] = names[i];
    rename(named);
}

void Program::rename(const std::map<int, std::string> &names) {
    std::map<std::string, std::string> after;
    for (const auto &[buffer, name] : names)
        after[std::exchange(buffers[buffer].name, name)] = name;
    for (LibraryStep &step : library)
        renameFields(step.step, after);
    for (std::string &note : notes)
        note = withNames(note, after);
}

int Program::load(int buffer, const std::vector<Axes> &dims) {
    Value value;
    value.kind = Kind::load;
    value.buffer = buffer;
    value.dtype = buffers[buffer].dtype;
    for (const Axes &dimension : dims)
        value.dims.push_back({dimension, 0, 1});
    return add(std::move(value));
}

std::set<Axis> Program::axesOf(int value) const {
    std::map<int, std::set<Axis>> cache;
    return axesOf(value, cache);
}

std::set<Axis> Program::axesOf(int id, std::map<int, std::set<Axis>> &cache) const {
    if (const auto known = cache.find(id); known != cache.end())
        return known->second;
    const Value &value = values[id];
    std::set<Axis> result;
    const auto include = [&](const Axes &list) {
        for (const Axis atom : axes.atoms(list))
            result.insert(atom);
    };
    for (const LoadDim &dimension : value.dims)
        include(dimension.axes);
    if (value.kind == Kind::index || value.kind == Kind::scan)
        include(value.axes);
    for (const int arg : value.args)
        result.merge(axesOf(arg, cache));
    if (value.kind == Kind::reduce || value.kind == Kind::order) {
        for (const Axis atom : axes.atoms(value.axes))
            result.erase(atom);
    }
    include(value.places);
    return cache[id] = result;
}

std::vector<std::int64_t> Program::stridesOf(int buffer) const {
    return contiguousType(buffers[buffer].dtype, buffers[buffer].shape).strides;
}

std::vector<std::int64_t> Program::stridesOf(const Value &load) const {
    if (!load.strides.empty())
        return load.strides;
    return load.extents.empty() ? stridesOf(load.buffer)
                                : contiguousType(load.dtype, load.extents).strides;
}

std::int64_t Program::bytesOf(int buffer) const {
    std::int64_t bytes = static_cast<std::int64_t>(sizeOf(buffers[buffer].dtype));
    for (const std::int64_t extent : buffers[buffer].shape)
        bytes *= extent;
    return bytes;
}

namespace {

/// Values that stores reach, arguments first.
std::vector<int> reachable(const Program &program) {
    std::vector<int> order;
    std::set<int> seen;
    const auto visit = [&](const auto &self, int id) -> void {
        if (!seen.insert(id).second)
            return;
        for (const int arg : program.values[id].args)
            self(self, arg);
        order.push_back(id);
    };
    for (const Store &store : program.stores)
        visit(visit, store.value);
    return order;
}

bool sameShape(const Program &program, const Value &a, const Value &b) {
    if (a.buffer != b.buffer || a.extents != b.extents || a.strides != b.strides ||
        a.dims.size() != b.dims.size())
        return false;
    for (std::size_t d = 0; d < a.dims.size(); ++d) {
        if (a.dims[d].offset != b.dims[d].offset || a.dims[d].step != b.dims[d].step ||
            a.dims[d].pick != b.dims[d].pick ||
            program.axes.size(program.axes.atoms(a.dims[d].axes)) !=
                program.axes.size(program.axes.atoms(b.dims[d].axes)))
            return false;
    }
    return true;
}

std::string keyOf(const Program &program, const Value &value) {
    std::string key = fmt::format("{} {} {} {:a} {} {} |", static_cast<int>(value.kind),
                                  static_cast<int>(value.dtype), value.op, value.number,
                                  value.buffer, value.args);
    key += fmt::format("{}", program.axes.atoms(value.axes));
    key += fmt::format("{}{}{}", value.extents, value.strides, value.backwards ? "b" : "");
    key += fmt::format("{}+{}", program.axes.atoms(value.places), value.first);
    for (const LoadDim &dimension : value.dims)
        key += fmt::format("{}+{}*{}{}", dimension.offset, dimension.step,
                           program.axes.atoms(dimension.axes), dimension.pick);
    return key;
}

} // namespace

bool Program::mustStayApart(Axis a, Axis b, const std::vector<std::vector<Axes>> &more) const {
    std::map<int, std::set<Axis>> cache;
    const auto both = [&](const std::set<Axis> &all) { return all.contains(a) && all.contains(b); };
    for (int id = 0; id < static_cast<int>(values.size()); ++id) {
        const bool reduces = values[id].kind == Kind::reduce || values[id].kind == Kind::order;
        std::set<Axis> all = axesOf(reduces ? values[id].args[0] : id, cache);
        for (const Axis atom : axes.atoms(values[id].axes))
            all.insert(atom);
        for (const Axis atom : axes.atoms(values[id].places))
            all.insert(atom);
        if (both(all))
            return true;
    }
    const auto list = [&](const std::vector<Axes> &dims) {
        std::set<Axis> all;
        for (const Axes &dimension : dims) {
            for (const Axis atom : axes.atoms(dimension))
                all.insert(atom);
        }
        return both(all);
    };
    for (const Store &store : stores) {
        if (list(store.dims))
            return true;
    }
    for (const auto &dims : more) {
        if (list(dims))
            return true;
    }
    return false;
}

void Program::simplify() {
    const std::vector<int> order = reachable(*this);
    std::vector<int> loads;
    for (const int id : order) {
        if (values[id].kind == Kind::load)
            loads.push_back(id);
    }
    const auto apart = [&](Axis a, Axis b) { return mustStayApart(a, b); };
    for (std::size_t i = 0; i < loads.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) {
            if (!sameShape(*this, values[loads[i]], values[loads[j]]))
                continue;
            for (std::size_t d = 0; d < values[loads[i]].dims.size(); ++d)
                axes.join(values[loads[j]].dims[d].axes, values[loads[i]].dims[d].axes, apart);
        }
    }
    std::map<std::string, int> known;
    std::map<int, int> same; // one that is met first, of those that are equal
    std::map<int, std::set<std::pair<int, int>>> equal; // see orderOf
    for (const int id : order) {
        for (int &arg : values[id].args)
            arg = same.at(arg);
        same[id] = known.emplace(keyOf(*this, values[id]), id).first->second;
        equal[same[id]].insert(orderOf(id));
    }
    // The one that the task computes first stands for all, under the first name of theirs, so that
    // kernels keep to the order of its graph.
    const auto first = [&](int id) { return equal.at(same.at(id)).begin()->second; };
    for (const auto &[met, all] : equal) {
        Value &value = values[first(met)];
        for (int &arg : value.args)
            arg = first(arg);
        for (auto one = all.begin(); one != all.end() && value.name.empty(); ++one)
            value.name = values[one->second].name;
    }
    for (Store &store : stores)
        store.value = first(store.value);
}

bool Program::storeOnce() {
    std::map<int, int> writers; // of each buffer
    for (const Store &store : stores)
        ++writers[store.buffer];
    for (const LibraryStep &step : library)
        ++writers[step.writes];
    std::map<std::string, int> known; // by what is stored
    std::map<int, int> same;
    std::erase_if(stores, [&](const Store &store) {
        const BufferInfo &buffer = buffers[store.buffer];
        if (buffer.role != BufferRole::scratch || writers[store.buffer] > 1 || store.adds())
            return false;
        auto key = fmt::format("{} {} {}", store.value, nameOf(buffer.dtype), buffer.shape);
        for (const Axes &dimension : store.dims)
            key += fmt::format("{}", axes.atoms(dimension));
        const auto [first, isNew] = known.try_emplace(key, store.buffer);
        if (!isNew)
            same[store.buffer] = first->second;
        return !isNew;
    });
    std::map<std::string, std::string> names;
    for (const auto &[buffer, first] : same)
        names[buffers[buffer].name] = buffers[first].name;
    const auto replace = [&](int &buffer) {
        if (const auto first = same.find(buffer); first != same.end())
            buffer = first->second;
    };
    for (Value &value : values)
        if (value.kind == Kind::load)
            replace(value.buffer);
    for (LibraryStep &step : library) {
        std::ranges::for_each(step.reads, replace);
        if (step.product) {
            replace(step.product->a.buffer);
            replace(step.product->b.buffer);
        }
        if (step.recurrence) {
            for (auto *read : {&step.recurrence->gates, &step.recurrence->weights,
                               &step.recurrence->inputBiases, &step.recurrence->hiddenBiases})
                std::ranges::for_each(*read, replace);
            replace(step.recurrence->first);
            replace(step.recurrence->firstCell);
        }
        renameFields(step.step, names);
    }
    return !same.empty();
}

void Program::dropUnread() {
    for (bool again = true; again;) {
        std::set<int> read;
        for (const int id : reachable(*this)) {
            if (values[id].kind == Kind::load)
                read.insert(values[id].buffer);
        }
        for (const LibraryStep &step : library)
            read.insert(step.reads.begin(), step.reads.end());
        const auto unread = [&](int buffer) {
            return buffers[buffer].role == BufferRole::scratch && !read.contains(buffer);
        };
        const auto dropped =
            std::erase_if(library, [&](const LibraryStep &step) { return unread(step.writes); }) +
            std::erase_if(stores, [&](const Store &store) { return unread(store.buffer); });
        again = dropped > 0;
    }
}

std::string Program::text() const {
    std::string result;
    for (const int id : reachable(*this)) {
        const Value &value = values[id];
        result += fmt::format("v{} = ", id);
        switch (value.kind) {
        case Kind::load:
            result += buffers[value.buffer].name + "[";
            for (std::size_t d = 0; d < value.dims.size(); ++d) {
                const LoadDim &dimension = value.dims[d];
                result += d > 0 ? ", " : "";
                result += dimension.pick < 0 ? fmt::format("{}", axes.atoms(dimension.axes))
                                             : fmt::format("v{}", value.args[dimension.pick]);
            }
            result += "]";
            if (value.bordered())
                result +=
                    fmt::format(" where v{}, else v{}", value.args.end()[-2], value.args.back());
            break;
        case Kind::constant:
            result += fmt::format("{:g}", value.number);
            break;
        case Kind::index:
        case Kind::count:
            result += fmt::format("{}{}", value.kind == Kind::index ? "index" : "count",
                                  axes.atoms(value.axes));
            break;
        case Kind::pointwise:
            result += fmt::format("{}({})", value.op, fmt::join(value.args, ", "));
            break;
        case Kind::reduce:
            result +=
                fmt::format("{} of v{} over {}", value.op, value.args[0], axes.atoms(value.axes));
            break;
        case Kind::scan:
            result += fmt::format("{} of v{} {} {}", value.op, value.args[0],
                                  value.backwards ? "back along" : "along", axes.atoms(value.axes));
            break;
        case Kind::order:
            result += fmt::format("{} of v{} {} along {}, places {} from {}", value.op,
                                  value.args[0], value.backwards ? "largest first" : "in order",
                                  axes.atoms(value.axes), axes.atoms(value.places), value.first);
            break;
        }
        result += fmt::format(" : {}\n", nameOf(value.dtype));
    }
    for (const Store &store : stores) {
        result += fmt::format("{}[", buffers[store.buffer].name);
        for (std::size_t d = 0; d < store.dims.size(); ++d)
            result += fmt::format("{}{}", d > 0 ? ", " : "", axes.atoms(store.dims[d]));
        result += fmt::format("] = v{}\n", store.value);
    }
    return result;
}

} // namespace cuda_agent::policy
