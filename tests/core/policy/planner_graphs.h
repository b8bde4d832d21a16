// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/policy/planner/fusion.h"
#include "core/policy/planner/lowering.h"
#include "core/policy/planner/search.h"

#include <map>
#include <string>
#include <vector>

/// Small graphs written by hand, and what a program means: a plain reading of it, element by
/// element, that shares no code with the writers of kernels.
namespace cuda_agent::policy::graphs {

inline TensorType f32(Shape shape) {
    return contiguousType(DType::float32, std::move(shape));
}
inline TensorType f16(Shape shape) {
    return contiguousType(DType::float16, std::move(shape));
}
inline TensorType i64(Shape shape) {
    return contiguousType(DType::int64, std::move(shape));
}
inline TensorType truth(Shape shape) {
    return contiguousType(DType::boolean, std::move(shape));
}

/// A graph in the form that the reference worker exports. Each call returns the argument that later
/// nodes name the result by.
class GraphWriter {
  public:
    Json input(TensorType type);
    Json scalar(Json value);
    Json parameter(const std::string &key, TensorType type);
    /// "exp.default" stands for "aten.exp.default".
    template <typename... Args>
    Json op(const std::string &name, TensorType type, Args &&...args) {
        return node("aten." + name, {std::move(type)},
                    Json::array({Json(std::forward<Args>(args))...}), Json::object());
    }
    Json node(const std::string &op, std::vector<TensorType> types, Json args, Json kwargs);
    /// Result number `position` of a node that has several.
    Json item(const Json &tuple, int position, TensorType type);
    task::Description returning(const std::vector<Json> &results);

  private:
    TensorType typeOf(const Json &result) const;
    task::Description task_;
};

using Numbers = std::vector<double>;
/// Contents of buffers by name.
using Memory = std::map<std::string, Numbers>;

/// 0, 1, 2, ...: the element at a position is the position.
Numbers positions(std::size_t count);
/// Numbers without a pattern that a wrong view would keep.
Numbers scattered(std::size_t count);

/// "out0[i, j] = add(in0[i, j], in1[j])": axes have letters in the order of the store's dimensions,
/// then of their appearance. `j` runs over a dimension, `2*j+1` over a part of it, `(i j)` over one
/// that two axes make together.
std::string textOf(const Program &program, const Store &store);
/// One line for each store, in order.
std::string textOf(const Program &program);

/// The buffers after the stores and library steps of a program. Reports a failure where memory is
/// read that nothing has written, or where an element is written twice.
Memory evaluate(const Program &program, Memory memory);
/// The same unit after unit. Reports a failure where a unit reads what it writes itself, where a
/// reduction belongs to another unit, and where axes lie outside the unit's.
Memory evaluate(const Fused &fused, Memory memory);

/// The program of a graph; reports a failure when there is none.
Program lowered(const task::Description &task);
/// The error of a graph that cannot be lowered; reports a failure when it can.
std::string problemOf(const task::Description &task);

/// The candidates for a task on a card of 132 multiprocessors; reports a failure when there are
/// none.
SearchSpace spaceOf(const task::Description &task, task::Numerics numerics,
                    const char *architecture = "sm_90");
/// The kernels of a candidate, without the comment that names its schedule.
std::string kernelsOf(const SearchSpace &space, const std::string &name);

} // namespace cuda_agent::policy::graphs
