// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/export/expression_code.h"
#include "core/export/extension.h"
#include "core/export/task_text.h"

#include <set>

namespace cuda_agent::exporter {

/// One argument of the exported operator.
struct OperatorArgument {
    enum class Kind { input, parameter, scalar } kind = Kind::input;
    std::string name;      ///< identifier, in C++ and Python alike
    std::string planName;  ///< the plan's buffer; empty when the plan does not read it
    int position = -1;     ///< in get_inputs(): input, scalar
    std::string key;       ///< parameter: of the task's Model
    bool constant = false; ///< parameter: a tensor of the Model that is not in its state_dict
    TensorType type;       ///< as it was verified
    std::uint32_t alignment = 1;
    Json number; ///< scalar: as it was verified
    bool isTensor() const { return kind != Kind::scalar; }
    /// "Tensor", "float", "int" or "bool", as operator schemas call it.
    std::string schemaType() const;
};

/// Something that must hold of the arguments' shapes, as a plan expression.
struct Condition {
    std::string expression;
    std::string message;
};

/// The operator seen from outside, and what the plan's names are called in it.
struct Interface {
    std::string package;
    std::vector<OperatorArgument> arguments; ///< inputs by position, then parameters
    std::vector<const plan::Buffer *> outputs;
    std::map<std::string, std::string> names; ///< plan's buffer or symbol -> identifier
    /// Input or output buffer with an order of its own -> identifier of the tensor that has it.
    std::map<std::string, std::string> ordered;
    std::vector<Condition> conditions;     ///< the plan's `requires`, and which sizes may vary
    std::vector<ForwardParameter> forward; ///< of Model; empty: known by position only
    bool differentiable = false;

    const OperatorArgument *argumentOf(const std::string &planBuffer) const;
    std::string schema() const; ///< "forward(Tensor x, float scale) -> Tensor"
    /// The plan expression in that language.
    std::string code(std::string_view expression, Language language) const;
};

/// Errors: request, when the plan does not fit the task.
Result<Interface> interfaceOf(const Source &source);

/// "1_Conv2D" -> "op_1_conv2d_extension".
std::string packageName(const std::string &task);
/// Words that a generated file must not use as a variable.
bool isReserved(const std::string &word);

/// Conditions beside the plan's own. A size that the plan never mentions must stay equal to another
/// one that it was equal to, or the kernels would be told a wrong size; where there is none, all
/// sizes must be those that were verified. An input's size that equals a parameter's stays as it
/// is.
std::vector<Condition> shapeConditions(const Source &source,
                                       const std::vector<OperatorArgument> &arguments);

} // namespace cuda_agent::exporter
