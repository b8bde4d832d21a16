// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/grammar/plan_names.h"

namespace cuda_agent::learn {

void PlanNames::take(std::string_view bytes) {
    for (const char byte : bytes)
        switch (lines_.take(byte, isPlan)) {
        case ContentLines::At::outside:
        case ContentLines::At::begins:
            break;
        case ContentLines::At::inside:
            takePlan(byte);
            break;
        case ContentLines::At::ends:
            *this = PlanNames();
            break;
        }
}

void PlanNames::takePlan(char byte) {
    if (role_ == Role::none) {
        takeSign(byte);
        return;
    }
    if (byte != '"' || escaped_) {
        string_ += byte;
        escaped_ = byte == '\\' && !escaped_;
        return;
    }
    if (role_ == Role::declared)
        names_ = std::make_shared<const DeclaredName>(string_, false, std::move(names_));
    role_ = Role::none;
}

void PlanNames::takeSign(char byte) {
    switch (byte) {
    case ' ':
    case '\n':
    case '\t':
    case '\r':
        return;
    case '"':
        role_ = roleOfString();
        string_.clear();
        escaped_ = false;
        break;
    case ':':
        key_ = string_;
        if (open_.size() == 1)
            section_ = string_;
        break;
    case '{':
    case '[':
        open_ += byte;
        break;
    case '}':
    case ']':
        listed_ = listed_ || (open_.size() == 2 && section_ == "buffers");
        if (!open_.empty())
            open_.pop_back();
        break;
    default:
        break;
    }
    sign_ = byte;
}

PlanNames::Role PlanNames::roleOfString() const {
    if (sign_ != ':')
        return Role::any;
    if (section_ == "buffers" && open_ == "{[{" && key_ == "name")
        return Role::declared;
    return section_ == "steps" && listed_ && key_ == "buffer" ? Role::used : Role::any;
}

/// Whether a buffer's name is `string_` and `rest`, or begins so.
bool PlanNames::isOne(std::string_view rest, bool whole) const {
    for (const auto *one = names_.get(); one != nullptr; one = one->before.get()) {
        std::string_view name = one->text;
        if (!name.starts_with(string_))
            continue;
        name.remove_prefix(string_.size());
        if (whole ? name == rest : name.starts_with(rest))
            return true;
    }
    return false;
}

bool PlanNames::allows(std::string_view bytes) const {
    const auto end = bytes.find_first_of("\"\\");
    if (string_.find('\\') != string_.npos || (end != bytes.npos && bytes[end] == '\\'))
        return true; // spelled in another way
    if (end == bytes.npos)
        return role_ == Role::declared || isOne(bytes, false);
    return isOne(bytes.substr(0, end), true) == (role_ == Role::used);
}

} // namespace cuda_agent::learn
