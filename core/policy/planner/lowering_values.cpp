// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/names.h"
#include "core/policy/planner/folding.h"
#include "core/policy/planner/fusion.h"
#include "core/policy/planner/lowering.h"

namespace cuda_agent::policy {

View Lowering::constant(double number, DType dtype) {
    return {program.constant(number, dtype), {}};
}

Shape Lowering::shapeOf(const View &view) const {
    Shape shape;
    for (const Axes &dimension : view.dims)
        shape.push_back(program.axes.size(program.axes.atoms(dimension)));
    return shape;
}

View Lowering::loadBuffer(int buffer) {
    const BufferInfo &info = program.buffers[buffer];
    std::vector<Axes> dims;
    for (std::size_t d = 0; d < info.shape.size(); ++d) {
        const bool computed = !info.expressions[d].empty() && !isDigit(info.expressions[d][0]);
        dims.push_back(
            info.shape[d] == 1
                ? Axes{}
                : Axes{program.axes.add(info.shape[d], computed ? info.expressions[d] : "")});
    }
    return {program.load(buffer, dims), dims};
}

bool Lowering::join(const View &a, std::size_t dimA, const View &b, std::size_t dimB) {
    std::vector<std::vector<Axes>> live{a.dims, b.dims};
    for (const auto &[name, views] : known_) {
        for (const View &view : views)
            live.push_back(view.dims);
    }
    return program.axes.join(a.dims[dimA], b.dims[dimB],
                             [&](Axis x, Axis y) { return program.mustStayApart(x, y, live); });
}

std::vector<Axes> Lowering::broadcast(std::vector<View> &operands) {
    std::size_t rank = 0;
    for (const View &operand : operands)
        rank = std::max(rank, operand.dims.size());
    View result;
    result.dims.resize(rank);
    for (View &arg : operands) {
        const std::size_t lead = rank - arg.dims.size();
        const auto joinAll = [&](const View &operand) {
            for (std::size_t d = 0; d < operand.dims.size(); ++d) {
                if (!operand.dims[d].empty() && !result.dims[lead + d].empty() &&
                    !join(result, lead + d, operand, d))
                    return false;
            }
            // Dimensions that only one side has must not bring an axis in twice.
            std::set<Axis> seen;
            for (std::size_t d = 0; d < rank; ++d) {
                Axes axes = result.dims[d];
                if (axes.empty() && d >= lead)
                    axes = operand.dims[d - lead];
                for (const Axis atom : program.axes.atoms(axes)) {
                    if (!seen.insert(atom).second)
                        return false;
                }
            }
            return true;
        };
        if (!joinAll(arg)) {
            arg = refreshed(arg);
            if (!joinAll(arg)) {
                arg = materialise(arg);
                joinAll(arg);
            }
        }
        for (std::size_t d = 0; d < arg.dims.size(); ++d) {
            if (result.dims[lead + d].empty())
                result.dims[lead + d] = arg.dims[d];
        }
    }
    return result.dims;
}

View Lowering::apply(const std::string &op, std::vector<View> args, DType dtype) {
    View result;
    result.dims = broadcast(args);
    std::vector<int> ids;
    for (const View &arg : args)
        ids.push_back(arg.value);
    result.value = program.pointwise(op, ids, dtype);
    return result;
}

View Lowering::cast(const View &view, DType dtype) {
    if (dtypeOf(view) == dtype)
        return view;
    // The same number of what positions have in 32 bits.
    const bool whole = dtypeOf(view) == DType::int64 && isFloating(dtype);
    const int value = whole ? narrowed(view.value) : view.value;
    return {program.pointwise("cast", {value}, dtype), view.dims};
}

View Lowering::reduce(const std::string &op, const View &view, const std::vector<int> &dims,
                      bool keep, DType dtype) {
    View result;
    Axes over;
    for (std::size_t d = 0; d < view.dims.size(); ++d) {
        if (std::find(dims.begin(), dims.end(), static_cast<int>(d)) == dims.end()) {
            result.dims.push_back(view.dims[d]);
            continue;
        }
        over.insert(over.end(), view.dims[d].begin(), view.dims[d].end());
        if (keep)
            result.dims.push_back({});
    }
    const bool position = op == "argmax" || op == "argmin";
    if (over.empty() && position)
        result.value = program.constant(0, dtype);
    else if (over.empty())
        result.value = cast(view, dtype).value;
    else
        result.value = program.reduce(op, view.value, over, dtype);
    return result;
}

View Lowering::count(const View &view, const std::vector<int> &dims, DType dtype) {
    Value value;
    value.kind = Kind::count;
    value.dtype = dtype;
    for (const int d : dims)
        value.axes.insert(value.axes.end(), view.dims[d].begin(), view.dims[d].end());
    return {program.add(std::move(value)), {}};
}

View Lowering::mean(const View &view, const std::vector<int> &dims, bool keep) {
    const DType dtype = dtypeOf(view);
    return apply("div", {reduce("sum", view, dims, keep, dtype), count(view, dims, dtype)}, dtype);
}

View Lowering::squaredDeviations(const View &view, const std::vector<int> &dims, bool keep,
                                 View *meanOut) {
    const DType dtype = dtypeOf(view);
    const View average = mean(view, dims, true);
    const View distance = apply("sub", {view, average}, dtype);
    if (meanOut != nullptr)
        *meanOut = keep ? average : mean(view, dims, false);
    return reduce("sum", apply("mul", {distance, distance}, dtype), dims, keep, dtype);
}

View Lowering::index(const Axes &axes) {
    Value value;
    value.kind = axes.empty() ? Kind::constant : Kind::index;
    value.dtype = DType::int64;
    value.axes = axes;
    return {program.add(std::move(value)), {axes}};
}

bool Lowering::reduces(const View &view) const {
    const std::vector<int> all = reachableFrom(program, {view.value});
    return std::any_of(all.begin(), all.end(), [&](int id) {
        const Kind kind = program.values[id].kind;
        return kind == Kind::reduce || kind == Kind::scan || kind == Kind::order;
    });
}

View Lowering::materialise(const View &view) {
    const int buffer = program.addScratch(dtypeOf(view), view.dims);
    program.stores.push_back({view.value, view.dims, buffer});
    return loadBuffer(buffer);
}

View Lowering::turned(const View &view) {
    const std::vector<int> all = reachableFrom(program, {view.value});
    return std::ranges::any_of(all,
                               [&](int id) {
                                   const Value &value = program.values[id];
                                   return value.kind == Kind::load &&
                                          !program.buffers[value.buffer].order.empty() &&
                                          program.bytesOf(value.buffer) >= leastTurned;
                               })
               ? materialise(view)
               : view;
}

namespace {

/// Whether a view is one buffer as it lies in memory.
bool wholeBuffer(const Program &program, const View &view) {
    const Value &value = program.values[view.value];
    if (value.kind != Kind::load || !value.extents.empty() || !value.strides.empty() ||
        !value.args.empty() || value.dims.size() != view.dims.size() ||
        program.buffers[value.buffer].shape.size() != view.dims.size())
        return false;
    for (std::size_t d = 0; d < view.dims.size(); ++d) {
        const LoadDim &dimension = value.dims[d];
        const Axes atoms = program.axes.atoms(view.dims[d]);
        if (dimension.offset != 0 || dimension.step != 1 ||
            program.axes.atoms(dimension.axes) != atoms ||
            program.buffers[value.buffer].shape[d] != program.axes.size(atoms))
            return false;
    }
    return true;
}

} // namespace

int Lowering::bufferOf(const View &view) {
    if (wholeBuffer(program, view))
        return program.values[view.value].buffer;
    const int buffer = program.addScratch(dtypeOf(view), view.dims);
    program.stores.push_back({view.value, view.dims, buffer});
    return buffer;
}

int Lowering::wholeScratch(const View &view) const {
    if (!wholeBuffer(program, view))
        return -1;
    const int buffer = program.values[view.value].buffer;
    return program.buffers[buffer].role == BufferRole::scratch ? buffer : -1;
}

int Lowering::bufferOfParts(const Shape &shape, DType dtype) {
    std::vector<Axes> dims;
    for (const std::int64_t extent : shape)
        dims.push_back(extent == 1 ? Axes{} : Axes{program.axes.add(extent)});
    return program.addScratch(dtype, dims);
}

void Lowering::require(const Axes &axes) {
    for (const Axis atom : program.axes.atoms(axes)) {
        if (program.axes.constant(atom))
            continue;
        requireText(
            fmt::format("{} == {}", program.axes.expression(atom), program.axes.size(atom)));
    }
}

void Lowering::storePart(const View &view, int buffer, std::vector<std::int64_t> offsets) {
    for (const Axes &dimension : view.dims)
        require(dimension);
    const View part = cast(view, program.buffers[buffer].dtype);
    program.stores.push_back({part.value, part.dims, buffer, std::move(offsets)});
}

bool Lowering::cutPieces(Value &load, const Targets &fresh) const {
    std::vector<LoadDim> dims;
    Shape extents, strides;
    bool cut = false;
    const bool windows = !load.strides.empty();
    const Shape own = load.extents.empty() ? program.buffers[load.buffer].shape : load.extents;
    for (std::size_t d = 0; d < load.dims.size(); ++d) {
        const Axes atoms = program.axes.atoms(load.dims[d].axes);
        if (!takesPieces(atoms, fresh)) {
            dims.push_back(load.dims[d]);
            extents.push_back(windows ? 1 : own[d]);
            strides.push_back(windows ? load.strides[d] : 0);
            continue;
        }
        const std::int64_t inner = program.axes.size(atoms) / program.axes.size(atoms[0]);
        if (load.dims[d].offset != 0 || load.dims[d].step != 1 || (!windows && own[d] % inner != 0))
            return false;
        cut = true;
        std::int64_t below = program.axes.size(atoms);
        for (std::size_t i = 0; i < atoms.size(); ++i) {
            below /= program.axes.size(atoms[i]);
            dims.push_back({{atoms[i]}, 0, 1});
            extents.push_back(windows ? 1 : i == 0 ? own[d] / inner : program.axes.size(atoms[i]));
            strides.push_back(windows ? load.strides[d] * below : 0);
        }
    }
    if (cut) {
        load.dims = std::move(dims);
        if (windows)
            load.strides = std::move(strides);
        else
            load.extents = std::move(extents);
    }
    return true;
}

bool Lowering::takesPieces(const Axes &atoms, const Targets &fresh) const {
    for (std::size_t i = 0; i < atoms.size() && atoms.size() > 1; ++i) {
        const auto found = fresh.find(atoms[i]);
        if (found == fresh.end())
            continue;
        const Target &target = found->second;
        const bool shorter = program.axes.size(target.axes) != program.axes.size(atoms[i]);
        // The beginning of the outermost is the beginning of the whole.
        if (target.offset != 0 || target.step != 1 || !target.window.empty() || target.pick >= 0 ||
            (shorter && i > 0))
            return true;
    }
    return false;
}

int Lowering::retarget(Value &load, const Targets &fresh, std::vector<int> &picks) const {
    const auto before = static_cast<int>(load.picks());
    const Shape strides = program.stridesOf(load);
    std::vector<LoadDim> dims;
    Shape walked;
    bool windowed = !load.strides.empty();
    int inside = -1;
    for (std::size_t d = 0; d < load.dims.size(); ++d) {
        LoadDim dimension = load.dims[d];
        std::optional<LoadDim> window;
        Axes renamed;
        for (const Axis atom : program.axes.atoms(dimension.axes)) {
            const auto found = fresh.find(atom);
            if (found == fresh.end()) {
                renamed.push_back(atom);
                continue;
            }
            const Target &target = found->second;
            if (!target.window.empty())
                window = LoadDim{target.window, 0, dimension.step * target.windowStep};
            if (target.pick >= 0) {
                dimension.pick = before + static_cast<int>(picks.size());
                picks.push_back(target.pick);
            }
            inside = std::max(inside, target.inside);
            dimension.offset += dimension.step * target.offset;
            dimension.step *= target.step;
            renamed.insert(renamed.end(), target.axes.begin(), target.axes.end());
        }
        dimension.axes = renamed;
        dims.push_back(dimension);
        walked.push_back(strides[d]);
        if (window) {
            windowed = true;
            dims.push_back(*window);
            walked.push_back(strides[d]);
        }
    }
    load.dims = std::move(dims);
    if (windowed) {
        load.strides = std::move(walked);
        load.extents.clear();
    }
    return inside;
}

std::optional<Axes> Lowering::renamed(const Axes &axes, const Targets &fresh) const {
    const Axes atoms = program.axes.atoms(axes);
    if (takesPieces(atoms, fresh))
        return std::nullopt;
    Axes result;
    for (const Axis atom : atoms) {
        const auto found = fresh.find(atom);
        if (found == fresh.end()) {
            result.push_back(atom);
            continue;
        }
        if (found->second.offset != 0 || found->second.step != 1 || !found->second.window.empty() ||
            found->second.pick >= 0)
            return std::nullopt;
        result.insert(result.end(), found->second.axes.begin(), found->second.axes.end());
    }
    return result;
}

bool Lowering::cloneWith(const View &view, const Targets &fresh, View &result) {
    std::map<int, int> copies;
    std::map<int, std::set<Axis>> cache;
    Folding folding(program);
    const std::function<int(int)> copy = [&](int id) -> int {
        if (const auto done = copies.find(id); done != copies.end())
            return done->second;
        const std::set<Axis> all = program.axesOf(id, cache);
        if (std::none_of(all.begin(), all.end(), [&](Axis atom) { return fresh.contains(atom); }))
            return id;
        Value value = program.values[id];
        int inside = -1;
        const std::size_t pickedBefore = value.picks();
        std::vector<int> picks;
        if (value.kind == Kind::reduce || value.kind == Kind::order)
            return -1;
        if (value.kind == Kind::load) {
            if (!cutPieces(value, fresh))
                return -1;
            inside = retarget(value, fresh, picks);
            value.name.clear(); // read elsewhere, it is not what the operator has at this place
        }
        if (value.kind == Kind::index) {
            const auto axes = renamed(value.axes, fresh);
            if (!axes)
                return copies[id] = movedIndex(value, fresh);
            value.axes = *axes;
        }
        if (value.kind == Kind::scan) {
            const Axes atoms = program.axes.atoms(value.axes);
            const auto turned = fresh.find(atoms[0]);
            const bool whole = turned != fresh.end() && atoms.size() == 1 &&
                               turned->second.window.empty() && turned->second.step == -1 &&
                               program.axes.size(turned->second.axes) == program.axes.size(atoms);
            const auto axes = renamed(value.axes, fresh);
            // Of one position after the other it takes another row's.
            const auto turns = [&](const auto &moved) {
                if (moved.second.pick < 0 || !all.contains(moved.first))
                    return false;
                const auto picked = program.axesOf(moved.second.pick, cache);
                return std::ranges::any_of(program.axes.atoms(axes.value_or(value.axes)),
                                           [&](Axis atom) { return picked.contains(atom); });
            };
            if (std::ranges::any_of(fresh, turns))
                return -1;
            if (whole) { // the same running sum, seen from the other end
                value.axes = turned->second.axes;
                value.backwards = !value.backwards;
            } else if (!axes || program.axes.size(*axes) != program.axes.size(atoms)) {
                return -1;
            } else {
                value.axes = *axes;
            }
        }
        for (int &arg : value.args) {
            arg = copy(arg);
            if (arg < 0)
                return -1;
        }
        if (value.kind == Kind::load) {
            value.args.insert(value.args.begin() + static_cast<std::ptrdiff_t>(pickedBefore),
                              picks.begin(), picks.end());
            if (inside >= 0 && !value.bordered()) {
                value.args.push_back(inside);
                value.args.push_back(program.constant(0, value.dtype));
            } else if (inside >= 0) {
                int &border = value.args.end()[-2];
                Value both;
                both.kind = Kind::pointwise;
                both.op = "and";
                both.args = {inside, border};
                both.dtype = DType::boolean;
                border = folding.add(std::move(both));
            }
        }
        value.rank = -1; // computed where it is asked for
        return copies[id] = folding.add(std::move(value));
    };
    const int value = copy(view.value);
    if (value < 0)
        return false;
    result.value = value;
    result.dims.clear();
    for (const Axes &dimension : view.dims) {
        Axes renamed;
        for (const Axis atom : program.axes.atoms(dimension)) {
            const auto found = fresh.find(atom);
            if (found == fresh.end())
                renamed.push_back(atom);
            else
                renamed.insert(renamed.end(), found->second.axes.begin(), found->second.axes.end());
        }
        result.dims.push_back(renamed);
    }
    return true;
}

View Lowering::refreshed(const View &view) {
    Targets fresh;
    std::set<Axis> all = program.axesOf(view.value);
    for (const Axes &dimension : view.dims) {
        for (const Axis atom : program.axes.atoms(dimension))
            all.insert(atom);
    }
    for (const Axis atom : all) {
        const std::string expression =
            program.axes.constant(atom) ? "" : program.axes.expression(atom);
        fresh[atom].axes = {program.axes.add(program.axes.size(atom), expression)};
    }
    View result;
    return cloneWith(view, fresh, result) ? result : materialise(view);
}

View Lowering::reshape(const View &view, const Shape &shape) {
    Axes all;
    for (const Axes &dimension : view.dims)
        all.insert(all.end(), dimension.begin(), dimension.end());
    if (auto dims = program.axes.regroup(all, shape))
        return {view.value, std::move(*dims)};
    // A dimension boundary falls inside an axis: read it back from memory, as one long row.
    const int buffer = bufferOf(view);
    const Axes flat{
        program.axes.add(program.axes.size(program.axes.atoms(all)), program.axes.expression(all))};
    const int value = program.load(buffer, {flat});
    program.values[value].extents = {program.axes.size(flat)};
    return {value, *program.axes.regroup(flat, shape)};
}

View Lowering::expand(const View &view, const Shape &shape) {
    const Shape have = shapeOf(view);
    View result{view.value, std::vector<Axes>(shape.size())};
    const std::size_t lead = shape.size() - have.size();
    for (std::size_t d = 0; d < shape.size(); ++d) {
        if (d >= lead && !view.dims[d - lead].empty())
            result.dims[d] = view.dims[d - lead];
        else if (shape[d] > 1)
            result.dims[d] = {program.axes.add(shape[d])};
    }
    return result;
}

View Lowering::slice(const View &view, int dim, std::int64_t offset, std::int64_t step,
                     std::int64_t size) {
    const std::int64_t extent = shapeOf(view)[dim];
    if (size == extent && (extent == 1 || (offset == 0 && step == 1)))
        return view;
    require(view.dims[dim]); // it is in the strides of the dimensions outside
    View source = view;
    if (program.axes.atoms(source.dims[dim]).size() != 1) {
        // A repeated dimension has no stride of its own: each element is read where it lies.
        if (options_.inPlace && size > 1 && !program.axes.atoms(source.dims[dim]).empty() &&
            !reduces(source)) {
            View place = index({program.axes.add(size)});
            const auto number = [&](std::int64_t n) {
                return constant(static_cast<double>(n), DType::int64);
            };
            if (step != 1)
                place = apply("mul", {place, number(step)}, DType::int64);
            if (offset != 0)
                place = apply("add", {place, number(offset)}, DType::int64);
            return pick(source, {dim}, {place}, static_cast<std::size_t>(dim), false);
        }
        source = materialise(source);
    }
    for (int attempt = 0; attempt < 2; ++attempt) {
        const Axes atoms = program.axes.atoms(source.dims[dim]);
        Targets fresh;
        Target target;
        target.offset = offset;
        target.step = step;
        if (size > 1)
            target.axes = {program.axes.add(size)};
        if (atoms.empty())
            return source;
        fresh[atoms[0]] = target;
        View result;
        if (program.axesOf(source.value).contains(atoms[0])) {
            if (cloneWith(source, fresh, result))
                return result;
        } else { // an expanded dimension: every element is the same
            result = source;
            result.dims[dim] = target.axes;
            return result;
        }
        source = materialise(source);
    }
    return source;
}

} // namespace cuda_agent::policy
