// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/trace/trace_card.h"

#include "widgets/base/text.h"

#include <QCoreApplication>
#include <QLocale>
#include <QStringList>

namespace cuda_agent::widgets {

namespace {

using session::Event;
using session::EventType;

struct Words {
    Q_DECLARE_TR_FUNCTIONS(cuda_agent::widgets::TraceCard)
};

/// The text of a field without a copy; null when it is none.
const std::string *sharedText(const Json &object, const char *name) {
    const auto found = object.is_object() ? object.find(name) : object.end();
    return found == object.end() ? nullptr : found->get_ptr<const Json::string_t *>();
}

QString shapeText(const Json &tensor) {
    QStringList sizes;
    for (const Json &size : partOf(tensor, "shape"))
        if (size.is_number())
            sizes += QString::number(size.get<double>(), 'g', 15);
    return QStringLiteral("%1 %2 [%3]")
        .arg(textOf(tensor, "name"), textOf(tensor, "dtype"), sizes.join(QStringLiteral(", ")));
}

void addTensors(QStringList &lines, const QString &what, const Json &tensors) {
    QStringList texts;
    for (const Json &tensor : tensors)
        texts += shapeText(tensor);
    if (!texts.isEmpty())
        lines += what.arg(texts.join(QStringLiteral("; ")));
}

/// What limits a session, a line each.
QStringList budgetLines(const Json &data) {
    QStringList lines;
    const Json &budget = partOf(data, "budget");
    const auto add = [&](const QString &line, double most) {
        if (most > 0)
            lines += line.arg(most, 0, 'g', 12);
    };
    add(Words::tr("At most %1 turns"), numberOf(data, "turns"));
    add(Words::tr("At most %1 s"), numberOf(budget, "seconds"));
    add(Words::tr("At most %1 tokens"), numberOf(budget, "tokens"));
    add(Words::tr("Cost of at most %1"), numberOf(budget, "cost"));
    return lines;
}

Card sessionCard(const Event &event) {
    const Json &data = event.data;
    Card card;
    card.kind = CardKind::session;
    const Json &task = partOf(data, "task");
    const QString name = task.is_object() ? textOf(task, "name") : textOf(data, "task");
    card.title = name.isEmpty() ? Words::tr("Session") : Words::tr("Session: %1").arg(name);
    QStringList lines;
    const auto add = [&](const QString &line, const QString &value) {
        if (!value.isEmpty())
            lines += line.arg(value);
    };
    add(Words::tr("Task file: %1"), task.is_object() ? textOf(task, "file") : textOf(data, "task"));
    const Json &device = partOf(data, "device");
    const QString architecture = textOf(device, "architecture");
    add(Words::tr("Device: %1"),
        architecture.isEmpty() ? textOf(device, "name")
                               : Words::tr("%1 (%2)").arg(textOf(device, "name"), architecture));
    add(Words::tr("Numerics: %1"), textOf(data, "numerics"));
    add(Words::tr("Rules: %1"), textOf(data, "rules"));
    add(Words::tr("Policy: %1"), textOf(data, "policy"));
    add(Words::tr("Replays: %1"), textOf(partOf(data, "recorded"), "path"));
    lines += budgetLines(data);
    const Json &overrides = partOf(data, "overrides");
    if (overrides.is_object() && !overrides.empty())
        add(Words::tr("Set: %1"), QString::fromStdString(overrides.dump()));
    add(Words::tr("Program version: %1"), textOf(data, "program_version"));
    card.own = lines.join(u'\n').toStdString();
    return card;
}

Card budgetCard(const Event &event) {
    Card card;
    card.kind = CardKind::note;
    card.title = Words::tr("Budget from here on");
    card.own = budgetLines(event.data).join(u'\n').toStdString();
    return card;
}

Card taskCard(const Event &event) {
    const Json &data = event.data;
    Card card;
    card.kind = CardKind::task;
    card.title = Words::tr("Task described");
    QStringList lines;
    addTensors(lines, Words::tr("Inputs: %1"), partOf(data, "inputs"));
    addTensors(lines, Words::tr("Outputs: %1"), partOf(data, "outputs"));
    addTensors(lines, Words::tr("Parameters: %1"), partOf(data, "parameters"));
    int operators = 0;
    for (const Json &node : partOf(partOf(data, "graph"), "nodes"))
        operators += textOf(node, "op") != QLatin1String("placeholder") ? 1 : 0;
    if (operators > 0)
        lines += Words::tr("Operators: %1").arg(operators);
    if (const double bytes = numberOf(data, "counted_bytes"); bytes > 0)
        lines += Words::tr("Bytes to move at least: %1").arg(bytesText(bytes));
    if (const QString problem = textOf(data, "graph_problem"); !problem.isEmpty())
        lines += Words::tr("No graph: %1").arg(problem);
    card.own = lines.join(u'\n').toStdString();
    return card;
}

Card baselinesCard(const Event &event) {
    const Json &data = event.data;
    Card card;
    card.kind = CardKind::baselines;
    card.title = Words::tr("Baselines measured");
    QStringList lines;
    for (const char *name :
         {"eager", "compile", "eager_tf32", "compile_tf32", "compile_max_autotune"}) {
        const Json &time = partOf(data, name);
        if (const double seconds = numberOf(time, "seconds"); seconds > 0)
            lines += Words::tr("%1: %2 (95 % interval %3 to %4)")
                         .arg(QLatin1String(name), timeText(seconds),
                              timeText(numberOf(time, "low")), timeText(numberOf(time, "high")));
    }
    if (const double seconds = numberOf(data, "yardstick_seconds"); seconds > 0)
        lines += Words::tr("Copy of the task's bytes: %1").arg(timeText(seconds));
    const Json &problems = partOf(data, "problems");
    if (problems.is_object())
        for (const auto &[name, problem] : problems.items())
            lines += Words::tr("%1 is missing: %2")
                         .arg(QString::fromStdString(name), textOf(problems, name.c_str()));
    for (const Json &flag : partOf(data, "flags"))
        if (const auto *text = flag.get_ptr<const Json::string_t *>())
            card.chips.push_back({QString::fromStdString(*text), Tone::warning});
    card.own = lines.join(u'\n').toStdString();
    return card;
}

/// What the record of earlier sessions told the policy.
Card knowledgeCard(const Event &event) {
    const Json &data = event.data;
    Card card;
    card.kind = CardKind::note;
    card.title = Words::tr("What earlier sessions found");
    card.details = textOf(data, "operators");
    card.shared = sharedText(data, "text");
    const auto count = [&](const char *name, const QString &text, Tone tone) {
        const Json &list = partOf(data, name);
        if (list.is_array() && !list.empty())
            card.chips.push_back({text.arg(list.size()), tone});
    };
    count("worked", Words::tr("%1 worked"), Tone::good);
    count("failed", Words::tr("%1 failed"), Tone::warning);
    return card;
}

Card turnCard(const Event &event, const CardContext &context) {
    Card card;
    card.kind = CardKind::turn;
    card.title = Words::tr("Turn %1").arg(event.turn);
    if (textOf(event.data, "author") == QLatin1String("engineer"))
        card.chips.push_back({Words::tr("Engineer"), Tone::accent});
    else
        card.details = Words::tr("Policy");
    card.seconds = context.seconds;
    if (context.verdict)
        for (Chip &chip : verdictChips(partOf(context.verdict->data, "verdict")))
            card.chips.push_back(std::move(chip));
    return card;
}

Card actionCard(const Event &event) {
    const Json &data = event.data;
    const Json &arguments = partOf(data, "arguments");
    const QString tool = textOf(data, "tool");
    Card card;
    card.kind = CardKind::action;
    card.title = tool.isEmpty() ? Words::tr("Tool call") : tool;
    card.code = true;
    const auto *content = sharedText(arguments, "content");
    if (tool == QLatin1String("Write") && content) {
        const QString path = textOf(arguments, "file_path");
        card.title = Words::tr("Write %1").arg(path.isEmpty() ? textOf(arguments, "path") : path);
        card.details = bytesText(double(content->size()));
        card.shared = content;
        card.content = true;
        return card;
    }
    const QString strength = textOf(arguments, "strength");
    if (tool == QLatin1String("Verify") && !strength.isEmpty() && arguments.size() == 1) {
        card.details = strength == QLatin1String("full")       ? Words::tr("full strength")
                       : strength == QLatin1String("training") ? Words::tr("training strength")
                                                               : strength;
        return card;
    }
    if (arguments.is_object() && !arguments.empty())
        card.own = arguments.dump(2, ' ', false, Json::error_handler_t::replace);
    return card;
}

Card observationCard(const Event &event, const CardContext &context) {
    const Json &data = event.data;
    Card card;
    card.kind = CardKind::observation;
    card.failed = !truthOf(data, "ok");
    card.title =
        context.tool.isEmpty() ? Words::tr("Result") : Words::tr("Result of %1").arg(context.tool);
    if (card.failed)
        card.chips.push_back({Words::tr("Failed"), Tone::bad});
    card.seconds = numberOf(data, "seconds", -1);
    card.shared = sharedText(data, "text");
    card.code = true;
    return card;
}

Card textCard(const Event &event, CardKind kind, const QString &title) {
    Card card;
    card.kind = kind;
    card.title = title;
    card.shared = sharedText(event.data, "text");
    return card;
}

Card endCard(const Event &event) {
    Card card;
    card.kind = CardKind::end;
    card.title = Words::tr("Session ended");
    card.shared = sharedText(event.data, "reason");
    if (const int best = int(numberOf(event.data, "best_turn")); best > 0)
        card.chips.push_back({Words::tr("Best turn: %1").arg(best), Tone::good});
    else
        card.chips.push_back({Words::tr("No correct candidate"), Tone::bad});
    return card;
}

/// One answer of a language model: which one, and why it stopped where that is not the usual.
Card answerCard(const Event &event) {
    Card card;
    card.kind = CardKind::note;
    card.title = Words::tr("Answer of %1").arg(textOf(event.data, "model"));
    card.seconds = numberOf(event.data, "seconds", -1);
    card.shared = sharedText(event.data, "reasoning");
    const QString finish = textOf(event.data, "finish");
    if (finish == QLatin1String("length"))
        card.chips.push_back({Words::tr("Cut at its greatest length"), Tone::warning});
    else if (finish == QLatin1String("content_filter"))
        card.chips.push_back({Words::tr("Refused"), Tone::bad});
    if (const int attempts = int(numberOf(event.data, "attempts")); attempts > 1)
        card.chips.push_back({Words::tr("%1 attempts").arg(attempts), Tone::warning});
    if (truthOf(event.data, "estimated"))
        card.chips.push_back({Words::tr("Tokens estimated"), Tone::plain});
    return card;
}

/// What the endpoint counted, as the event has it.
QString usageText(const Json &usage) {
    if (!usage.is_object())
        return {};
    const QLocale locale;
    const auto count = [&](const char *name) {
        const double number = numberOf(usage, name, -1);
        return number >= 0 ? locale.toString(number, 'f', 0) : QString();
    };
    QStringList parts;
    if (const QString tokens = count("prompt_tokens"); !tokens.isEmpty())
        parts += Words::tr("%1 tokens in").arg(tokens);
    if (const QString tokens = count("answer_tokens"); !tokens.isEmpty())
        parts += Words::tr("%1 tokens out").arg(tokens);
    if (const double cost = numberOf(usage, "cost", -1); cost >= 0)
        parts += Words::tr("cost %1").arg(locale.toString(cost, 'g', 6));
    return parts.join(QStringLiteral(" · "));
}

} // namespace

bool hasCard(EventType type) {
    switch (type) {
    case EventType::textStreamed: // shown as what is being written
    case EventType::fileWritten:
    case EventType::fileRemoved:
    case EventType::compiled:
    case EventType::verdictGiven:
    case EventType::turnEnded:
        return false;
    default:
        return true;
    }
}

Card cardOf(const Event &event, const CardContext &context) {
    Card card;
    switch (event.type) {
    case EventType::sessionStarted:
        card = sessionCard(event);
        break;
    case EventType::taskDescribed:
        card = taskCard(event);
        break;
    case EventType::baselinesMeasured:
        card = baselinesCard(event);
        break;
    case EventType::knowledgeOffered:
        card = knowledgeCard(event);
        break;
    case EventType::budgetSet:
        card = budgetCard(event);
        break;
    case EventType::turnStarted:
        card = turnCard(event, context);
        break;
    case EventType::thought:
        card = textCard(event, CardKind::thought,
                        context.engineer ? Words::tr("Message") : Words::tr("Thought"));
        card.seconds = numberOf(event.data, "seconds", -1);
        break;
    case EventType::action:
        card = actionCard(event);
        break;
    case EventType::observation:
        card = observationCard(event, context);
        break;
    case EventType::modelAnswered:
        card = answerCard(event);
        break;
    case EventType::sessionEnded:
        card = endCard(event);
        break;
    default:
        card = textCard(event, CardKind::note, Words::tr("Note"));
        break;
    }
    card.turn = event.turn;
    card.usage = usageText(event.data);
    return card;
}

std::vector<Chip> verdictChips(const Json &verdict) {
    std::vector<Chip> chips;
    if (!verdict.is_object())
        return chips;
    const bool correct = truthOf(verdict, "correct");
    if (verdict.contains("compiled") && !truthOf(verdict, "compiled"))
        chips.push_back({Words::tr("Does not compile"), Tone::bad});
    else
        chips.push_back(correct ? Chip{Words::tr("Correct"), Tone::good}
                                : Chip{Words::tr("Wrong"), Tone::bad});
    constexpr double none = -1e9;
    if (const double reward = numberOf(verdict, "reward", none); reward != none)
        chips.push_back({Words::tr("Reward %1").arg(reward), Tone::plain});
    const Json &candidate = partOf(partOf(verdict, "times"), "candidate");
    if (const double seconds = numberOf(candidate, "seconds"); seconds > 0)
        chips.push_back({timeText(seconds), Tone::plain});
    const Json &speedup = partOf(verdict, "speedup");
    const auto against = [&](const char *name, const QString &text) {
        if (const double factor = numberOf(speedup, name); factor > 0)
            chips.push_back({text.arg(timesText(factor)), factor >= 1 ? Tone::good : Tone::plain});
    };
    against("eager", Words::tr("%1 eager"));
    against("compile", Words::tr("%1 torch.compile"));
    return chips;
}

} // namespace cuda_agent::widgets
// touched
