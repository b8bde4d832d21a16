// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

// What checked kernels call where their C++ has no defined meaning: the handlers of clang's
// UndefinedBehaviorSanitizer, whose data tell the place (the layouts are those of compiler-rt).

#include "core/plan/runner/sanit_checker.h"

#include <cstring>

#pragma GCC diagnostic ignored "-Wmissing-declarations"

#define HANDLER extern "C" __attribute__((visibility("default"), used)) void

namespace {

using cuda_agent::plan::runner::sanit::Checker;
using cuda_agent::plan::runner::sanit::Place;

struct Location {
    const char *file;
    std::uint32_t line;
    std::uint32_t column;
};
struct Type {
    std::uint16_t kind; ///< 0: integer
    std::uint16_t info; ///< of an integer: bit 0 signed, above it the logarithm of its width
    char name[1];       ///< "'int'"
};
struct AtType {
    Location location;
    const Type *type;
};
struct AtTypes {
    Location location;
    const Type *left;
    const Type *right;
};
struct Mismatch {
    Location location;
    const Type *type;
    std::uint8_t alignmentLog;
    std::uint8_t check;
};
struct Here {
    Location location;
};

Place placeOf(const Location &location) {
    return {location.file ? location.file : "", static_cast<int>(location.line),
            static_cast<int>(location.column)};
}

/// A value as handlers get it: in the handle, or behind it when it is wider.
std::string valueText(const Type &type, std::uintptr_t handle) {
    if (type.kind != 0)
        return "?";
    const int bits = 1 << (type.info >> 1);
    const bool isSigned = (type.info & 1) != 0;
    if (bits > 64)
        return "?";
    const std::uint64_t value = handle;
    if (!isSigned)
        return fmt::format("{}", value);
    const auto shifted = value << (64 - bits);
    return fmt::format("{}", static_cast<std::int64_t>(shifted) >> (64 - bits));
}

void undefined(const Location &location, std::string message, bool fatal = false,
               const char *kind = "undefined") {
    Checker::self().undefined(kind, placeOf(location), std::move(message), fatal);
}

void overflow(const AtType &data, const char *operation, std::uintptr_t left,
              std::uintptr_t right) {
    undefined(data.location, fmt::format("signed overflow: {} {} {} does not fit into {}",
                                         valueText(*data.type, left), operation,
                                         valueText(*data.type, right), data.type->name));
}

} // namespace

HANDLER __ubsan_handle_out_of_bounds(AtTypes *data, std::uintptr_t index) {
    undefined(data->location,
              fmt::format("index {} is out of bounds for {}", valueText(*data->right, index),
                          data->left->name),
              true, "out-of-bounds");
}

HANDLER __ubsan_handle_shift_out_of_bounds(AtTypes *data, std::uintptr_t left,
                                           std::uintptr_t right) {
    undefined(data->location,
              fmt::format("shift of a value of type {} by {}, which is out of range",
                          data->left->name, valueText(*data->right, right)) +
                  fmt::format(" (the value is {})", valueText(*data->left, left)));
}

HANDLER __ubsan_handle_add_overflow(AtType *data, std::uintptr_t left, std::uintptr_t right) {
    overflow(*data, "+", left, right);
}
HANDLER __ubsan_handle_sub_overflow(AtType *data, std::uintptr_t left, std::uintptr_t right) {
    overflow(*data, "-", left, right);
}
HANDLER __ubsan_handle_mul_overflow(AtType *data, std::uintptr_t left, std::uintptr_t right) {
    overflow(*data, "*", left, right);
}
HANDLER __ubsan_handle_negate_overflow(AtType *data, std::uintptr_t value) {
    undefined(data->location, fmt::format("signed overflow: -({}) does not fit into {}",
                                          valueText(*data->type, value), data->type->name));
}
HANDLER __ubsan_handle_divrem_overflow(AtType *data, std::uintptr_t left, std::uintptr_t right) {
    if (right == 0)
        undefined(data->location, "integer division by zero", true);
    else
        undefined(data->location,
                  fmt::format("signed overflow: {} / {} does not fit into {}",
                              valueText(*data->type, left), valueText(*data->type, right),
                              data->type->name),
                  true);
}

HANDLER __ubsan_handle_type_mismatch_v1(Mismatch *data, std::uintptr_t address) {
    const std::uintptr_t alignment = std::uintptr_t{1} << data->alignmentLog;
    if (address == 0 || (address & (alignment - 1)) == 0)
        return; // the access itself says more
    undefined(data->location,
              fmt::format("misaligned access to {}: the address is {} bytes past a multiple of {}",
                          data->type->name, address & (alignment - 1), alignment),
              true, "misaligned");
}

HANDLER __ubsan_handle_load_invalid_value(AtType *data, std::uintptr_t value) {
    undefined(data->location, fmt::format("{} is no value of type {}", value, data->type->name));
}
HANDLER __ubsan_handle_vla_bound_not_positive(AtType *data, std::uintptr_t bound) {
    undefined(data->location, fmt::format("an array of {} elements", valueText(*data->type, bound)),
              true);
}
HANDLER __ubsan_handle_missing_return(Here *data) {
    undefined(data->location, "a function that returns a value ends without one", true);
}
HANDLER __ubsan_handle_builtin_unreachable(Here *data) {
    undefined(data->location, "a place is reached that the code says cannot be reached", true);
}
