// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/planner/search.h"
#include "core/policy/planner/attention.h"
#include "core/policy/planner/library_cost.h"
#include "core/policy/planner/lowering.h"
#include "core/policy/planner/position_text.h"
#include "core/policy/planner/products.h"
#include "core/policy/planner/recurrence.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace cuda_agent::policy {

namespace {

constexpr double launchSeconds = 2.5e-6;
constexpr std::size_t mostOptionsOnCpu = 3;
/// Below this a kernel of its own costs more than scattered writes.
constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();
/// Products whose own kernels may beat the library's: what is small, or waits for memory more than
/// it computes.
std::set<int> promising(const Fused &fused, const std::vector<int> &products,
                        const device::Info &device) {
    constexpr double smallOnCuda = 2e9, smallOnCpu = 1e7, operationsPerByte = 60;
    const bool cpu = device.kind == device::Kind::cpu;
    std::set<int> some;
    for (const int number : products) {
        const LibraryStep &step = fused.program.library[number];
        const double bytes = bytesOf(fused.program, step);
        if (step.operations < (cpu ? smallOnCpu : smallOnCuda) || step.own ||
            slowInTheLibrary(fused.program, step) ||
            (!cpu && step.operations < operationsPerByte * bytes))
            some.insert(number);
    }
    return some;
}

} // namespace

Result<SearchSpace> SearchSpace::make(const task::Description &task, const device::Info &device,
                                      const device::Ceilings &ceilings, task::Numerics numerics) {
    // PyTorch's defaults: full precision products, TF32 convolutions (on cuda).
    const bool cuda = device.kind == device::Kind::cuda;
    const bool tf32 = cuda && numerics != task::Numerics::standard;
    struct Lowered {
        Program program;
        bool exact = false;
    };
    std::vector<Lowered> programs;
    const LoweringOptions usual{.tf32Gemm = tf32,
                                .tf32Convolution = cuda,
                                .algebra = true,
                                .inPlace = cuda,
                                .deepen = cuda,
                                .widen = cuda};
    const auto with = [](LoweringOptions options, bool LoweringOptions::*option,
                         bool value = true) {
        options.*option = value;
        return options;
    };
    CUDA_AGENT_ASSIGN(rewritten, lower(task, usual));
    programs.push_back({std::move(rewritten)});
    if (!programs[0].program.notes.empty()) { // as it stands, should the other fail the judge
        CUDA_AGENT_ASSIGN(plain, lower(task, with(usual, &LoweringOptions::algebra, false)));
        programs.push_back({std::move(plain)});
    }
    if (programs[0].program.widened) { // kernels of its own take a product as it stands
        CUDA_AGENT_ASSIGN(narrow, lower(task, with(usual, &LoweringOptions::widen, false)));
        programs.push_back({std::move(narrow)});
    }
    // cuDNN is several times faster in one layout or the other, mostly this one.
    const auto any = [&](const auto &what) {
        const auto &steps = programs[0].program.library;
        return std::any_of(steps.begin(), steps.end(), what);
    };
    const bool convolutions = cuda && any(isConvolution);
    if (convolutions) {
        CUDA_AGENT_ASSIGN(last, lower(task, with(usual, &LoweringOptions::channelsLast)));
        programs.push_back({std::move(last)});
        CUDA_AGENT_ASSIGN(own, lower(task, with(usual, &LoweringOptions::ownConvolutions)));
        programs.push_back({std::move(own)});
    }
    // PyTorch does not take TF32 everywhere it may, and what it computes sets the allowance.
    if (any(roundsProducts)) {
        LoweringOptions full = usual;
        full.tf32Gemm = full.tf32Convolution = false;
        for (const bool channelsLast : {false, true}) {
            if (channelsLast && !convolutions)
                continue;
            CUDA_AGENT_ASSIGN(
                exact, lower(task, with(full, &LoweringOptions::channelsLast, channelsLast)));
            programs.push_back({std::move(exact), true});
        }
        if (convolutions) {
            CUDA_AGENT_ASSIGN(own, lower(task, with(full, &LoweringOptions::ownConvolutions)));
            programs.push_back({std::move(own), true});
        }
    }
    for (std::size_t i = 0, count = programs.size(); i < count; ++i) {
        if (std::ranges::none_of(programs[i].program.library, [](const LibraryStep &step) {
                return step.recurrence.has_value();
            }))
            continue;
        for (int choice = 1; choice < (cuda ? recurrenceChoices : 1); ++choice) {
            programs.push_back(programs[i]);
            CUDA_AGENT_TRY(scheduleRecurrences(programs.back().program, device, choice));
        }
        CUDA_AGENT_TRY(scheduleRecurrences(programs[i].program, device, 0));
    }
    SearchSpace space;
    space.notes_ = programs[0].program.notes;
    space.cpu_ = !cuda;
    space.bytesPerSecond_ = std::max(1e9, ceilings.copyBytesPerSecond);
    std::set<std::string> seen;
    std::vector<std::pair<const Lowered *, std::int64_t>> forms;
    for (const Lowered &program : programs) {
        for (const std::int64_t longest :
             {std::numeric_limits<std::int64_t>::max(), std::int64_t{0}})
            forms.emplace_back(&program, longest);
    }
    for (const auto &[form, longest] : forms) {
        const Fused fused =
            withoutCopies(fuse(form->program, {longest, cuda ? leastTurned : never}));
        space.add(fused, device, form->exact, seen);
        std::vector<Fused> starts{fused};
        if (const auto attentions = attentionsOf(fused); !attentions.empty()) {
            starts.push_back(withOwnAttention(fused, attentions));
            space.add(starts[1], device, form->exact, seen);
        }
        for (const Fused &start : starts) {
            std::vector<int> products = productsOf(start);
            if (!cuda) // plain loops over windows are no match for a library's
                std::erase_if(products, [&](int step) {
                    return start.program.library[step].product->b.windows.has_value();
                });
            for (const std::set<int> &own : {std::set<int>(products.begin(), products.end()),
                                             promising(start, products, device)}) {
                if (!own.empty())
                    space.add(withOwnProducts(start, own), device, form->exact, seen);
            }
        }
    }
    if (space.variants_.empty())
        return failedError("the planner found no schedule for this task on this device");
    // Rows too long, or too few, for the fused form come second.
    std::stable_sort(space.variants_.begin(), space.variants_.end(),
                     [&](const auto &a, const auto &b) {
                         const auto cost = [&](const Variant &v) {
                             double sum = v.librarySeconds;
                             for (std::size_t g = 0; g < v.groups.size(); ++g) {
                                 const Option &first = v.options[g][0];
                                 const Nest &nest = v.groups[g].nest;
                                 // Too few rows leave most of the device idle.
                                 const std::int64_t parts = std::max<std::int64_t>(
                                     1, first.schedule.parts == 0 ? 1 << 20 : first.schedule.parts);
                                 const double units =
                                     static_cast<double>(nest.rows()) * static_cast<double>(parts);
                                 const double wanted = device.multiprocessors;
                                 const Schedule::Form form = first.schedule.form;
                                 const bool thin = form != Schedule::Form::column &&
                                                   form != Schedule::Form::tile &&
                                                   !first.schedule.ofProduct() && units < wanted;
                                 const double least = space.groupSeconds(v, g, first);
                                 sum += (thin ? least * wanted / units : least) + launchSeconds;
                             }
                             return sum;
                         };
                         return cost(*a) < cost(*b);
                     });
    std::stable_partition(space.variants_.begin(), space.variants_.end(),
                          [](const auto &variant) { return !variant->exact; });
    return space;
}

void SearchSpace::add(Fused fused, const device::Info &device, bool exact,
                      std::set<std::string> &seen) {
    auto variant = std::make_shared<Variant>();
    variant->exact = exact;
    variant->fused = std::move(fused);
    const Program &program = variant->fused.program;
    variant->groups = groupsOf(variant->fused, !cpu_);
    bool possible = true;
    std::string key;
    for (const ScheduledGroup &group : variant->groups) {
        variant->options.push_back(scheduleOptions(program, group, device));
        if (cpu_ && variant->options.back().size() > mostOptionsOnCpu)
            variant->options.back().resize(mostOptionsOnCpu);
        possible = possible && !variant->options.back().empty();
        key += describeGroup(program, group) + "\n";
    }
    for (const Unit &unit : variant->fused.units) {
        if (unit.group && unit.group->product < 0)
            continue;
        const LibraryStep &step = program.library[unit.group ? unit.group->product : unit.library];
        if (unit.group && unit.group->scores >= 0)
            variant->steps += "own attention ";
        variant->steps += (unit.group ? "own " : "") + step.step.dump();
        if (unit.group) {
            ++variant->products;
            continue;
        }
        possible = possible && !step.own;
        if (step.recurrence) {
            variant->steps += policy::describe(*step.recurrence);
            variant->librarySeconds += secondsOf(*step.recurrence) + launchSeconds;
            continue;
        }
        variant->librarySeconds +=
            librarySeconds(program, step, cpu_, bytesPerSecond_) + launchSeconds;
    }
    if (possible && seen.insert(key + variant->steps).second)
        variants_.push_back(std::move(variant));
}

double SearchSpace::groupSeconds(const Variant &variant, std::size_t group,
                                 const Option &option) const {
    const auto bytes =
        static_cast<double>(groupBytes(variant.fused.program, *variant.groups[group].group));
    return std::max(bytes * option.traffic / bytesPerSecond_, option.seconds);
}

std::string SearchSpace::nameOf(const Choice &choice) const {
    const Variant &variant = *variants_[choice.variant];
    std::string name = std::to_string(choice.variant);
    for (std::size_t g = 0; g < choice.options.size(); ++g)
        name += "|" + variant.options[g][choice.options[g]].schedule.text();
    return name;
}

std::optional<SearchSpace::Choice> SearchSpace::parse(const std::string &name) const {
    std::vector<std::string> words;
    for (std::size_t at = 0; at <= name.size();) {
        const std::size_t end = std::min(name.find('|', at), name.size());
        words.push_back(name.substr(at, end - at));
        at = end + 1;
    }
    Choice choice;
    if (words[0].empty() || words[0].size() > 3 ||
        words[0].find_first_not_of("0123456789") != std::string::npos)
        return std::nullopt;
    choice.variant = static_cast<std::size_t>(std::stoi(words[0]));
    if (choice.variant >= variants_.size() ||
        words.size() != variants_[choice.variant]->groups.size() + 1)
        return std::nullopt;
    for (std::size_t g = 0; g + 1 < words.size(); ++g) {
        const auto &options = variants_[choice.variant]->options[g];
        const auto found = std::find_if(options.begin(), options.end(), [&](const Option &o) {
            return o.schedule.text() == words[g + 1];
        });
        if (found == options.end())
            return std::nullopt;
        choice.options.push_back(static_cast<std::size_t>(found - options.begin()));
    }
    return choice;
}

std::vector<std::size_t> SearchSpace::byWeight(const Variant &variant) const {
    std::vector<std::size_t> order;
    for (std::size_t g = 0; g < variant.groups.size(); ++g)
        order.push_back(g);
    const auto first = [&](std::size_t g) {
        return groupSeconds(variant, g, variant.options[g][0]);
    };
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return first(a) > first(b); });
    return order;
}

double SearchSpace::seconds(const Choice &choice) const {
    const Variant &variant = *variants_[choice.variant];
    double total = variant.librarySeconds;
    for (std::size_t g = 0; g < choice.options.size(); ++g) {
        const Option &option = variant.options[g][choice.options[g]];
        total += groupSeconds(variant, g, option) + (cpu_ ? 5e-6 : launchSeconds);
    }
    return total;
}

double SearchSpace::expectedSeconds(const std::string &name) const {
    const auto choice = parse(name);
    return choice ? seconds(*choice) : 0;
}

std::size_t SearchSpace::laterChoices(const std::string &name) const {
    const auto choice = parse(name);
    return choice ? std::reduce(choice->options.begin(), choice->options.end()) : 0;
}

double SearchSpace::expectedBytes(const std::string &name) const {
    const auto choice = parse(name);
    if (!choice)
        return 0;
    const Variant &variant = *variants_[choice->variant];
    double total = 0;
    for (std::size_t g = 0; g < choice->options.size(); ++g)
        total += static_cast<double>(groupBytes(variant.fused.program, *variant.groups[g].group)) *
                 variant.options[g][choice->options[g]].traffic;
    return total;
}

std::string SearchSpace::reason(const std::string &name) const {
    const auto choice = parse(name);
    if (!choice || choice->options.empty())
        return "library steps only";
    const Variant &variant = *variants_[choice->variant];
    const std::size_t heaviest = byWeight(variant)[0];
    return variant.options[heaviest][choice->options[heaviest]].reason;
}

int SearchSpace::kernels(const std::string &name) const {
    const auto choice = parse(name);
    if (!choice)
        return 0;
    const Variant &variant = *variants_[choice->variant];
    const auto recurs = [&](const Unit &unit) -> bool {
        return unit.library >= 0 && variant.fused.program.library[unit.library].recurrence;
    };
    return static_cast<int>(variant.groups.size()) +
           static_cast<int>(std::ranges::count_if(variant.fused.units, recurs));
}

std::string SearchSpace::random(std::mt19937_64 &generator) const {
    // The standard's distributions differ between libraries; the rest is even enough.
    Choice choice{generator() % variants_.size(), {}};
    for (const auto &options : variants_[choice.variant]->options)
        choice.options.push_back(generator() % options.size());
    return nameOf(choice);
}

std::vector<SearchSpace::Part> SearchSpace::parts(const std::string &name) const {
    std::vector<Part> result;
    const auto choice = parse(name);
    if (!choice)
        return result;
    const Variant &variant = *variants_[choice->variant];
    for (std::size_t g = 0; g < choice->options.size(); ++g) {
        const Option &option = variant.options[g][choice->options[g]];
        const ScheduledGroup &group = variant.groups[g];
        result.push_back({group.name, describeGroup(variant.fused.program, group),
                          describeLoops(variant.fused.program, group),
                          describeAccesses(variant.fused.program, group),
                          describePositions(variant.fused.program, group),
                          describeRowValues(variant.fused.program, group),
                          sizeTextsOf(variant.fused.program, group),
                          describeCounts(variant.fused.program, group, option.schedule),
                          option.schedule.textBesideHeld(group.nest.openLength()),
                          describeApart(variant.fused.program, group, option.schedule),
                          option.reason});
    }
    return result;
}

std::vector<std::string> SearchSpace::allSingleChanges() const {
    std::vector<std::string> names;
    for (std::size_t v = 0; v < variants_.size(); ++v) {
        const Variant &variant = *variants_[v];
        Choice first{v, std::vector<std::size_t>(variant.groups.size(), 0)};
        names.push_back(nameOf(first));
        for (const std::size_t g : byWeight(variant)) {
            for (std::size_t o = 1; o < variant.options[g].size(); ++o) {
                Choice changed = first;
                changed.options[g] = o;
                names.push_back(nameOf(changed));
            }
        }
    }
    return names;
}

void SearchSpace::setOrder(const Order &order) {
    preferred_.clear();
    places_.clear();
    const auto place = [&](const std::string &name) { places_.emplace(name, places_.size()); };
    for (const std::string &name : order.preferred) {
        if (parse(name)) {
            preferred_.push_back(name);
            place(name);
        }
    }
    for (const std::string &name : allSingleChanges())
        place(name);
    // Nobody's part may be empty: what is left over does the same again.
    parts_ = std::clamp<std::size_t>(static_cast<std::size_t>(std::max(1, order.parts)), 1,
                                     std::max<std::size_t>(1, places_.size()));
    part_ = static_cast<std::size_t>(std::max(0, order.part)) % parts_;
}

bool SearchSpace::mine(const std::string &name) const {
    if (parts_ == 1)
        return true;
    if (const auto found = places_.find(name); found != places_.end())
        return found->second % parts_ == part_;
    std::size_t sum = 0; // several groups changed at once: shared out by name
    for (const char c : name)
        sum = sum * 31 + static_cast<unsigned char>(c);
    return sum % parts_ == part_;
}

std::optional<std::string> SearchSpace::next(const std::vector<Trial> &trials) const {
    const auto tried = [&](const std::string &name) {
        return !mine(name) || std::any_of(trials.begin(), trials.end(),
                                          [&](const Trial &trial) { return trial.name == name; });
    };
    for (const std::string &name : preferred_) {
        if (!tried(name))
            return name;
    }
    // Every variant gets its first choices measured, unless it must be much slower.
    std::optional<Choice> best;
    double bestSeconds = 0;
    bool roundedWrong = false, exactTried = false;
    for (const Trial &trial : trials) {
        const auto choice = parse(trial.name);
        if (choice) {
            const bool exact = variants_[choice->variant]->exact;
            exactTried = exactTried || exact;
            roundedWrong = roundedWrong || (trial.wrong && !exact);
        }
        if (choice && !trial.failed && trial.seconds > 0 &&
            (!best || trial.seconds < bestSeconds)) {
            best = choice;
            bestSeconds = trial.seconds;
        }
    }
    Choice first{0, std::vector<std::size_t>(variants_[0]->groups.size(), 0)};
    if (!tried(nameOf(first)))
        return nameOf(first);
    // The reference may not have rounded: one look settles it, before more of those that round.
    const auto exact = std::find_if(variants_.begin(), variants_.end(),
                                    [](const auto &variant) { return variant->exact; });
    if (!best && roundedWrong && !exactTried && exact != variants_.end()) {
        const Choice plain{static_cast<std::size_t>(exact - variants_.begin()),
                           std::vector<std::size_t>((*exact)->groups.size(), 0)};
        if (!tried(nameOf(plain)))
            return nameOf(plain);
    }
    // Later choices of the leading variant, one group at a time, the heaviest first. Of each group
    // a few are looked at before the other variants get their turn.
    const auto neighbours = [&](const Choice &from,
                                std::size_t limit) -> std::optional<std::string> {
        const Variant &variant = *variants_[from.variant];
        const double whole = seconds(from);
        for (const std::size_t g : byWeight(variant)) {
            const double share =
                groupSeconds(variant, g, variant.options[g][from.options[g]]) / whole;
            if (share < 0.03 && best)
                continue;
            for (std::size_t o = 0; o < std::min(limit, variant.options[g].size()); ++o) {
                Choice changed = from;
                changed.options[g] = o;
                if (!tried(nameOf(changed)))
                    return nameOf(changed);
            }
        }
        return std::nullopt;
    };
    const bool roundingHolds = best && !variants_[best->variant]->exact;
    // Other library steps make the largest difference.
    for (std::size_t v = 0; v < variants_.size(); ++v) {
        const bool seen =
            std::any_of(variants_.begin(), variants_.begin() + static_cast<std::ptrdiff_t>(v),
                        [&](const auto &other) { return other->steps == variants_[v]->steps; });
        const Choice other{v, std::vector<std::size_t>(variants_[v]->groups.size(), 0)};
        // The library's products and the planner's own are guessed at by different rules.
        const bool otherProducts =
            best && variants_[v]->products != variants_[best->variant]->products;
        const bool hopeless = best && ((roundingHolds && variants_[v]->exact) ||
                                       seconds(other) > (otherProducts ? 3 : 1.3) * bestSeconds);
        if (!seen && !tried(nameOf(other)) && !hopeless)
            return nameOf(other);
    }
    const Choice centre = best.value_or(first);
    if (auto name = neighbours(centre, 3))
        return name;
    // Guesses about tiles of products are rough: those of a variant that comes close are looked at.
    constexpr double close = 1.6;
    for (std::size_t v = 0; v < variants_.size() && best; ++v) {
        std::optional<Choice> leading;
        double leadingSeconds = close * bestSeconds;
        for (const Trial &trial : trials) {
            const auto choice = parse(trial.name);
            if (choice && choice->variant == v && !trial.failed && trial.seconds > 0 &&
                trial.seconds < leadingSeconds) {
                leading = choice;
                leadingSeconds = trial.seconds;
            }
        }
        if (!leading || v == centre.variant || variants_[v]->products == 0)
            continue;
        if (auto name = neighbours(*leading, 4))
            return name;
    }
    for (std::size_t v = 0; v < variants_.size(); ++v) {
        const Choice other{v, std::vector<std::size_t>(variants_[v]->groups.size(), 0)};
        const bool hopeless =
            best && ((roundingHolds && variants_[v]->exact) || seconds(other) > 1.3 * bestSeconds);
        if (!tried(nameOf(other)) && !hopeless)
            return nameOf(other);
    }
    return neighbours(centre, 1000);
}

std::optional<double> SearchSpace::bestUntried(const std::vector<Trial> &trials) const {
    const auto name = next(trials);
    if (!name)
        return std::nullopt;
    return expectedSeconds(*name);
}

Result<CandidateFiles> SearchSpace::write(const std::string &name,
                                          const std::vector<std::string> &notes) const {
    const auto choice = parse(name);
    if (!choice)
        return failedError("'{}' is no candidate of this task", name);
    const Variant &variant = *variants_[choice->variant];
    std::vector<Schedule> schedules;
    std::vector<std::string> reasons;
    for (std::size_t g = 0; g < choice->options.size(); ++g) {
        schedules.push_back(variant.options[g][choice->options[g]].schedule);
        reasons.push_back(variant.options[g][choice->options[g]].reason);
    }
    reasons.insert(reasons.end(), notes.begin(), notes.end());
    return makeCandidate(variant.fused, variant.groups, schedules, name, reasons);
}

std::string SearchSpace::describe() const {
    std::string text;
    for (std::size_t v = 0; v < variants_.size(); ++v) {
        const Variant &variant = *variants_[v];
        text += fmt::format("variant {}\n", v);
        for (std::size_t g = 0; g < variant.groups.size(); ++g) {
            const Nest &nest = variant.groups[g].nest;
            text += fmt::format("  {}: {}\n    loops:", variant.groups[g].name,
                                describeGroup(variant.fused.program, variant.groups[g]));
            for (const NestDim &dim : nest.dims)
                text += fmt::format(" {}{}", dim.element ? "e" : "k", dim.size);
            text += fmt::format("{}\n", nest.runtimeOuter ? " (outer open)" : "");
            for (const Option &option : variant.options[g])
                text += fmt::format("    {} ({})\n", option.schedule.text(), option.reason);
        }
    }
    return text;
}

} // namespace cuda_agent::policy
