// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/planner/lowering.h"

#include <cmath>

// Rewrites that exact arithmetic allows and that save most of a task's work:
// - the sum of a product over its columns is a product with the sum of the columns;
// - the sum of a convolution over all places is a product with sums of its input;
// - x - x is 0, or NaN where x is not finite, and for that x need not be computed.
// Infinities and NaN of inputs come out as they would have. Sums that overflow only on the way do
// not overflow here.

namespace cuda_agent::policy {

namespace {

class Algebra {
  public:
    explicit Algebra(Lowering &lowering) : l_(lowering), p_(lowering.program) {}

    void run() {
        fold();
        // Values are added at the end of the list, where no rewrite looks for work.
        const auto count = static_cast<int>(p_.values.size());
        for (int id = 0; id < count; ++id) {
            const Value value = p_.values[id];
            if (value.kind == Kind::reduce && value.op == "sum" && isFloating(value.dtype) &&
                used(id, -1))
                sum(id);
            if (isZeroTimes(value) && used(id, -1))
                vanish(id);
        }
        p_.dropUnread();
    }

  private:
    /// Whether stores need a value by a way that does not lead through `without`.
    bool used(int wanted, int without) const {
        return reaches([&](int id) { return id == wanted; }, without);
    }
    bool readsBuffer(int buffer, int without) const {
        for (const LibraryStep &step : p_.library) {
            if (std::find(step.reads.begin(), step.reads.end(), buffer) != step.reads.end())
                return true;
        }
        return p_.buffers[buffer].role == BufferRole::output ||
               reaches([&](int id) { return loads(id, buffer); }, without);
    }
    bool loads(int id, int buffer) const {
        return p_.values[id].kind == Kind::load && p_.values[id].buffer == buffer;
    }
    bool reaches(const std::function<bool(int)> &test, int without) const {
        std::set<int> seen;
        return std::any_of(p_.stores.begin(), p_.stores.end(), [&](const Store &store) {
            return below(store.value, test, without, seen);
        });
    }
    bool below(int id, const std::function<bool(int)> &test, int without,
               std::set<int> &seen) const {
        if (id == without || !seen.insert(id).second)
            return false;
        const auto &args = p_.values[id].args;
        return test(id) || std::any_of(args.begin(), args.end(),
                                       [&](int arg) { return below(arg, test, without, seen); });
    }

    void replace(int old, int fresh) {
        for (int id = 0; id < static_cast<int>(p_.values.size()); ++id) {
            for (int &arg : p_.values[id].args)
                arg = arg == old ? fresh : arg;
        }
        for (Store &store : p_.stores)
            store.value = store.value == old ? fresh : store.value;
    }

    bool isZeroTimes(const Value &value) const {
        return value.kind == Kind::pointwise && value.op == "mul" && isFloating(value.dtype) &&
               p_.values[value.args[1]].kind == Kind::constant &&
               p_.values[value.args[1]].number == 0;
    }

    /// A mean over one element is that element; x - x is 0 * x.
    void fold() {
        for (int id = 0; id < static_cast<int>(p_.values.size()); ++id) {
            const Value value = p_.values[id];
            if (value.kind != Kind::pointwise || value.args.size() != 2)
                continue;
            const Value &second = p_.values[value.args[1]];
            if (value.op == "div" && second.kind == Kind::count &&
                p_.axes.size(p_.axes.atoms(second.axes)) == 1) {
                replace(id, value.args[0]);
            } else if (value.op == "sub" && value.args[0] == value.args[1] &&
                       isFloating(value.dtype)) {
                const int zero = p_.constant(0, value.dtype);
                p_.values[id].op = "mul";
                p_.values[id].args[1] = zero;
            }
        }
    }

    // --- sums --------------------------------------------------------------------------------

    /// factor * (result of a step) + rest; -1 stands for 1 and 0.
    struct Form {
        int buffer = -1, factor = -1, rest = -1;
    };

    bool constantAlong(int value, const std::set<Axis> &axes) const {
        const std::set<Axis> own = p_.axesOf(value);
        return std::none_of(axes.begin(), axes.end(),
                            [&](Axis axis) { return own.contains(axis); });
    }
    int combine(const char *op, int a, int b, DType type) { return p_.pointwise(op, {a, b}, type); }

    std::optional<Form> formOf(int id, const std::set<Axis> &along) {
        const Value value = p_.values[id];
        if (value.kind == Kind::load) {
            const bool whole =
                value.extents.empty() && value.strides.empty() && value.args.empty() &&
                std::all_of(value.dims.begin(), value.dims.end(),
                            [](const auto &d) { return d.offset == 0 && d.step == 1; });
            return whole && l_.linear.contains(value.buffer)
                       ? std::optional(Form{value.buffer, -1, -1})
                       : std::nullopt;
        }
        if (value.kind != Kind::pointwise || !isFloating(value.dtype))
            return std::nullopt;
        const DType t = value.dtype;
        if (value.op == "cast")
            return isFloating(p_.values[value.args[0]].dtype) ? formOf(value.args[0], along)
                                                              : std::nullopt;
        if (value.args.size() != 2)
            return std::nullopt;
        auto a = formOf(value.args[0], along), b = formOf(value.args[1], along);
        if (a.has_value() == b.has_value())
            return std::nullopt;
        Form form = a ? *a : *b;
        const int other = value.args[a ? 1 : 0];
        if (value.op == "add" || value.op == "sub") {
            const bool minus = value.op == "sub";
            if (minus && b) { // other - (factor * x + rest)
                const int negative = p_.constant(-1, t);
                form.factor = form.factor < 0 ? negative : combine("mul", negative, form.factor, t);
            }
            if (form.rest < 0)
                form.rest = minus && a ? combine("mul", other, p_.constant(-1, t), t) : other;
            else
                form.rest = a ? combine(minus ? "sub" : "add", form.rest, other, t)
                              : combine(minus ? "sub" : "add", other, form.rest, t);
            return form;
        }
        const bool divided = value.op == "div" && a;
        if ((value.op != "mul" && !divided) || !constantAlong(other, along))
            return std::nullopt;
        const char *op = divided ? "div" : "mul";
        form.factor = combine(op, form.factor < 0 ? p_.constant(1, t) : form.factor, other, t);
        if (form.rest >= 0)
            form.rest = combine(op, form.rest, other, t);
        return form;
    }

    std::set<Axis> atomsOf(const View &view, std::size_t from) const {
        std::set<Axis> result;
        for (std::size_t d = from; d < view.dims.size(); ++d) {
            for (const Axis atom : p_.axes.atoms(view.dims[d]))
                result.insert(atom);
        }
        return result;
    }

    void sum(int id) {
        const Value value = p_.values[id];
        const Axes summed = p_.axes.atoms(value.axes);
        const std::set<Axis> along(summed.begin(), summed.end());
        const auto form = formOf(value.args[0], along);
        if (!form || readsBuffer(form->buffer, id))
            return;
        std::set<int> seen;
        if (form->rest >= 0 &&
            below(
                form->rest, [&](int x) { return loads(x, form->buffer); }, -1, seen))
            return;
        const LinearStep step = l_.linear.at(form->buffer);
        std::vector<std::size_t> over; // dimensions of the result
        std::set<Axis> covered;
        for (std::size_t d = 0; d < step.result.dims.size(); ++d) {
            const Axes atoms = p_.axes.atoms(step.result.dims[d]);
            const bool inside = !atoms.empty() && along.contains(atoms[0]);
            if (inside)
                over.push_back(d);
            if (inside)
                covered.insert(atoms.begin(), atoms.end());
        }
        const std::size_t rank = step.result.dims.size();
        if (covered != along || over.empty() || over[0] < (step.convolution ? 2 : rank - 1))
            return;
        const DType t = value.dtype;
        std::optional<View> total;
        if (!step.convolution)
            total = columnsTogether(step, t);
        else if (over.size() == rank - 2)
            total = placesTogether(step, t);
        else
            total = fewerDimensions(step, over, t);
        if (!total)
            return;
        std::vector<Axes> dims;
        for (std::size_t d = 0; d < rank; ++d) {
            if (std::find(over.begin(), over.end(), d) == over.end())
                dims.push_back(step.result.dims[d]);
        }
        const int factor = form->factor >= 0 ? form->factor : p_.constant(1, t);
        View result = l_.apply("mul", {View{factor, dims}, *total}, t);
        if (form->rest >= 0) {
            Value count;
            count.kind = Kind::count;
            count.dtype = t;
            count.axes = value.axes;
            const int rest = constantAlong(form->rest, along)
                                 ? combine("mul", form->rest, p_.add(std::move(count)), t)
                                 : p_.reduce("sum", form->rest, value.axes, t);
            result = l_.apply("add", {result, View{rest, dims}}, t);
        }
        replace(id, result.value);
        p_.notes.push_back(step.convolution && over.size() < rank - 2
                               ? fmt::format("{} is summed along some of its dimensions, so its "
                                             "input is summed along them first",
                                             p_.buffers[form->buffer].name)
                           : step.convolution
                               ? fmt::format("{} is summed over all places, so its input is summed "
                                             "first and no convolution is needed",
                                             p_.buffers[form->buffer].name)
                               : fmt::format("{} is summed over its columns, so those of its "
                                             "second factor are summed first",
                                             p_.buffers[form->buffer].name));
    }

    /// The product with the sum of the columns: [.., m].
    View columnsTogether(const LinearStep &step, DType t) {
        const View a = l_.cast(step.x, t), b = l_.cast(step.weight, t);
        const int last = static_cast<int>(b.dims.size()) - 1;
        View sum = l_.reduce("sum", b, {last}, false, t);
        // An infinity times weights of both signs is NaN in the sum of products, and so here.
        const View low = l_.reduce("min", b, {last}, false, t);
        const View high = l_.reduce("max", b, {last}, false, t);
        const View zero = l_.constant(0, t);
        const View oneSign = l_.apply("or",
                                      {l_.apply("gt", {low, zero}, DType::boolean),
                                       l_.apply("lt", {high, zero}, DType::boolean)},
                                      DType::boolean);
        View single = l_.apply("where", {oneSign, sum, zero}, t);
        for (View *view : {&sum, &single})
            view->dims.insert(view->dims.end() - 1, Axes{});
        const View infinite = l_.apply("isinf", {a}, DType::boolean);
        const View factors = l_.apply("where", {infinite, single, sum}, t);
        const View total = l_.reduce("sum", l_.apply("mul", {a, factors}, t), {last}, false, t);
        return step.alpha == 1 ? total : l_.apply("mul", {total, l_.constant(step.alpha, t)}, t);
    }

    /// What each tap of the filters meets, summed over all places of the dimensions `over`: those
    /// dimensions become the taps, at the end, or nothing where all taps meet the same.
    std::optional<View> inputSums(const LinearStep &step, const View &x, const View &weight,
                                  const std::vector<std::size_t> &over, DType t) {
        const Shape in = l_.shapeOf(x), filter = l_.shapeOf(weight), out = l_.shapeOf(step.result);
        std::int64_t taps = 1;
        std::vector<int> places;
        bool borders = false;
        for (const std::size_t d : over) {
            taps *= filter[d];
            places.push_back(static_cast<int>(d));
            borders = borders || step.padding[d - 2] != 0;
        }
        if (step.transposed && !borders) {
            View sums = l_.reduce("sum", x, places, false, t);
            sums.dims.resize(in.size());
            return sums;
        }
        constexpr std::int64_t mostTaps = 9; // times that the input is read
        if (taps > mostTaps)
            return std::nullopt;
        if (!step.transposed) {
            std::vector<Window> list;
            for (const std::size_t d : over)
                list.push_back({static_cast<int>(d), out[d], filter[d], step.stride[d - 2],
                                step.dilation[d - 2], step.padding[d - 2]});
            int inside = -1;
            View opened = l_.windows(x, list, &inside);
            if (inside >= 0)
                opened.value = p_.pointwise("where", {inside, opened.value, p_.constant(0, t)}, t);
            return l_.reduce("sum", opened, places, false, t);
        }
        int inside = -1;
        const auto number = [&](std::int64_t n) {
            return p_.constant(static_cast<double>(n), DType::int32);
        };
        const auto op = [&](const char *name, int a, int b, DType type) {
            return p_.pointwise(name, {a, b}, type);
        };
        const auto demand = [&](const char *name, int at, std::int64_t bound) {
            const int holds = op(name, at, number(bound), DType::boolean);
            inside = inside < 0 ? holds : op("and", inside, holds, DType::boolean);
        };
        const auto position = [&](const Axes &axes) {
            const int id = l_.index(p_.axes.atoms(axes)).value;
            p_.values[id].dtype = DType::int32;
            return id;
        };
        for (const std::size_t d : over) {
            l_.require(x.dims[d]);
            const int place =
                op("mul", position(x.dims[d]), number(step.stride[d - 2]), DType::int32);
            const int tap =
                op("mul", position(weight.dims[d]), number(step.dilation[d - 2]), DType::int32);
            const int at = op("add", place, tap, DType::int32);
            demand("ge", at, step.padding[d - 2]);
            demand("lt", at, out[d] + step.padding[d - 2]);
        }
        View masked = x;
        masked.value = p_.pointwise("where", {inside, x.value, p_.constant(0, t)}, t);
        View sums = l_.reduce("sum", masked, places, false, t);
        for (const std::size_t d : over)
            sums.dims.push_back(weight.dims[d]);
        return sums;
    }

    /// [N, O]: the filters times what they meet.
    std::optional<View> placesTogether(const LinearStep &step, DType t) {
        const View x = l_.cast(step.x, t);
        View weight = l_.cast(step.weight, t);
        std::vector<std::size_t> all;
        for (std::size_t d = 2; d < x.dims.size(); ++d)
            all.push_back(d);
        auto sums = inputSums(step, x, weight, all, t);
        if (!sums)
            return std::nullopt;
        if (!step.transposed)
            std::swap(weight.dims[0], weight.dims[1]); // [C, O, taps...]
        std::swap(weight.dims[0], weight.dims[1]);
        weight.dims.insert(weight.dims.begin(), Axes{});   // [1, O, C, taps...]
        sums->dims.insert(sums->dims.begin() + 1, Axes{}); // [N, 1, C, taps...]
        const View products = l_.apply("mul", {*sums, weight}, t);
        std::vector<int> over;
        for (std::size_t d = 2; d < products.dims.size(); ++d)
            over.push_back(static_cast<int>(d));
        return l_.reduce("sum", products, over, false, t);
    }

    /// A convolution along the remaining dimensions, with the taps along the others as channels.
    std::optional<View> fewerDimensions(const LinearStep &step,
                                        const std::vector<std::size_t> &over, DType t) {
        if (t != DType::float32)
            return std::nullopt;
        const View x = l_.cast(step.x, t), weight = l_.cast(step.weight, t);
        const auto sums = inputSums(step, x, weight, over, t);
        if (!sums)
            return std::nullopt;
        const Shape out = l_.shapeOf(step.result);
        const std::size_t rank = out.size(), rest = rank - over.size();
        LinearStep less;
        less.transposed = step.transposed;
        less.x = View{sums->value, {}};
        less.weight = View{weight.value, {}};
        Shape shape;
        for (std::size_t d = 0; d < rank; ++d) {
            if (std::find(over.begin(), over.end(), d) != over.end())
                continue;
            less.x.dims.push_back(sums->dims[less.x.dims.size()]);
            less.weight.dims.push_back(weight.dims[d]);
            shape.push_back(out[d]);
            if (d < 2)
                continue;
            less.stride.push_back(step.stride[d - 2]);
            less.padding.push_back(step.padding[d - 2]);
            less.dilation.push_back(step.dilation[d - 2]);
            less.outputPadding.push_back(step.transposed ? step.outputPadding[d - 2] : 0);
        }
        Axes &channels = less.weight.dims[step.transposed ? 0 : 1];
        for (std::size_t i = 0; i < over.size(); ++i) {
            const Axes &taps = weight.dims[over[i]];
            const Axes &met = sums->dims[rest + i];
            channels.insert(channels.end(), taps.begin(), taps.end());
            // Where all taps meet the same, the sums are repeated.
            less.x.dims[1].insert(less.x.dims[1].end(), met.empty() ? taps.begin() : met.begin(),
                                  met.empty() ? taps.end() : met.end());
        }
        return convolutionStep(l_, std::move(less), 1, shape, t);
    }

    // --- what vanishes -----------------------------------------------------------------------

    void vanish(int id) {
        const int whole = p_.values[id].args[0];
        int buffer = -1;
        std::set<int> seen;
        below(
            whole,
            [&](int x) {
                const bool product = p_.values[x].kind == Kind::load &&
                                     l_.linear.contains(p_.values[x].buffer) &&
                                     !l_.linear.at(p_.values[x].buffer).convolution;
                buffer = product ? p_.values[x].buffer : buffer;
                return false;
            },
            -1, seen);
        if (buffer < 0 || readsBuffer(buffer, id))
            return;
        const int zero = zeroOf(whole);
        seen.clear();
        if (zero < 0 || below(
                            zero, [&](int x) { return loads(x, buffer); }, -1, seen))
            return;
        replace(id, zero);
        p_.notes.push_back(fmt::format("{} is subtracted from itself: only whether its factors are "
                                       "finite is of interest",
                                       p_.buffers[buffer].name));
    }

    /// 0 where the value is finite, NaN elsewhere.
    int zeroOf(int id) {
        const Value value = p_.values[id];
        const DType t = value.dtype;
        const auto zeroTimes = [&](int x, DType type) {
            return p_.pointwise("mul", {x, p_.constant(0, type)}, type);
        };
        if (!isFloating(t))
            return -1;
        if (value.kind == Kind::constant && std::isfinite(value.number))
            return p_.constant(0, t);
        if (value.kind == Kind::reduce &&
            (value.op == "max" || value.op == "min" || value.op == "sum")) {
            const int inner = zeroOf(value.args[0]);
            return inner < 0 ? -1 : p_.reduce("sum", inner, value.axes, t);
        }
        if (value.kind == Kind::pointwise && (value.op == "add" || value.op == "sub")) {
            const int a = zeroOf(value.args[0]), b = zeroOf(value.args[1]);
            return a < 0 || b < 0 ? -1 : p_.pointwise("add", {a, b}, t);
        }
        if (value.kind == Kind::load && value.strides.empty() && value.args.empty() &&
            l_.linear.contains(value.buffer) && !l_.linear.at(value.buffer).convolution) {
            const LinearStep step = l_.linear.at(value.buffer);
            const int last = static_cast<int>(step.x.dims.size()) - 1;
            View a = l_.cast(step.x, t), b = l_.cast(step.weight, t);
            a.value = zeroTimes(a.value, t), b.value = zeroTimes(b.value, t);
            const View rows = l_.reduce("sum", a, {last}, true, t);
            const View columns = l_.reduce("sum", b, {last - 1}, true, t);
            const View one{p_.constant(1, t), step.result.dims};
            return l_.apply("mul", {one, l_.apply("add", {rows, columns}, t)}, t).value;
        }
        return zeroTimes(id, t);
    }

    Lowering &l_;
    Program &p_;
};

} // namespace

void applyAlgebra(Lowering &lowering) {
    Algebra(lowering).run();
}

} // namespace cuda_agent::policy
