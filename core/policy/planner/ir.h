// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/json.h"
#include "core/base/tensor_type.h"
#include "core/policy/planner/axes.h"

#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace cuda_agent::policy {

/// The planner's own form of a task: scalar functions of loop variables. A value has no shape and
/// no layout, only the axes it depends on, so views cost nothing and fusion is set arithmetic.
enum class Kind {
    load,      ///< an element of a buffer; `args`: see LoadDim::pick and Value::bordered
    constant,  ///< a number
    index,     ///< the row-major position within a list of axes (arange, argmax, gather)
    count,     ///< number of positions of a list of axes, as a floating value
    pointwise, ///< `op` of `args`; "place": args[0], for a store at positions args[1], ...
    reduce,    ///< `op` ("sum", "argmax", ...) of args[0] over `axes`
    /// `op` ("sum", "prod", "max", "min", "logaddexp") of args[0] up to the place along `axes`,
    /// that one included.
    scan,
    /// Of args[0] in order along `axes`, equal ones as they come: the one at `first` + the place
    /// along `places`. `op`: "sorted" its value, "argsorted" its position. NaN is the largest.
    order,
};

/// One dimension of a loaded buffer: position = offset + step * (position within `axes`), or
/// offset + step * (value of an argument of the load), which lies within the dimension.
struct LoadDim {
    Axes axes;
    std::int64_t offset = 0;
    std::int64_t step = 1;
    int pick = -1; ///< number of that argument, among the first ones of the load; -1: none
};

struct Value {
    Kind kind = Kind::constant;
    DType dtype = DType::float32;
    std::string op;
    std::string name; ///< of the operator of the task's graph whose result it is; empty: of none
    /// Its place in the order of the task's operators, in which kernels compute; -1: none yet.
    int rank = -1;
    std::vector<int> args;
    Axes axes;                 ///< index, count, reduce, scan, order
    Axes places;               ///< order: of the result
    std::int64_t first = 0;    ///< order: of the places in the whole row
    bool backwards = false;    ///< scan: from the end; order: the largest first
    double number = 0;         ///< constant
    int buffer = -1;           ///< load
    std::vector<LoadDim> dims; ///< load: one per buffer dimension, or per size in `extents`
    /// load: sizes that the buffer is read with when they are not its own: one long row, or
    /// dimensions that are cut finer.
    Shape extents;
    /// load: elements from one position to the next of each of `dims`, where those are no
    /// dimensions of the buffer: windows that overlap.
    Shape strides;

    /// load: how many of its arguments are positions.
    std::size_t picks() const;
    /// load: its last two arguments say where it may be read, and what it is elsewhere.
    bool bordered() const { return args.size() > picks(); }
};

enum class BufferRole { input, parameter, output, scratch };

/// Contiguous memory that kernels and library steps read and write.
struct BufferInfo {
    std::string name; ///< in the plan and in kernels: "in0", "out0", "tmp0", "ln_weight"
    BufferRole role = BufferRole::scratch;
    int index = -1;  ///< input, output
    std::string key; ///< parameter
    DType dtype = DType::float32;
    Shape shape;
    std::vector<std::string> expressions; ///< plan expressions of the sizes
    /// input, output: which of the task's dimensions each of `shape` is; empty: they stand as
    /// there.
    std::vector<int> order = {};
};

/// A tensor while lowering: a value and how its axes make dimensions.
struct View {
    int value = -1;
    std::vector<Axes> dims;
};

/// Writes a value to a buffer whose dimensions are `dims`: to all of it, or to the part that starts
/// at `offsets`, one per dimension. Parts are disjoint and together the whole buffer.
/// With `picks` the value is a "place" and is added to what the buffer holds, which is 0 before;
/// the position along dimension d is argument picks[d] of the value where that is not -1, for each
/// position within `dims[d]`. Sums come in any order.
struct Store {
    int value = -1;
    std::vector<Axes> dims;
    int buffer = -1;
    std::vector<std::int64_t> offsets = {};
    std::vector<int> picks = {};
    bool adds() const { return !picks.empty(); }
};

/// The places that a convolution sums over: for each place of its output a window of the input, of
/// which each channel has its own. Three dimensions of space, outermost first; those that are
/// missing have one place.
struct ConvolutionWindows {
    using Sizes = std::array<std::int64_t, 3>;
    Sizes in, out, taps, stride, padding, dilation;
    std::int64_t inner = 1; ///< channels, where they lie innermost; 1: they lie outermost
};

/// Filters of a transposed convolution for all neighbours of its output that meet the same places
/// of the input. Rows go over neighbours of all dimensions of space but the last, output channels,
/// and neighbours of the last one. Tap u of neighbour p is tap first + p + stride * u of the
/// filter, and a zero of nobody's where the filter has none.
struct NeighbourFilters {
    std::int64_t channels = 1;
    ConvolutionWindows::Sizes stride{1, 1, 1}, taps{1, 1, 1}, size{1, 1, 1}, first{0, 0, 0};
};

/// An operand of a product as it lies in memory, in elements: [rows, k] with k innermost, or
/// [k, rows] with rows innermost; rows are those of the left operand, columns of the right one.
struct ProductOperand {
    int buffer = -1;
    bool alongK = true;           ///< k is innermost
    std::int64_t pitch = 1;       ///< from one line to the next
    std::int64_t batchStride = 0; ///< from one product to the next
    std::int64_t repeats = 0;     ///< products after which it begins again; 0: never
    /// Rows are windows of an image with its channels outermost; k goes over channels and, for each
    /// of them, over taps. Not `alongK` then, and of no pitch. Or the channels lie innermost, and k
    /// goes over taps and, for each of them, over channels: `alongK`, and of no pitch either.
    std::optional<ConvolutionWindows> windows = std::nullopt;
    /// Which of its elements count: the others must not meet what is not finite.
    std::optional<NeighbourFilters> filters = std::nullopt;
};

/// alpha * a @ b of `batch` pairs of matrices [m, k] and [k, n], sizes as recorded.
struct Product {
    std::int64_t batch = 1, m = 1, n = 1, k = 1;
    ProductOperand a, b;
    DType type = DType::float32; ///< of the operands
    double alpha = 1;
    bool tf32 = false; ///< operands may be rounded to TF32
};

/// How a device goes through the steps of a recurrence. On a GPU the units of each direction are
/// shared out to blocks that stay for all steps, with their weights in registers; after each step
/// they wait for each other, so all of them have to be running. Else a thread takes a row of the
/// batch through all steps.
struct RecurrenceSchedule {
    int threads = 1;         ///< of a block; 1: a thread a row of the batch
    std::int64_t units = 1;  ///< of a block
    std::int64_t blocks = 1; ///< of a direction
    bool kept = false;       ///< weights stay in registers
    bool tagged = false;     ///< states come with the number of their step, else blocks count steps
    int shared = 0;          ///< bytes of a block
    bool alone() const { return threads == 1; }
};

/// One recurrent layer from step to step (worker/recurrence.py), float32; of each direction a
/// buffer. Writes [steps, batch, directions * hidden] and, for "lstm", [directions, batch, hidden]
/// behind it.
struct Recurrence {
    std::string cell; ///< "lstm", "gru", "rnn_tanh", "rnn_relu"
    std::int64_t steps = 1, batch = 1, hidden = 1;
    std::vector<int> gates, weights;
    std::vector<int> inputBiases, hiddenBiases; ///< empty without biases
    int first = -1, firstCell = -1;             ///< states before the first step; -1: none
    RecurrenceSchedule schedule = {};
    std::int64_t directions() const { return static_cast<std::int64_t>(gates.size()); }
    std::int64_t gatesOfUnit() const { return cell == "lstm" ? 4 : cell == "gru" ? 3 : 1; }
};

/// A GEMM or convolution between buffers: a step of the plan, verbatim. Or a recurrence, which
/// kernels of ours compute (recurrence.h); `step` then names what it writes.
struct LibraryStep {
    Json step;
    std::vector<int> reads;
    int writes = -1;
    double operations = 0; ///< additions and multiplications
    std::optional<Product> product = std::nullopt;
    std::optional<Recurrence> recurrence = std::nullopt;
    bool own = false; ///< only kernels of ours compute it, `step` merely names what it is
};

/// All of a task.
struct Program {
    AxisTable axes;
    std::vector<Value> values;
    std::vector<BufferInfo> buffers;
    std::vector<Store> stores;
    std::vector<LibraryStep> library;
    std::vector<std::string> requirements; ///< of the plan: sizes that the program relies on
    std::vector<std::string> notes;        ///< algebra that was used, for people
    bool widened = false;                  ///< see LoweringOptions::widen

    /// One without a rank comes behind all that are there.
    int add(Value value);
    /// Values in this order stand as the operators of the task's graph.
    std::pair<int, int> orderOf(int value) const { return {values[value].rank, value}; }
    int constant(double number, DType dtype = DType::float32);
    int pointwise(std::string op, std::vector<int> args, DType dtype);
    int reduce(std::string op, int arg, Axes axes, DType dtype);
    int scan(std::string op, int arg, Axes axes, DType dtype);
    int order(std::string op, int arg, Axes axes, Axes places, bool largest);
    int addBuffer(BufferInfo buffer);
    int addScratch(DType dtype, const std::vector<Axes> &dims);
    /// What scratch memory holds is output number `index`, its dimensions in that order: it is
    /// named so, in library steps, too.
    void makeOutput(int buffer, int index, std::vector<int> order = {});
    /// Scratch memory is called tmp0, tmp1, ... in the order in which `written` first has each;
    /// what is not in there keeps its name.
    void numberScratch(const std::vector<int> &written);
    /// A value that reads a buffer whose dimensions are `dims`.
    int load(int buffer, const std::vector<Axes> &dims);

    /// Atoms that a value depends on. `cache` may be kept while no axes change.
    std::set<Axis> axesOf(int value) const;
    std::set<Axis> axesOf(int value, std::map<int, std::set<Axis>> &cache) const;
    /// Row-major strides of a buffer, in elements.
    std::vector<std::int64_t> stridesOf(int buffer) const;
    /// Strides of the dimensions of a load, in elements.
    std::vector<std::int64_t> stridesOf(const Value &load) const;
    std::int64_t bytesOf(int buffer) const;

    /// Gives buffers other names, in library steps and notes, too.
    void rename(const std::map<int, std::string> &names);
    /// True when two axes may not become one because a value or a store is indexed by both.
    /// `more` are further lists of axes that must stay distinct (views being made).
    bool mustStayApart(Axis a, Axis b, const std::vector<std::vector<Axes>> &more = {}) const;
    /// Joins the loops of loads that read the same elements. Of equal values the one of the least
    /// rank stands for all, under the first name that one of them has.
    void simplify();
    /// Stores once what is stored to several scratch buffers as one, as what two products read;
    /// all that read one of them read the first. Of a simplified program, which may have more to
    /// simplify then: whether it did anything.
    bool storeOnce();
    /// Drops library steps and stores to scratch memory whose results nothing reads.
    void dropUnread();
    /// One line per value, for tests and for reading.
    std::string text() const;
};

} // namespace cuda_agent::policy
