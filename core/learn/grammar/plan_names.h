// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/learn/grammar/source_names.h"
#include "core/policy/chat/chat.h"

namespace cuda_agent::learn {

/// The parameters that a prompt tells. Never changes.
using ToldParameters = std::shared_ptr<const std::vector<chat::ToldParameter>>;

/// Reads a turn as it is written, byte after byte, and knows a plan's buffers where the text stands
/// in one: in what a `Write` to `plan.json` has as its content. Each object of the list "buffers"
/// has a "name" that no other one has, and one with a "key" has that of a told parameter that no
/// other one has, and its name; what stands for "buffer" in the steps behind that list is one of
/// these names. It is no parser: text that is no JSON is the tools' to refuse.
///
/// A value: a copy shares the names. One thread at a time.
class PlanNames {
  public:
    PlanNames() = default;
    /// With null, or where none are told, any key may come, and any name with it.
    explicit PlanNames(ToldParameters told) : told_(std::move(told)) {}

    void take(std::string_view bytes);

    /// Whether the text stands in the name of a buffer, or its key, and which it may be matters.
    bool inName() const { return role_ != Role::none && role_ != Role::any; }
    /// Whether that is a name of the policy's own, so that bytes without `"` may always come.
    bool declares() const { return role_ == Role::declared; }
    /// Whether the name or key that the text stands in may go on with these bytes, up to the `"`
    /// that ends it, if they have one.
    bool allows(std::string_view bytes) const;

    /// Whether a file of that path is one that is read.
    static bool isPlan(std::string_view path) { return path == "plan.json"; }

  private:
    enum class Role : std::uint8_t {
        none, ///< outside of strings
        any,  ///< a string of no interest
        key,  ///< of a told parameter
        told, ///< the name that goes with that
        declared,
        used
    };
    void takePlan(char byte);
    void takeSign(char byte);
    Role roleOfString() const;
    bool isListed(std::string_view name) const;
    bool isOne(std::string_view rest, bool whole) const;

    ContentLines lines_;
    std::string open_;    ///< lists and objects, the innermost last
    std::string section_; ///< key of the whole's member that the text stands in
    std::string key_;     ///< of the value that the text stands in or before
    std::string string_;  ///< the last one, or what stands of it
    Role role_ = Role::none;
    char sign_ = 0; ///< the last one outside of strings, but blanks
    bool escaped_ = false;
    bool listed_ = false;                       ///< all buffers are
    std::shared_ptr<const DeclaredName> names_; ///< of the buffers
    ToldParameters told_;
    const chat::ToldParameter *parameter_ = nullptr; ///< what the object is that the text stands in
};

} // namespace cuda_agent::learn
