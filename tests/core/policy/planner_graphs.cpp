// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/core/policy/planner_graphs.h"

#include <gtest/gtest.h>

namespace cuda_agent::policy::graphs {

Json GraphWriter::node(const std::string &op, std::vector<TensorType> types, Json args,
                       Json kwargs) {
    task::Node made;
    made.name = fmt::format("n{}", task_.graph.nodes.size());
    made.op = op;
    made.args = std::move(args);
    made.kwargs = std::move(kwargs);
    made.outputs = std::move(types);
    task_.graph.nodes.push_back(made);
    return {{"node", made.name}};
}

Json GraphWriter::input(TensorType type) {
    const Json result = node("placeholder", {type}, Json::array(), Json::object());
    task::Node &made = task_.graph.nodes.back();
    made.origin = task::Origin::input;
    made.inputIndex = static_cast<int>(task_.scalars.size());
    task_.inputs.push_back({fmt::format("in{}", task_.inputs.size()), type, made.inputIndex});
    task_.scalars.emplace_back();
    return result;
}

Json GraphWriter::scalar(Json value) {
    const Json result = node("placeholder", {}, Json::array(), Json::object());
    task::Node &made = task_.graph.nodes.back();
    made.origin = task::Origin::input;
    made.inputIndex = static_cast<int>(task_.scalars.size());
    made.scalar = value;
    task_.scalars.push_back(std::move(value));
    return result;
}

Json GraphWriter::parameter(const std::string &key, TensorType type) {
    const Json result = node("placeholder", {type}, Json::array(), Json::object());
    task_.graph.nodes.back().origin = task::Origin::parameter;
    task_.graph.nodes.back().key = key;
    task_.parameters.push_back({key, std::move(type), -1});
    return result;
}

Json GraphWriter::item(const Json &tuple, int position, TensorType type) {
    return node("getitem", {std::move(type)}, Json::array({tuple, position}), Json::object());
}

TensorType GraphWriter::typeOf(const Json &result) const {
    const task::Node *found = task_.graph.find(result["node"].get<std::string>());
    return found->outputs.at(0);
}

task::Description GraphWriter::returning(const std::vector<Json> &results) {
    task::Description done = task_;
    done.name = "by_hand";
    for (const Json &result : results) {
        done.graph.outputs.push_back(result["node"].get<std::string>());
        done.outputs.push_back({fmt::format("out{}", done.outputs.size()), typeOf(result), -1});
    }
    done.singleOutput = results.size() == 1;
    return done;
}

Numbers positions(std::size_t count) {
    Numbers numbers(count);
    for (std::size_t i = 0; i < count; ++i)
        numbers[i] = static_cast<double>(i);
    return numbers;
}

Numbers scattered(std::size_t count) {
    Numbers numbers(count);
    for (std::size_t i = 0; i < count; ++i)
        numbers[i] = static_cast<double>((i * 37 + 11) % 101) / 25 - 2;
    return numbers;
}

Program lowered(const task::Description &task) {
    auto program = lower(task, {});
    EXPECT_TRUE(program) << program.error().message;
    return program ? std::move(*program) : Program{};
}

std::string problemOf(const task::Description &task) {
    const auto program = lower(task, {});
    EXPECT_FALSE(program) << program->text();
    return program ? std::string() : program.error().message;
}

// --- as text -------------------------------------------------------------------------------------

namespace {

class Text {
  public:
    explicit Text(const Program &program) : program_(program) {}

    std::string axes(const Axes &list) {
        std::vector<std::string> names;
        for (const Axis atom : program_.axes.atoms(list)) {
            const auto [found, fresh] = letters_.emplace(atom, static_cast<char>('i' + next_));
            next_ += fresh ? 1 : 0;
            names.emplace_back(1, found->second);
        }
        const std::string all = fmt::format("{}", fmt::join(names, " "));
        return names.size() > 1 ? "(" + all + ")" : all;
    }

    std::string position(const LoadDim &dim) {
        const std::string name = axes(dim.axes);
        if (name.empty())
            return std::to_string(dim.offset);
        std::string text = dim.step == 1    ? name
                           : dim.step == -1 ? "-" + name
                                            : fmt::format("{}*{}", dim.step, name);
        return dim.offset == 0 ? text : fmt::format("{}+{}", text, dim.offset);
    }

    std::string value(int id) {
        const Value &v = program_.values[id];
        std::vector<std::string> parts;
        switch (v.kind) {
        case Kind::load:
            for (std::size_t d = 0; d < v.dims.size(); ++d)
                parts.push_back(
                    (v.dims[d].pick < 0 ? position(v.dims[d]) : value(v.args[v.dims[d].pick])) +
                    (v.strides.empty() ? "" : fmt::format(" by {}", v.strides[d])));
            if (v.bordered())
                return fmt::format("{}[{}] where {}", program_.buffers[v.buffer].name,
                                   fmt::join(parts, ", "), value(v.args.end()[-2]));
            return fmt::format("{}[{}]", program_.buffers[v.buffer].name, fmt::join(parts, ", "));
        case Kind::constant:
            return fmt::format("{:g}", v.number);
        case Kind::index:
            return fmt::format("at({})", axes(v.axes));
        case Kind::count:
            return fmt::format("count({})", axes(v.axes));
        case Kind::pointwise:
            for (const int arg : v.args)
                parts.push_back(value(arg));
            return fmt::format("{}({})", v.op == "cast" ? std::string(nameOf(v.dtype)) : v.op,
                               fmt::join(parts, ", "));
        case Kind::reduce: {
            const std::string arg = value(v.args[0]); // names the axes in the order of the loads
            return fmt::format("{}[{}]({})", v.op, axes(v.axes), arg);
        }
        case Kind::scan: {
            const std::string arg = value(v.args[0]);
            return fmt::format("{}[{}{}]({})", v.op, v.backwards ? "back from " : "up to ",
                               axes(v.axes), arg);
        }
        case Kind::order: {
            const std::string arg = value(v.args[0]);
            return fmt::format("{}[{}: {}{}{}]({})", v.op, axes(v.axes), axes(v.places),
                               v.first > 0 ? fmt::format("+{}", v.first) : "",
                               v.backwards ? " from the largest" : "", arg);
        }
        }
        return {};
    }

    std::string store(const Store &store) {
        std::vector<std::string> parts;
        for (std::size_t d = 0; d < store.dims.size(); ++d)
            parts.push_back(
                store.adds() && store.picks[d] >= 0
                    ? value(program_.values[store.value].args[store.picks[d]])
                    : position({store.dims[d], store.offsets.empty() ? 0 : store.offsets[d], 1}));
        const std::string target =
            fmt::format("{}[{}]", program_.buffers[store.buffer].name, fmt::join(parts, ", "));
        if (store.adds())
            return target + " += " + value(program_.values[store.value].args[0]);
        return target + " = " + value(store.value);
    }

  private:
    const Program &program_;
    std::map<Axis, char> letters_;
    int next_ = 0;
};

} // namespace

std::string textOf(const Program &program, const Store &store) {
    return Text(program).store(store);
}

std::string textOf(const Program &program) {
    std::string text;
    for (const Store &store : program.stores)
        text += textOf(program, store) + "\n";
    return text;
}

// --- as numbers ----------------------------------------------------------------------------------

namespace {

double castTo(DType type, double x) {
    switch (type) {
    case DType::boolean:
        return x != 0 ? 1 : 0;
    case DType::float16:
        return static_cast<double>(static_cast<_Float16>(static_cast<float>(x)));
    case DType::int32:
    case DType::int64:
        return std::trunc(x);
    default:
        return x;
    }
}

double operation(const std::string &op, const Numbers &a) {
    static const std::map<std::string, double (*)(const Numbers &)> table{
        {"add", [](const Numbers &v) { return v[0] + v[1]; }},
        {"sub", [](const Numbers &v) { return v[0] - v[1]; }},
        {"mul", [](const Numbers &v) { return v[0] * v[1]; }},
        {"div", [](const Numbers &v) { return v[0] / v[1]; }},
        {"exp", [](const Numbers &v) { return std::exp(v[0]); }},
        {"log", [](const Numbers &v) { return std::log(v[0]); }},
        {"floor", [](const Numbers &v) { return std::floor(v[0]); }},
        {"sqrt", [](const Numbers &v) { return std::sqrt(v[0]); }},
        {"rsqrt", [](const Numbers &v) { return 1 / std::sqrt(v[0]); }},
        {"neg", [](const Numbers &v) { return -v[0]; }},
        {"relu", [](const Numbers &v) { return v[0] < 0 ? 0.0 : v[0]; }},
        {"where", [](const Numbers &v) { return v[0] != 0 ? v[1] : v[2]; }},
        {"gt", [](const Numbers &v) { return v[0] > v[1] ? 1.0 : 0.0; }},
        {"or", [](const Numbers &v) { return v[0] != 0 || v[1] != 0 ? 1.0 : 0.0; }},
        {"ge", [](const Numbers &v) { return v[0] >= v[1] ? 1.0 : 0.0; }},
        {"lt", [](const Numbers &v) { return v[0] < v[1] ? 1.0 : 0.0; }},
        {"and", [](const Numbers &v) { return v[0] != 0 && v[1] != 0 ? 1.0 : 0.0; }},
        {"idiv", [](const Numbers &v) { return std::trunc(v[0] / v[1]); }},
        {"clampmin", [](const Numbers &v) { return v[0] < v[1] ? v[1] : v[0]; }},
        {"clampmax", [](const Numbers &v) { return v[0] > v[1] ? v[1] : v[0]; }},
        {"sin", [](const Numbers &v) { return std::sin(v[0]); }},
        {"imod", [](const Numbers &v) { return std::fmod(v[0], v[1]); }},
        {"imaximum", [](const Numbers &v) { return std::max(v[0], v[1]); }},
        {"iminimum", [](const Numbers &v) { return std::min(v[0], v[1]); }},
        {"eq", [](const Numbers &v) { return v[0] == v[1] ? 1.0 : 0.0; }},
        {"isnan", [](const Numbers &v) { return std::isnan(v[0]) ? 1.0 : 0.0; }},
        {"isinf", [](const Numbers &v) { return std::isinf(v[0]) ? 1.0 : 0.0; }},
    };
    const auto found = table.find(op);
    if (found == table.end()) {
        ADD_FAILURE() << "the test's evaluation has no " << op;
        return std::nan("");
    }
    return found->second(a);
}

class Evaluation {
  public:
    Evaluation(const Program &program, Memory memory)
        : program_(program), memory_(std::move(memory)) {
        for (const BufferInfo &buffer : program.buffers) {
            const auto count = contiguousType(buffer.dtype, buffer.shape).elements();
            auto &numbers = memory_[buffer.name];
            const bool given =
                buffer.role == BufferRole::input || buffer.role == BufferRole::parameter;
            if (given) {
                EXPECT_EQ(static_cast<std::int64_t>(numbers.size()), count) << buffer.name;
            }
            numbers.resize(static_cast<std::size_t>(count), 0);
            // Unit 0 is before all others; -1 means that nothing has written it.
            writer_[buffer.name].assign(numbers.size(), given ? 0 : -1);
        }
    }

    Memory run() {
        for (const Store &store : program_.stores) {
            ++unit_;
            makeReads({store.value});
            write(store);
        }
        ++unit_;
        for (const LibraryStep &step : program_.library)
            make(step.writes);
        return memory_;
    }

    Memory run(const std::vector<Unit> &units) {
        for (const Unit &unit : units) {
            ++unit_;
            if (!unit.group) {
                multiply(program_.library.at(static_cast<std::size_t>(unit.library)));
                continue;
            }
            check(*unit.group);
            for (const Store &store : unit.group->stores)
                write(store);
        }
        return memory_;
    }

  private:
    using Place = std::map<Axis, std::int64_t>;

    /// Library steps have no place among the stores of a program: they run when they are needed.
    void makeReads(const std::vector<int> &roots) {
        for (const int id : reachableFrom(program_, roots)) {
            if (program_.values[id].kind == Kind::load)
                make(program_.values[id].buffer);
        }
    }

    void make(int buffer) {
        for (std::size_t s = 0; s < program_.library.size(); ++s) {
            if (program_.library[s].writes != buffer || made_.contains(s))
                continue;
            made_.insert(s);
            for (const int read : program_.library[s].reads)
                make(read);
            multiply(program_.library[s]);
            ++unit_;
        }
    }

    void check(const Group &group) {
        const std::set<Axis> all = group.elements();
        std::vector<int> roots = group.reduces;
        for (const Store &store : group.stores) {
            roots.push_back(store.value);
            std::set<Axis> space;
            for (const Axes &dim : store.dims) {
                for (const Axis atom : program_.axes.atoms(dim))
                    space.insert(atom);
            }
            EXPECT_TRUE(space == all || space == group.rows)
                << textOf(program_, store) << " runs over other axes than its unit";
        }
        for (const int id : reachableFrom(program_, roots)) {
            const Value &value = program_.values[id];
            if (value.kind != Kind::reduce && value.kind != Kind::scan && value.kind != Kind::order)
                continue;
            const std::vector<int> &own = value.kind == Kind::reduce ? group.reduces
                                          : value.kind == Kind::scan ? group.scans
                                                                     : group.orders;
            EXPECT_TRUE(std::find(own.begin(), own.end(), id) != own.end())
                << "v" << id << " is reduced by another unit";
            if (value.kind != Kind::reduce)
                continue;
            const Axes over = program_.axes.atoms(value.axes);
            EXPECT_EQ(std::set<Axis>(over.begin(), over.end()), group.reduced);
            EXPECT_EQ(program_.axesOf(id), group.rows);
        }
    }

    /// Calls `body` for all positions of the atoms, the last one fastest.
    void over(const Axes &atoms, Place place, const std::function<void(const Place &)> &body,
              std::size_t from = 0) {
        if (from == atoms.size())
            return body(place);
        for (std::int64_t i = 0; i < program_.axes.size(atoms[from]); ++i) {
            place[atoms[from]] = i;
            over(atoms, place, body, from + 1);
        }
    }

    std::int64_t flat(const Axes &axes, const Place &place) {
        std::int64_t position = 0;
        for (const Axis atom : program_.axes.atoms(axes)) {
            const auto found = place.find(atom);
            EXPECT_NE(found, place.end()) << "axis " << atom << " has no loop";
            position =
                position * program_.axes.size(atom) + (found == place.end() ? 0 : found->second);
        }
        return position;
    }

    /// The position along a dimension; `args` are those of the load.
    std::int64_t position(const LoadDim &dim, const std::vector<int> &args, const Place &place) {
        const std::int64_t at = dim.pick < 0
                                    ? flat(dim.axes, place)
                                    : static_cast<std::int64_t>(value(args[dim.pick], place));
        return dim.offset + dim.step * at;
    }

    std::size_t element(const Shape &extents, const std::vector<LoadDim> &dims,
                        const std::vector<int> &args, const Place &place) {
        EXPECT_EQ(dims.size(), extents.size());
        std::int64_t result = 0;
        for (std::size_t d = 0; d < std::min(dims.size(), extents.size()); ++d) {
            const std::int64_t at = position(dims[d], args, place);
            EXPECT_TRUE(at >= 0 && at < extents[d]) << "dimension " << d << " position " << at;
            result = result * extents[d] + std::clamp<std::int64_t>(at, 0, extents[d] - 1);
        }
        return static_cast<std::size_t>(result);
    }

    /// The element of a load that has strides of its own.
    std::size_t walked(const Value &load, std::size_t elements, const Place &place) {
        std::int64_t at = 0;
        for (std::size_t d = 0; d < load.dims.size(); ++d)
            at += load.strides[d] * position(load.dims[d], load.args, place);
        const auto count = static_cast<std::int64_t>(elements);
        EXPECT_TRUE(at >= 0 && at < count) << "element " << at << " of " << count;
        return static_cast<std::size_t>(std::clamp<std::int64_t>(at, 0, count - 1));
    }

    double value(int id, const Place &place) {
        const Value &v = program_.values[id];
        switch (v.kind) {
        case Kind::load: {
            const std::string &name = program_.buffers[v.buffer].name;
            if (v.bordered() && value(v.args.end()[-2], place) == 0)
                return value(v.args.back(), place);
            const std::size_t at =
                v.strides.empty()
                    ? element(v.extents.empty() ? program_.buffers[v.buffer].shape : v.extents,
                              v.dims, v.args, place)
                    : walked(v, memory_[name].size(), place);
            const int writer = writer_[name][at];
            EXPECT_GE(writer, 0) << name << " is read before it is written";
            EXPECT_TRUE(writer < unit_) << name << " is read by the unit that writes it";
            return memory_[name][at];
        }
        case Kind::constant:
            return v.number;
        case Kind::index:
            return static_cast<double>(flat(v.axes, place));
        case Kind::count:
            return static_cast<double>(program_.axes.size(program_.axes.atoms(v.axes)));
        case Kind::pointwise: {
            Numbers args;
            for (const int arg : v.args)
                args.push_back(value(arg, place));
            return v.op == "cast" ? castTo(v.dtype, args[0]) : operation(v.op, args);
        }
        case Kind::scan: {
            const Axes along = program_.axes.atoms(v.axes);
            const std::int64_t here = flat(v.axes, place);
            double total = v.op == "sum"   ? 0
                           : v.op == "max" ? -INFINITY
                           : v.op == "min" ? INFINITY
                                           : 1;
            over(along, place, [&](const Place &inner) {
                const std::int64_t there = flat(v.axes, inner);
                if (v.backwards ? there < here : there > here)
                    return;
                const double x = value(v.args[0], inner);
                total = v.op == "sum"   ? total + x
                        : v.op == "max" ? std::max(total, x)
                        : v.op == "min" ? std::min(total, x)
                                        : total * x;
            });
            return total;
        }
        case Kind::order: {
            std::vector<std::pair<double, double>> row;
            over(program_.axes.atoms(v.axes), place, [&](const Place &inner) {
                row.emplace_back(value(v.args[0], inner), static_cast<double>(flat(v.axes, inner)));
            });
            std::stable_sort(row.begin(), row.end(), [&](const auto &a, const auto &b) {
                return v.backwards ? a.first > b.first : a.first < b.first;
            });
            const auto at = static_cast<std::size_t>(v.first + flat(v.places, place));
            return v.op == "sorted" ? row.at(at).first : row.at(at).second;
        }
        case Kind::reduce: {
            double best = v.op == "sum"                       ? 0
                          : v.op == "max" || v.op == "argmax" ? -INFINITY
                                                              : INFINITY;
            double where = 0;
            over(program_.axes.atoms(v.axes), place, [&](const Place &inner) {
                const double x = value(v.args[0], inner);
                const bool above = v.op.ends_with("max") ? x > best : x < best;
                if (v.op == "sum")
                    best += x;
                else if (above) {
                    best = x;
                    where = static_cast<double>(flat(v.axes, inner));
                }
            });
            return v.op.starts_with("arg") ? where : best;
        }
        }
        return 0;
    }

    void write(const Store &store) {
        const std::string &name = program_.buffers[store.buffer].name;
        Axes atoms;
        std::vector<LoadDim> dims;
        for (std::size_t d = 0; d < store.dims.size(); ++d) {
            dims.push_back({store.dims[d], store.offsets.empty() ? 0 : store.offsets[d], 1});
            for (const Axis atom : program_.axes.atoms(store.dims[d]))
                atoms.push_back(atom);
        }
        if (store.adds()) {
            for (std::size_t d = 0; d < dims.size(); ++d)
                dims[d].pick = store.picks[d];
            return add(store, atoms, dims);
        }
        over(atoms, {}, [&](const Place &place) {
            const std::size_t at = element(program_.buffers[store.buffer].shape, dims, {}, place);
            memory_[name][at] = value(store.value, place);
            EXPECT_EQ(writer_[name][at], -1) << name << " element " << at << " is written twice";
            writer_[name][at] = unit_;
        });
    }

    void add(const Store &store, const Axes &atoms, const std::vector<LoadDim> &dims) {
        const std::string &name = program_.buffers[store.buffer].name;
        const Value &placed = program_.values[store.value];
        for (const int writer : writer_[name])
            EXPECT_EQ(writer, -1) << name << " is written before sums are made in it";
        memory_[name].assign(memory_[name].size(), 0);
        over(atoms, {}, [&](const Place &place) {
            const std::size_t at =
                element(program_.buffers[store.buffer].shape, dims, placed.args, place);
            memory_[name][at] += value(placed.args[0], place);
        });
        writer_[name].assign(memory_[name].size(), unit_);
    }

    void multiply(const LibraryStep &step) {
        ASSERT_EQ(step.step.at("kind"), "gemm") << "the test's evaluation knows products only";
        const Product &product = step.product.value();
        const std::string a = step.step.at("a"), b = step.step.at("b"), c = step.step.at("c");
        for (const std::string &name : {a, b}) {
            for (const int writer : writer_[name])
                EXPECT_TRUE(writer >= 0 && writer < unit_) << name << " is not written yet";
        }
        const auto element = [&](const ProductOperand &side, const std::string &name,
                                 std::int64_t number, std::int64_t line, std::int64_t along) {
            const std::int64_t place =
                side.alongK ? line * side.pitch + along : along * side.pitch + line;
            return memory_[name].at(static_cast<std::size_t>(number * side.batchStride + place));
        };
        std::size_t at = 0;
        for (std::int64_t number = 0; number < product.batch; ++number)
            for (std::int64_t i = 0; i < product.m; ++i)
                for (std::int64_t j = 0; j < product.n; ++j) {
                    double total = 0;
                    for (std::int64_t l = 0; l < product.k; ++l)
                        total += element(product.a, a, number, i, l) *
                                 element(product.b, b, number, j, l);
                    memory_[c].at(at++) = product.alpha * total;
                }
        writer_[c].assign(writer_[c].size(), unit_);
    }

    const Program &program_;
    Memory memory_;
    std::map<std::string, std::vector<int>> writer_;
    std::set<std::size_t> made_;
    int unit_ = 0;
};

} // namespace

Memory evaluate(const Program &program, Memory memory) {
    return Evaluation(program, std::move(memory)).run();
}

Memory evaluate(const Fused &fused, Memory memory) {
    return Evaluation(fused.program, std::move(memory)).run(fused.units);
}

SearchSpace spaceOf(const task::Description &task, task::Numerics numerics,
                    const char *architecture) {
    device::Info info;
    info.kind = device::Kind::cuda;
    info.multiprocessors = 132;
    info.architecture = architecture;
    device::Ceilings ceilings;
    ceilings.copyBytesPerSecond = 4.2e12;
    auto space = SearchSpace::make(task, info, ceilings, numerics);
    EXPECT_TRUE(space) << space.error().message;
    return std::move(*space);
}

std::string kernelsOf(const SearchSpace &space, const std::string &name) {
    const auto files = space.write(name, {});
    EXPECT_TRUE(files) << files.error().message;
    const std::string &text = files->files.at("kernels/planner.cu");
    return text.substr(text.find("\n#"));
}

} // namespace cuda_agent::policy::graphs
