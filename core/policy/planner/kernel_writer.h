// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/policy/planner/nest.h"
#include "core/policy/planner/reducers.h"
#include "core/policy/planner/schedule.h"

namespace cuda_agent::policy {

/// One kernel launch of the plan.
struct Launch {
    std::string entry;
    std::string grid[3] = {"1", "1", "1"}; ///< plan expressions
    int block[3] = {1, 1, 1};
    int shared = 0; ///< bytes of dynamic shared memory
    Json arguments = Json::array();
};

/// A group as text: kernels, how they are launched, and memory they need between them.
struct KernelSource {
    std::string text;
    std::vector<Launch> launches;
    std::vector<BufferInfo> scratch;
    std::vector<std::string> zeroed; ///< scratch to be filled with 0 before
    std::set<std::string> helpers;   ///< of the prelude
    /// What its passes keep, by name: structs that other groups' kernels may need, too. One that
    /// lanes of a warp exchange is longer.
    std::map<std::string, std::string> states = {};
};

/// Writes the CUDA C++ of one group under one schedule. `name` prefixes everything it defines.
KernelSource writeKernels(const Program &program, const Group &group, const Nest &nest,
                          const Schedule &schedule, const std::string &name);

/// Definitions that kernels with those helpers need, and the includes for these types.
std::string preludeText(const std::set<std::string> &helpers, const std::set<DType> &types);

/// What the forms of kernels share: text with indentation, parameters, scalar code.
class KernelWriter {
  public:
    KernelWriter(const Program &program, const Group &group, const Nest &nest,
                 const Schedule &schedule, std::string name);
    virtual ~KernelWriter() = default;
    KernelSource write();

  protected:
    virtual void writeForm() = 0;
    /// The position of the current element relative to the row pointer of an access.
    virtual std::string elementOffset(const Access &access) = 0;
    /// Subscript of things that exist once per row while several rows are in hand, or nothing.
    virtual std::string rowSubscript() const { return {}; }
    /// How many those are at most, and the loop along which they are neighbours.
    virtual int rowsInHand() const { return s_.chunk; }
    virtual int loopOfRowsInHand() const { return rowDims_.empty() ? -1 : rowDims_.back(); }
    /// Opens loops over the elements of a tile, calls `body` inside, closes them. `roots` are the
    /// values that the body computes, `stores` the stores that it fills (numbers into the group).
    virtual void forElements(const std::vector<int> &roots, const std::vector<int> &stores,
                             const std::function<void()> &body) = 0;
    /// Running results that a tile keeps side by side, for compilers that turn them into vector
    /// lanes; 0 for one of each.
    virtual int lanes() const { return 0; }
    /// Opens and closes loops over rows in hand, when there are several.
    virtual void forRowsInHand(const std::function<void()> &body) { body(); }

    // --- text
    void line(const std::string &text);
    void comment(const std::string &text) { line("// " + text); }
    void open(const std::string &head);
    void close(const std::string &tail = "}");
    /// Closes what an `if` opened and opens its other branch.
    void otherwise();
    /// Names of values and pointers are known up to the matching `pop`.
    void push() {
        scopes_.emplace_back();
        pointers_.emplace_back();
        names_.emplace_back();
    }
    void pop() {
        scopes_.pop_back();
        pointers_.pop_back();
        names_.pop_back();
    }
    /// Does `act` with the first row's of what rows in hand keep each for itself: outside of their
    /// loop, for what is the same for all of them.
    void withFirstRow(const std::function<void()> &act);
    void remember(int value, std::string text) { scopes_.back()[value] = std::move(text); }
    const std::string *recall(int value) const;
    /// A name for a variable or an array of a value that nothing known up to the matching `pop`
    /// has: that of the task's operator, "in0_x" of what is read from in0, "t0" of what is neither;
    /// `many`: of several of them, "add_x".
    std::string nameFor(int value, bool many = false);

    // --- parameters of the kernel being written
    /// `blocks` of them are promised to fit a multiprocessor at once, when given.
    void beginKernel(const std::string &suffix, int threads, int blocks = 0);
    void endKernel(Launch launch);
    void bufferParameter(int buffer);
    std::string sizeParameter(const std::string &expression, const std::string &name);
    void scratchParameter(const std::string &type, const std::string &name);
    /// All values as describeGroup() tells them.
    const std::vector<int> &told();
    /// What is loaded for `roots`, in the order in which describeGroup() tells of it, which
    /// parameters and pointers have as well.
    std::vector<int> loadsFor(const std::vector<int> &roots);
    /// Buffers that are read for `roots`, then those of `stores`.
    void bufferParameters(const std::vector<int> &roots, const std::vector<int> &stores);

    // --- values
    /// Code for a value at the current element; emits what it needs first, in the order of the
    /// task's operators.
    std::string valueOf(int value);
    /// The same, what it needs in the order in which it needs it.
    std::string evaluate(int value);
    /// Of a condition that joins others: all of them, "t0 >= 3 && t0 < 43".
    std::string conditionText(int value);
    /// Whether `code`, a result of a sum or scan that is an operator of the task, is to be read
    /// under the operator's name: it lies in a struct, or is computed where it is read.
    bool wantsName(int value, const std::string &code) const;
    /// All that has to be computed for a value here, that included; see inOrder().
    std::vector<int> neededFor(int value) const;
    /// Whether a condition is known to be true here.
    bool holds(int condition) const;
    /// Computes what `roots` need that is the same for the whole row, outside of element loops.
    void hoist(const std::vector<int> &roots);
    bool perRow(int value) { return rowValues_.contains(value); }
    std::string loadText(int value, const std::string &index);
    /// The position `index` moved on by the values that pick positions of a load's dimensions.
    std::string withPicks(const Value &load, const std::string &index);
    std::string movedBy(int position, std::int64_t stride, int buffer, const std::string &index);
    /// Where the current element is added, relative to the row pointer of a store.
    std::string placeText(int store);
    std::string stored(int store, const std::string &value);
    /// Loads among what `roots` need that differ from element to element and are not known yet.
    std::vector<int> elementLoads(const std::vector<int> &roots);
    /// Whether one that picks positions or has a border is read in runs here.
    bool readsAskedInRuns(int load) const;
    /// Declares pointers to the current row of everything the kernel touches; returns nothing.
    void rowPointers(const std::vector<int> &roots, const std::vector<int> &stores);
    /// `row`: what it is called, without "_row", where none is known yet; empty: as the buffer.
    std::string pointer(const Access &access, int buffer, const std::string &row = {});
    /// Names of row coordinates from the flat row number.
    /// With `tiled` rows count tiles of `each` along that loop, whose size is a multiple of it.
    void rowCoordinates(const std::string &row, const std::string &type, int tiled = -1,
                        int each = 1);
    /// "a * 4096 + b" from coordinate names and strides; "0" when empty.
    static std::string sumOf(const std::vector<std::pair<std::string, std::int64_t>> &terms);
    std::string literal(double number, DType type) const;

    /// Elementwise values that several sweeps over a row need and that do not depend on its
    /// reductions, where computing them again costs more than keeping them.
    std::vector<int> keptValues() const;

    // --- reductions (reduction_writer.cpp)
    const std::vector<Pass> &passes() const { return passes_; }
    std::string stateType(std::size_t pass) const;
    /// One thread adds up so many tiles that float sums would lose digits.
    bool exactSums() const {
        return s_.form == Schedule::Form::loopRow || s_.form == Schedule::Form::loopColumn;
    }
    void declareStates(std::size_t pass);
    /// Local results of one tile; combined into the state when `merge`.
    void tileReductions(std::size_t pass, bool merge);
    void forLanes(const std::function<void()> &body);
    /// Puts the lanes' results together in the first one, those of the second sweep or the others.
    void foldLanes(std::size_t pass, bool second);
    /// Makes the results of a finished pass known to later code.
    void publishResults(std::size_t pass, const std::string &state);
    std::vector<int> passRoots(std::size_t pass) const;

    // --- windows (window_writer.cpp)
    /// Conditions of the border that `roots` ask of each element of a window, with a text that is
    /// true where they hold for all elements of the windows in hand; without those of which that
    /// cannot be told from the first and the last element.
    std::map<int, std::string> wholeWindows(const std::vector<int> &roots);

    // --- rows in parts, which a second kernel puts together (reduction_writer.cpp)
    struct Work {
        std::vector<int> roots, stores;
    };
    /// Of the kernel that goes over the elements: the reductions alone where it has only parts.
    Work workOf(bool partial) const;
    /// Memory for the results of all rows' parts, as a parameter. Returns its name.
    std::string declarePartials(std::size_t pass);
    /// Begins the second kernel with its parameters. Returns the name of that memory.
    std::string beginCombine(std::size_t pass, int threads);
    /// The whole second kernel, with a thread to a row. `byPart`: the rows of a part lie next to
    /// each other in that memory, else the parts of a row.
    void combineByThreads(std::size_t pass, int threads, bool byPart);

    /// Writes `code` to the current element of a store, or to that of the array that collects it.
    void put(int store, const std::string &code);
    /// Writes the current element of each store; `vectors` are names of arrays that collect them.
    void storeElements(const std::vector<int> &stores);
    /// Writes per-row values, inside `forRowsInHand`.
    void storeRows();
    std::int64_t stateBytes(std::size_t pass) const;
    /// Number of elements of a row: a number or the parameter n.
    std::string elementsText();
    std::string elementsExpression() const;
    bool openLength() const { return n_.openLength(); }
    /// Declares how many steps go along `length` elements, "constexpr int parts = cdiv(900, 4 *
    /// 32);". `step`: its elements.
    void declareSteps(const std::string &name, std::int64_t length, const std::string &step);
    std::map<int, std::string> vectors_; ///< store -> array that collects a vector of it
    /// Declares that array, "out0_y", of what is stored.
    void declareVector(int store, int width);

    /// Stores of per-row values; element stores.
    std::vector<int> rowStores() const;
    std::vector<int> elementStores() const;
    std::vector<int> storeRoots(const std::vector<int> &stores) const;

    const Program &p_;
    const Group &g_;
    const Nest &n_;
    const Schedule &s_;
    std::string name_;
    std::vector<Pass> passes_;
    KernelSource out_;
    std::vector<int> elementDims_, rowDims_;
    std::vector<std::string> coordinates_; ///< by nest dimension; empty where not defined
    std::string indexType_;                ///< of positions within a row
    bool inLanes_ = false;                 ///< element loops being written accumulate lane by lane

  private:
    /// A position in an open tensor at the first or the last element of the windows in hand:
    /// factors of names, and a number.
    struct Reach {
        std::string text;
        std::int64_t number = 0;
    };
    std::optional<Reach> reachOf(int position, bool last) const;
    std::optional<std::string> wholeWindow(int condition) const;

    std::string body_, head_;
    int depth_ = 0;
    int temporaries_ = 0;
    std::vector<std::map<int, std::string>> scopes_;
    bool ordering_ = false;                    ///< within valueOf()
    bool double_ = false;                      ///< some value is a double
    bool rough_ = false;                       ///< see forgivesRoundoff()
    std::vector<std::set<std::string>> names_; ///< that `nameFor` gave, by scope
    RowValues rowValues_;
    std::vector<int> told_;               ///< as valuesAsTold(), once they are asked for
    std::map<int, int> numbers_;          ///< as numbersOf(), once a name is asked for
    std::map<int, std::string> rowNames_; ///< as rowNamesIn(), once a pointer is asked for
    std::vector<std::map<std::string, std::string>> pointers_; ///< expression -> name, by scope
    std::vector<std::string> parameters_;
    Json arguments_;
    std::set<std::string> parameterNames_;
    std::string entry_;
    int threads_ = 0;
    int blocks_ = 0;
};

std::unique_ptr<KernelWriter> makeRowWriter(const Program &, const Group &, const Nest &,
                                            const Schedule &, const std::string &name);
std::unique_ptr<KernelWriter> makeColumnWriter(const Program &, const Group &, const Nest &,
                                               const Schedule &, const std::string &name);
std::unique_ptr<KernelWriter> makeLoopWriter(const Program &, const Group &, const Nest &,
                                             const Schedule &, const std::string &name);

std::unique_ptr<KernelWriter> makeTileWriter(const Program &, const Group &, const Nest &,
                                             const Schedule &, const std::string &name);
std::unique_ptr<KernelWriter> makeScanWriter(const Program &, const Group &, const Nest &,
                                             const Schedule &, const std::string &name);

std::unique_ptr<KernelWriter> makeOrderWriter(const Program &, const Group &, const Nest &,
                                              const Schedule &, const std::string &name);

std::unique_ptr<KernelWriter> makeProductWriter(const Program &, const Group &, const Nest &,
                                                const Schedule &, const std::string &name);
std::unique_ptr<KernelWriter> makeAttentionWriter(const Program &, const Group &, const Nest &,
                                                  const Schedule &, const std::string &name);
/// `text` with the lines from "//IF a b" to the "//ELSE" or "//END" that belongs to it where a or b
/// is among `chosen`, else with those from "//ELSE" on, and without those marks: a kernel holds no
/// branches that are never taken.
std::string chosenParts(std::string_view text, const std::set<std::string> &chosen);

/// Definitions that kernels of products need; helpers are "product", "tensor", "loopProduct",
/// "attention" and "loopAttention", and what is in those: "sumsInBlocks" (of k, each on their own),
/// "padded" (elements of which some do not count); on tensor cores, which attention uses too with
/// "tensorAttention", the operands' type by its name, how they lie ("alongK", "floatAcross",
/// "shortAcross": 16 bits), and how it is multiplied: floats "rounded" to TF32 or "split" in two,
/// others "whole".
std::string productPrelude(const std::set<std::string> &helpers);
std::string tensorPrelude(const std::set<std::string> &helpers);
std::string attentionPrelude(const std::set<std::string> &helpers);
/// A product in plain loops, "loopProduct".
std::string loopProductPrelude(const std::set<std::string> &helpers);
/// Operands of products that are windows of an image, "windows", for the products among `helpers`.
std::string windowPrelude(const std::set<std::string> &helpers);

/// Definitions that put elements in order; helpers are "ranked", "sortRuns", "sortAlone",
/// "countBefore".
std::string orderPrelude(const std::set<std::string> &helpers);

std::string storageType(DType type); ///< "float", "__half", ...
std::string scalarType(DType type);  ///< what it is computed in
/// Whether kernels have no variable of a value, as it is its first argument: a place, or a cast
/// that changes nothing of what is computed.
bool isItsArgument(const Program &program, const Value &value);

} // namespace cuda_agent::policy
