// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/corpus/document_maker.h"

#include "core/base/hash.h"
#include "core/judge/candidate.h"
#include "core/learn/corpus/fixed_sizes.h"
#include "core/learn/corpus/parameter_names.h"
#include "core/learn/corpus/spelling.h"
#include "core/plan/make_program.h"

#include <array>
#include <cmath>
#include <set>

namespace cuda_agent::learn {

namespace {

constexpr std::size_t drawsPerDocument = 12;
constexpr std::size_t shorterOf = 32;      ///< draws where the first choice is too long
constexpr std::size_t longPerDocument = 8; ///< that are too long, before it gives up
constexpr int bestReward = 3;              ///< of a right candidate that leaves nothing to improve
/// What prompts of CPUs tell. A model that has seen one would know it by heart.
constexpr std::array threadCounts{1, 2, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128};
/// And what those of a GPU tell: cards that are planned for alike.
constexpr std::array likeH200{"NVIDIA H200", "NVIDIA H100 80GB HBM3"};

std::mt19937_64 generatorOf(std::uint64_t seed, const std::string &task) {
    const auto hash = sha256Hex(fmt::format("{} {}", seed, task));
    return std::mt19937_64(std::stoull(hash.substr(0, 16), nullptr, 16));
}

/// Evenly from 0 to 1.
double drawnShare(std::mt19937_64 &generator) {
    return static_cast<double>(generator() >> 11) * 0x1p-53;
}

/// CorpusOptions::resizedShare.
void resize(std::string &code, const std::string &task, double share) {
    auto generator = generatorOf(0, task + " resized");
    constexpr double least = 1.0 / 16;
    if (drawnShare(generator) < share)
        bench::cutBatch(code, std::pow(least, drawnShare(generator)));
}

/// Of `draws` candidates the one that the planner expects to be the fastest; of equal ones that
/// which it would try first. Of none it is that of all.
std::string drawnName(const policy::SearchSpace &space, std::size_t draws,
                      std::mt19937_64 &generator) {
    const auto rank = [&](const std::string &name) {
        return std::pair{space.expectedSeconds(name), space.laterChoices(name)};
    };
    if (draws == 0)
        if (auto first = space.next({}))
            return std::move(*first);
    std::string best = space.random(generator);
    if (draws <= 1)
        return best;
    auto least = rank(best);
    for (std::size_t i = 1; i < draws; ++i) {
        auto name = space.random(generator);
        if (auto other = rank(name); other < least) {
            best = std::move(name);
            least = other;
        }
    }
    return best;
}

/// Without the task's name and line in front, so that equal reasons count together.
std::string reasonOf(std::string message, const std::string &task) {
    if (message.starts_with(task)) {
        const auto colon = message.find(": ");
        message.erase(0, colon == message.npos ? 0 : colon + 2);
    }
    return message;
}

/// Whether a plan is one for that task on that device. Errors: request, failed.
Result<void> checkPlan(const Json &json, const plan::Signature &signature,
                       const device::Info &device) {
    CUDA_AGENT_ASSIGN(plan, plan::planFromJson(json));
    CUDA_AGENT_TRY(plan::resolve(plan, signature, plan::limitsOf(device)));
    return {};
}

Result<void> write(TaskDocuments &made, const Draft &draft, const Document &head) {
    Document document = head;
    document.candidate = draft.name;
    document.mutation = draft.mutation;
    CUDA_AGENT_ASSIGN(turn, turnOf(draft.thought, draft.written));
    document.segments.push_back(std::move(turn));
    document.thoughtBytes = draft.thought.size();
    document.kernelBytes = draft.written.kernels.size();
    document.planBytes = draft.written.plan.dump().size();
    made.documents.push_back(std::move(document));
    return {};
}

} // namespace

DocumentMaker::DocumentMaker(const CorpusOptions &options, Means means)
    : options_(options), means_(std::move(means)) {
    for (int gpu = 0; gpu < means_.gpus; ++gpu)
        runners_.push_back(std::make_shared<judge::IdleRunners>(options_.jobs));
    for (int device = 0; options_.judge && device < std::max(means_.gpus, 1); ++device)
        stocks_.push_back(std::make_shared<reference::Stock>(options_.jobs));
}

policy::Context DocumentMaker::contextOf() const {
    policy::Context context;
    context.device = options_.target.info;
    context.ceilings = options_.target.ceilings;
    context.numerics = options_.numerics;
    return context;
}

Result<TaskDocuments> DocumentMaker::make(const bench::SuiteTask &task,
                                          const std::stop_token &stop) const {
    TaskDocuments made;
    if (stop.stop_requested())
        return stoppedError();
    if (!options_.judge && !means_.tries.empty())
        return goOn(task, stop);
    std::string code = means_.set.sources.at(task.file);
    if (!options_.judge)
        resize(code, task.id, options_.resizedShare);
    policy::Context context = contextOf();
    auto description = means_.descriptions.of(task.id, code, stop);
    if (!description) {
        if (description.error().kind != ErrorKind::request)
            return tl::unexpected(description.error());
        made.reason = "no description: " + reasonOf(description.error().message, task.id);
        return made;
    }
    if (description->graph.nodes.empty()) {
        made.reason = "no graph: " + reasonOf(description->graphProblem, task.id);
        return made;
    }
    context.task = std::move(*description);
    auto generator = generatorOf(options_.seed, task.id);
    if (!options_.judge && drawnShare(generator) < options_.renamedShare) {
        auto renamed = withDrawnNames({std::move(context.task), std::move(code)}, generator);
        context.task = std::move(renamed.description);
        code = std::move(renamed.source);
    }
    if (!options_.judge && context.device.kind == device::Kind::cpu)
        context.device.multiprocessors = threadCounts[generator() % threadCounts.size()];
    else if (!options_.judge)
        context.device.name = likeH200[generator() % likeH200.size()];
    const auto prompt = chat::promptOf(context, code);
    // Thousands of operators, of which the prompt tells some, would be planned for minutes.
    if (!chat::tellsAllOperators(context.task) || prompt.text.size() > options_.mostBytes) {
        made.reason = "longer than a document may be";
        return made;
    }
    const auto space =
        policy::SearchSpace::make(context.task, context.device, context.ceilings, context.numerics);
    if (!space) {
        made.reason = space.error().message;
        return made;
    }
    made.planned = true;
    CUDA_AGENT_ASSIGN(drafts, draw(made, context, *space, prompt, generator, stop));
    const Document head{task.id, task.split, task.level, {}, {}, {prompt}, {}};
    if (options_.judge) {
        addOwn(drafts, task.id, generator);
        CUDA_AGENT_TRY(judge(made, drafts, head, task, generator, stop));
    } else {
        for (const Draft &draft : drafts)
            CUDA_AGENT_TRY(write(made, draft, head));
    }
    return made;
}

Result<std::optional<Draft>> DocumentMaker::draftOf(TaskDocuments &made,
                                                    const policy::Context &context,
                                                    const policy::SearchSpace &space,
                                                    const chat::Segment &prompt,
                                                    const std::string &name) const {
    const auto signature = judge::signatureOf(context.task);
    Draft draft;
    draft.name = name;
    CUDA_AGENT_ASSIGN(sound, candidateText(space, name, context.device.kind));
    auto fixed = withFixedSizes(std::move(sound.plan), signature);
    if (!fixed) {
        made.reason = "no plan for it: " + fixed.error().message;
        return std::nullopt;
    }
    sound.plan = std::move(*fixed);
    const auto parts = space.parts(name);
    const SizeSpelling spelling(context.task, prompt.text, name, parts, sound.plan);
    draft.sound = spelling.spelled(std::move(sound));
    if (auto checked = checkPlan(draft.sound.plan, signature, context.device); !checked) {
        made.reason = "no plan for it: " + checked.error().message;
        return std::nullopt;
    }
    draft.thought = thoughtOf(parts, draft.sound.plan, spelling);
    draft.written = draft.sound;
    return draft;
}

Result<std::optional<Draft>> DocumentMaker::firstChoice(TaskDocuments &made,
                                                        const policy::Context &context,
                                                        const policy::SearchSpace &space,
                                                        const chat::Segment &prompt) const {
    const auto name = space.next({});
    if (!name)
        return std::nullopt;
    return draftOf(made, context, space, prompt, *name);
}

Result<std::optional<Draft>>
DocumentMaker::shortest(TaskDocuments &made, const policy::Context &context,
                        const policy::SearchSpace &space, const chat::Segment &prompt,
                        std::mt19937_64 &generator, const std::stop_token &stop) const {
    CUDA_AGENT_ASSIGN(drafts, draw(made, context, space, prompt, generator, stop));
    const auto found = std::ranges::min_element(
        drafts, {}, [](const Draft &draft) { return draft.sound.kernels.size(); });
    if (found == drafts.end())
        return std::nullopt;
    return std::move(*found);
}

Result<std::vector<Draft>> DocumentMaker::draw(TaskDocuments &made, const policy::Context &context,
                                               const policy::SearchSpace &space,
                                               const chat::Segment &prompt,
                                               std::mt19937_64 &generator,
                                               const std::stop_token &stop) const {
    std::vector<Draft> drafts;
    std::set<std::string> seen;
    std::size_t tooLong = 0;
    std::size_t bestOf = options_.bestOf;
    for (std::size_t i = 0;
         i < drawsPerDocument * options_.perTask && drafts.size() < options_.perTask; ++i) {
        if (stop.stop_requested())
            return stoppedError();
        const auto draws = std::exchange(bestOf, std::max<std::size_t>(bestOf, 1));
        const auto name = drawnName(space, draws, generator); // there is one first choice
        if (!options_.judge && !seen.insert(name).second)
            continue;
        CUDA_AGENT_ASSIGN(drawn, draftOf(made, context, space, prompt, name));
        if (!drawn)
            continue;
        Draft &draft = *drawn;
        if (drawnShare(generator) < options_.brokenShare)
            draft.mutation = mutate(draft.written, generator);
        if (options_.judge &&
            !seen.insert(draft.written.kernels + draft.written.plan.dump()).second)
            continue;
        CUDA_AGENT_ASSIGN(turn, turnOf(draft.thought, draft.written));
        if (prompt.text.size() + turn.text.size() > options_.mostBytes) {
            made.reason = "longer than a document may be";
            if (++tooLong >= longPerDocument * options_.perTask)
                break; // such a task has few that are not
            // The fast ones have long kernels of products of their own.
            bestOf = draws == 0 ? shorterOf : (draws + 3) / 4;
            continue;
        }
        drafts.push_back(std::move(draft));
    }
    return drafts;
}

void DocumentMaker::addOwn(std::vector<Draft> &drafts, const std::string &task,
                           std::mt19937_64 &generator) const {
    const auto found = means_.tries.find(task);
    const auto drawn = drafts.size();
    if (found == means_.tries.end() || drawn == 0)
        return;
    for (std::size_t i = 0; i < std::min(found->second.size(), options_.perTask); ++i) {
        const auto &own = found->second[i];
        Draft draft = drafts[generator() % drawn]; // a name of the planner's and its sound text
        draft.instead = std::exchange(draft.thought, own.thought);
        draft.written = own.written;
        draft.mutation.reset();
        drafts.push_back(std::move(draft));
    }
}

Result<TaskDocuments> DocumentMaker::goOn(const bench::SuiteTask &task,
                                          const std::stop_token &stop) const {
    TaskDocuments made;
    const auto tries = means_.tries.find(task.id);
    if (tries == means_.tries.end()) {
        made.reason = "not tried";
        return made;
    }
    auto generator = generatorOf(options_.seed, task.id);
    for (const OwnTry &own : tries->second) {
        policy::Context context = contextOf();
        auto description = task::descriptionFromJson(own.description);
        if (!description) {
            made.reason = "no description: " + description.error().message;
            continue;
        }
        context.task = std::move(*description);
        context.device.name = own.device;
        const auto prompt = chat::promptOf(context, own.source);
        Document document{task.id, task.split, task.level, {}, {}, {prompt, own.turn, own.answer},
                          {}};
        const auto &verdict = own.verdict;
        std::optional<Draft> better;
        if (!verdict.correct || (verdict.seconds > 0 && verdict.reward < bestReward)) {
            const auto space = policy::SearchSpace::make(context.task, context.device,
                                                         context.ceilings, context.numerics);
            if (!space) {
                made.reason = space.error().message;
                continue;
            }
            CUDA_AGENT_ASSIGN(
                found, verdict.correct ? firstChoice(made, context, *space, prompt)
                                       : shortest(made, context, *space, prompt, generator, stop));
            if (!found && !verdict.correct)
                continue;
            better = std::move(found);
            document.segments[1].by = chat::Author::context; // it is not to write that again
        }
        if (better)
            document.candidate = better->name;
        CUDA_AGENT_ASSIGN(next, !better ? endingTurn(verdict.reward)
                                : verdict.correct
                                    ? fasterTurn(better->sound, better->thought)
                                    : anewTurn(better->sound, better->thought, verdict.compiled));
        document.segments.push_back(std::move(next));
        made.planned = true;
        document.thoughtBytes = own.thought.size();
        if (document.bytes() <= options_.mostBytes)
            made.documents.push_back(std::move(document));
        else
            made.reason = "longer than a document may be";
    }
    return made;
}

Result<void> DocumentMaker::judge(TaskDocuments &made, const std::vector<Draft> &drafts,
                                  const Document &head, const bench::SuiteTask &task,
                                  std::mt19937_64 &generator, const std::stop_token &stop) const {
    TaskJudge::Setting setting;
    CUDA_AGENT_ASSIGN(spec, task::openSpec(task.file, {}));
    setting.spec = std::move(spec);
    setting.code = means_.set.sources.at(task.file);
    setting.device = options_.target.info;
    setting.judge.numerics = options_.numerics;
    setting.judge.baselines = options_.baselines;
    setting.judge.timing = options_.timing;
    setting.judge.strongest = verify::Strength::training;
    setting.judge.threads = judge::threadsOfEach(options_.jobs);
    setting.open = [] { return device::openCpu(); };
    const auto gpus = static_cast<unsigned>(means_.gpus);
    const auto gpu = gpus > 0 ? next_++ % gpus : 0;
    setting.judge.stock = stocks_[gpu];
    if (gpus > 0) {
        setting.judge.caseBytes = judge::caseBytesOfEach(options_.target.info.memoryBytes,
                                                         (options_.jobs + gpus - 1) / gpus);
        setting.judge.runners = runners_[gpu];
        setting.open = [gpu] { return device::openCuda(static_cast<int>(gpu)); };
    }
    setting.known = &means_.observations;
    std::size_t verdicts = 0;
    setting.judged = [&] {
        ++verdicts;
        means_.judged();
    };
    TaskJudge judge(std::move(setting));
    auto played = playDrafts(drafts, head, judge,
                             {options_.mostBytes, options_.timing ? options_.improvedShare : 0},
                             generator, stop);
    if (!played) {
        if (played.error().kind != ErrorKind::request)
            return tl::unexpected(played.error());
        made.reason = "cannot be judged: " + reasonOf(played.error().message, task.id);
        return {};
    }
    made.documents = std::move(played->documents);
    made.judged = std::move(played->counts);
    made.judged.verdicts = verdicts;
    made.machineProblem = std::move(played->machineProblem);
    if (!made.machineProblem.empty())
        made.reason = "the machine failed: " + made.machineProblem;
    else if (!drafts.empty())
        made.reason = "all that was judged is dropped";
    return {};
}

} // namespace cuda_agent::learn
