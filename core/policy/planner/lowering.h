// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/policy/planner/ir.h"
#include "core/task/task.h"

#include <functional>

namespace cuda_agent::policy {

/// Bytes of a tensor from which on it is worth a kernel of its own to change the order in which it
/// lies.
inline constexpr std::int64_t leastTurned = 4 << 20;

struct LoweringOptions {
    bool tf32Gemm = false, tf32Convolution = false; ///< those steps may use TF32
    /// What is the same in exact arithmetic may be written otherwise (algebra.cpp); Program::notes
    /// says what was.
    bool algebra = false;
    /// Convolution steps run in that layout, between kernels that change to and from it.
    bool channelsLast = false;
    /// Convolutions are products over windows for kernels of the planner's own alone, where they
    /// can be: transposed ones, and those whose input such kernels read with its channels last.
    bool ownConvolutions = false;
    /// What is joined, padded or repeated is computed where it is read, under a condition; else it
    /// is written part by part, in loops without conditions, which a CPU's vectors want.
    bool inPlace = true;
    /// Products on tensor cores whose depth is no whole number of 16 bytes, which those can hardly
    /// read, get copies of their operands with zeros behind it, where they take longer than that.
    bool deepen = false;
    /// Those whose result's lines are no whole number of 16 bytes, either, which the library writes
    /// several times slower, get columns of zeros behind it, which nobody reads.
    bool widen = false;
};

/// Translates a task's graph. Errors: failed, naming every operator that the planner cannot do.
Result<Program> lower(const task::Description &task, const LoweringOptions &options);

/// Windows along a dimension: `outputs` of them, one every `stride`, each of `size` elements that
/// are `dilation` apart; the first starts `padding` before the dimension does.
struct Window {
    int dim = 0;
    std::int64_t outputs = 1, size = 1, stride = 1, dilation = 1, padding = 0;
};

/// A library step as the linear map that it is.
struct LinearStep {
    View x, weight, result;
    double alpha = 1;
    bool convolution = false, transposed = false;
    std::vector<std::int64_t> stride, padding, dilation, outputPadding; ///< of convolutions
};

/// The state of a translation and the vocabulary that operators are written in.
class Lowering {
  public:
    Lowering(const task::Description &task, const LoweringOptions &options)
        : task_(task), options_(options) {}
    Result<Program> run();

    Program program;
    std::map<int, LinearStep> linear; ///< by the buffer that the step writes
    const LoweringOptions &options() const { return options_; }

    // Arguments of a node; the position counts args, the name is looked up in kwargs too.
    static const Json *find(const task::Node &node, std::size_t position, const char *name);
    Result<View> view(const task::Node &node, std::size_t position, const char *name);
    /// The same of an element of an argument that is a list, "name" for people.
    Result<View> view(const Json &argument, const char *name);
    /// An element of such a list that has no elements of its own; it has no view.
    bool isEmpty(const Json &argument) const;
    bool given(const task::Node &node, std::size_t position, const char *name) const;
    /// The node of the graph whose result an argument is, or nullptr.
    const task::Node *producer(const task::Node &node, std::size_t position,
                               const char *name) const;
    /// Whether it is an output of the task.
    bool isResult(const task::Node &node) const;
    /// How many nodes of the graph read it.
    std::size_t readersOf(const task::Node &node) const;
    static double number(const task::Node &node, std::size_t position, const char *name,
                         double fallback);
    static bool flag(const task::Node &node, std::size_t position, const char *name, bool fallback);
    static std::vector<std::int64_t> integers(const task::Node &node, std::size_t position,
                                              const char *name);
    static std::string text(const task::Node &node, std::size_t position, const char *name);

    // Making values.
    View constant(double number, DType dtype = DType::float32);
    /// Pointwise operation with broadcasting.
    View apply(const std::string &op, std::vector<View> args, DType dtype);
    View cast(const View &view, DType dtype);
    /// Reduces the given dimensions; they stay as size 1 when `keep`.
    View reduce(const std::string &op, const View &view, const std::vector<int> &dims, bool keep,
                DType dtype);
    /// The number of elements in the given dimensions, as a value.
    View count(const View &view, const std::vector<int> &dims, DType dtype);
    View mean(const View &view, const std::vector<int> &dims, bool keep);
    /// Sum of squared distances from the mean.
    View squaredDeviations(const View &view, const std::vector<int> &dims, bool keep,
                           View *meanOut = nullptr);
    View index(const Axes &axes);
    /// Makes dimensions of the same size the same axes, aligned at the last one; an operand whose
    /// axes cannot be joined is read again under others. Returns the dimensions of them all.
    std::vector<Axes> broadcast(std::vector<View> &operands);

    // Views.
    Shape shapeOf(const View &view) const;
    DType dtypeOf(const View &view) const { return program.values[view.value].dtype; }
    View reshape(const View &view, const Shape &shape);
    View expand(const View &view, const Shape &shape);
    /// Elements offset, offset+step, ... of one dimension.
    View slice(const View &view, int dim, std::int64_t offset, std::int64_t step,
               std::int64_t size);
    /// The dimensions become the places of windows; the positions within each window are new
    /// dimensions at the end, in the order of the list. `inside`, when not -1, is the truth of
    /// being within the tensor: elsewhere the elements are of no meaning.
    View windows(const View &view, const std::vector<Window> &list, int *inside);
    /// The view, without reductions, as part of a larger tensor that begins before[d] elements
    /// earlier in dimension d; `otherwise` is what lies outside of it.
    View partOf(const View &x, const Shape &shape, const std::vector<std::int64_t> &before,
                const View &otherwise, DType type);
    /// Elements at positions[k] along dimension dims[k], which are whole numbers of one shape when
    /// broadcast: their dimensions come at `at` of the result, after the others have gone.
    /// Positions below 0 count from the end where `fromEnd`; those beyond are taken at the border.
    View pick(const View &view, const std::vector<int> &dims, const std::vector<View> &positions,
              std::size_t at, bool fromEnd);
    /// Elements at positions along one dimension that depend on those of all others: the positions
    /// have the result's shape, and no dimension of them but that one is longer than the view's.
    View pickAlong(const View &view, int dim, const View &positions);
    /// The same value computed in 32 bits where it is known to fit them.
    int narrowed(int value);
    /// A position that lies within a dimension of that size, whatever `value` is.
    int within(int value, std::int64_t size, bool fromEnd);
    /// The running sum, product or extreme along a dimension; for `op` see Kind::scan.
    View scan(const std::string &op, const View &view, int dim, DType dtype);
    /// Elements along a dimension in order, equal ones as they come, and where they were: `count`
    /// of them from place `first` on. NaN is the largest.
    struct Ordered {
        View values, positions;
    };
    Ordered order(const View &view, int dim, std::int64_t first, std::int64_t count, bool largest);
    /// The plan serves only tasks whose sizes of these axes are the recorded ones.
    void require(const Axes &axes);
    /// The same for sizes of inputs that stand in the node as numbers, or whose inverse or root
    /// does.
    void requireSizesOf(const task::Node &node);
    /// The order in which a result is written that PyTorch leaves in the order `left`: in that one
    /// where more of what it is computed from lies along its runs than along row-major ones, or as
    /// much and its runs are longer.
    std::vector<int> orderToWrite(const View &result, const std::vector<int> &left) const;
    /// Gives a value that is computed for a node, and not only read, the node's name.
    void nameResult(int value, const std::string &node);
    /// Writes it to a scratch buffer and reads it back under fresh axes.
    View materialise(const View &view);
    /// The same in the order of its dimensions, for those who read one element here and one there:
    /// materialised where it is computed from large inputs that lie in another order.
    View turned(const View &view);
    /// Whether a reduction, scan or order is among what a view is computed from.
    bool reduces(const View &view) const;
    /// A buffer that holds exactly this view: an existing one, or a scratch buffer written now.
    int bufferOf(const View &view);
    View loadBuffer(int buffer);
    /// A scratch buffer of that shape, to be filled by `storePart` calls that cover it.
    int bufferOfParts(const Shape &shape, DType dtype);
    /// Writes the part that starts at `offsets`. The plan then requires this view's sizes.
    void storePart(const View &view, int buffer, std::vector<std::int64_t> offsets);
    /// A tensor of that shape that is 0 but where elements of `value` are added: along dimension d
    /// at the position positions[picks[d]] for each place within dims[d], or within dims[d] itself
    /// where picks[d] is -1. The value is of float32, float64 or int32.
    View addAt(int value, const std::vector<Axes> &dims, const std::vector<int> &positions,
               const std::vector<int> &picks, const Shape &shape);

  private:
    /// An expression that has to be true of a task the plan serves; once.
    void requireText(const std::string &requirement);
    const View *known(const Json &argument) const;
    /// The scratch buffer that holds exactly this view, or -1.
    int wholeScratch(const View &view) const;
    Result<void> placeholder(const task::Node &node, int tensorIndex);
    /// The task's tensor that a buffer holds, its dimensions as the task has them.
    View loadPlaceholder(int buffer);
    /// Results that do not depend on their operands (x ** 0) still have the node's shapes.
    Result<std::vector<View>> shaped(const task::Node &node, std::vector<View> views);
    /// What an axis becomes when a computation is written down again.
    struct Target : LoadDim {
        Axes window;                 ///< a second list, for the positions within a window
        std::int64_t windowStep = 1; ///< of the dimension, from one of those to the next
        int inside = -1;             ///< where reading is allowed; -1: everywhere
        int pick = -1;               ///< a value that gives the position, in place of axes
    };
    using Targets = std::map<Axis, Target>;
    bool join(const View &a, std::size_t dimA, const View &b, std::size_t dimB);
    /// Whether a row over these atoms is no longer one even walk when they are replaced.
    bool takesPieces(const Axes &atoms, const Targets &fresh) const;
    /// Gives each atom of such rows a dimension of its own. False when the buffer cannot be read
    /// so.
    bool cutPieces(Value &load, const Targets &fresh) const;
    /// Writes the dimensions of a load under its targets; returns where it may be read, or -1, and
    /// adds the values that pick positions to `picks`.
    int retarget(Value &load, const Targets &fresh, std::vector<int> &picks) const;
    /// Sets targets for the atoms of a dimension of which `position` picks an element.
    void pickTargets(const Axes &dimension, int position, Targets &fresh);
    /// The position within a list of axes under its targets, where `renamed` has nothing for it.
    int movedIndex(const Value &index, const Targets &fresh);
    /// The list under its targets; nothing when a position within it is no longer linear.
    std::optional<Axes> renamed(const Axes &axes, const Targets &fresh) const;
    /// The same computation under fresh axes.
    bool cloneWith(const View &view, const Targets &fresh, View &result);
    View refreshed(const View &view);

    const task::Description &task_;
    LoweringOptions options_;
    std::map<std::string, std::vector<View>> known_;
    /// Nodes without elements, of which there is nothing to know, and their operators.
    std::map<std::string, std::string> empty_;
    std::map<std::string, int> placeholders_; ///< buffer of a tensor placeholder
};

/// One operator: the views of its results. Errors: failed, why this form of it cannot be done.
using Operator = std::function<Result<std::vector<View>>(Lowering &, const task::Node &)>;
using OperatorTable = std::map<std::string, Operator>;

void addPointwiseOperators(OperatorTable &table);
void addShapeOperators(OperatorTable &table);
void addPartOperators(OperatorTable &table);
void addWindowOperators(OperatorTable &table);
void addScanOperators(OperatorTable &table);
void addOrderOperators(OperatorTable &table);
void addIndexingOperators(OperatorTable &table);
void addScatterOperators(OperatorTable &table);
void addResamplingOperators(OperatorTable &table);
void addReductionOperators(OperatorTable &table);
void addNormalisationOperators(OperatorTable &table);
void addLibraryOperators(OperatorTable &table);
void addRecurrenceOperators(OperatorTable &table);
const OperatorTable &operatorTable();
/// Whether each element of the result of "aten.mul.Tensor" is computed of the elements of tensors
/// at the same place, which are broadcast. Any thread may ask.
bool isPointwise(const std::string &op);

/// x to the power of a number, in multiplications where these are few.
View power(Lowering &l, const View &x, double exponent, DType type);

/// An index as positions; failed for element types other than int64 and int32.
Result<View> positionsOf(Lowering &l, const View &index);
/// x[i, :, j]: index tensors for some dimensions, to be broadcast against each other. Their
/// dimensions take the place of those, or come first when others lie between: at `at`.
struct Indices {
    std::vector<int> dims;
    std::vector<View> positions; ///< one for each of `dims`
    std::size_t at = 0;
};
/// Of a node's second argument, "indices".
Result<Indices> indicesOf(Lowering &l, const task::Node &node);

/// scatter_add(self, dim, index, src). Errors: failed.
Result<std::vector<View>> scatterAdd(Lowering &l, const task::Node &node);

/// Adds a convolution step; its result, in the order of torch.
View convolutionStep(Lowering &lowering, LinearStep step, std::int64_t groups, const Shape &out,
                     DType type);

/// Rewrites the program of a finished translation where exact arithmetic allows; see algebra.cpp.
void applyAlgebra(Lowering &lowering);

/// A dimension argument as a position.
int dimensionOf(std::int64_t dim, std::size_t rank);
std::vector<int> allDimensions(std::size_t rank);
/// Dimensions of an argument; all when it is absent or empty.
std::vector<int> dimensionsOf(const task::Node &node, std::size_t position, std::size_t rank);

} // namespace cuda_agent::policy
