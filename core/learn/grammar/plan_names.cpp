// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/grammar/plan_names.h"

#include <algorithm>

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
            *this = PlanNames(std::move(told_));
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
    if (role_ == Role::key) {
        const auto at = std::ranges::find(*told_, string_, &chat::ToldParameter::key);
        parameter_ = at == told_->end() ? nullptr : &*at;
    }
    if (role_ == Role::declared || role_ == Role::told)
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
        if (open_ == "{[{")
            parameter_ = nullptr;
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
    if (section_ == "buffers" && open_ == "{[{") {
        if (key_ == "name")
            return parameter_ != nullptr && !isListed(parameter_->name) ? Role::told
                                                                        : Role::declared;
        return key_ == "key" && told_ && !told_->empty() ? Role::key : Role::any;
    }
    return section_ == "steps" && listed_ && key_ == "buffer" ? Role::used : Role::any;
}

bool PlanNames::isListed(std::string_view name) const {
    for (const auto *one = names_.get(); one != nullptr; one = one->before.get())
        if (one->text == name)
            return true;
    return false;
}

/// Whether what may stand here, or of new names what may not, is `string_` and `rest`, or begins
/// so.
bool PlanNames::isOne(std::string_view rest, bool whole) const {
    const auto fits = [&](std::string_view name) {
        if (!name.starts_with(string_))
            return false;
        name.remove_prefix(string_.size());
        return whole ? name == rest : name.starts_with(rest);
    };
    if (role_ == Role::told)
        return fits(parameter_->name);
    if (role_ == Role::key)
        return std::ranges::any_of(*told_, [&](const chat::ToldParameter &one) {
            return fits(one.key) && !isListed(one.name);
        });
    for (const auto *one = names_.get(); one != nullptr; one = one->before.get())
        if (fits(one->text))
            return true;
    return false;
}

bool PlanNames::allows(std::string_view bytes) const {
    const auto end = bytes.find_first_of("\"\\");
    if (string_.find('\\') != string_.npos || (end != bytes.npos && bytes[end] == '\\'))
        return true; // spelled in another way
    if (end == bytes.npos)
        return role_ == Role::declared || isOne(bytes, false);
    return isOne(bytes.substr(0, end), true) == (role_ != Role::declared);
}

} // namespace cuda_agent::learn
