// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/verdict/verdict_words.h"

#include "widgets/base/text.h"

#include <QCoreApplication>
#include <QLocale>

#include <span>

namespace cuda_agent::widgets {

namespace {

struct Words {
    Q_DECLARE_TR_FUNCTIONS(Verdict)
};

/// Numbers of evidence: those that JSON has no number for are texts there ("nan", "inf").
QString valueText(const Json &object, const char *name, int digits) {
    const QString text = textOf(object, name);
    if (!text.isEmpty())
        return text;
    const double value = numberOf(object, name, qQNaN());
    return value == value ? QLocale().toString(value, 'g', digits) : QString();
}

QString indexText(const Json &index) {
    QStringList numbers;
    for (const Json &number : index)
        numbers += number.is_number_integer() ? QString::number(number.get<std::int64_t>())
                                              : QStringLiteral("?");
    return QLatin1Char('[') + numbers.join(QLatin1String(", ")) + QLatin1Char(']');
}

QStringList texts(const Json &list) {
    QStringList result;
    if (list.is_array())
        for (const Json &entry : list)
            if (const auto *text = entry.get_ptr<const Json::string_t *>())
                result += QString::fromStdString(*text);
    return result;
}

QString explained(const QString &what, const QString &why) {
    return why.isEmpty() ? what : Words::tr("%1: %2", "flag: explanation").arg(what, why);
}

} // namespace

VerdictKind kindOf(const Json &verdict) {
    if (!verdict.is_object() || verdict.empty())
        return VerdictKind::none;
    if (!truthOf(verdict, "compiled"))
        return VerdictKind::notCompiled;
    return truthOf(verdict, "correct") ? VerdictKind::correct : VerdictKind::wrong;
}

QString rewardText(int reward, bool compiled) {
    switch (reward) {
    case 1:
        return Words::tr("not more than 5 % faster than eager");
    case 2:
        return Words::tr("more than 5 % faster than eager, but not than torch.compile");
    case 3:
        return Words::tr("more than 5 % faster than both eager and torch.compile");
    default:
        return compiled ? Words::tr("a check failed") : Words::tr("nothing could be checked");
    }
}

namespace {

/// What is shown for a name of the log; one that this program does not know as the log has it.
QString shownName(std::span<const std::pair<const char *, QString>> names, const QString &name) {
    for (const auto &[logged, shown] : names)
        if (name == QLatin1String(logged))
            return shown;
    return name;
}

} // namespace

QString checkName(const Json &check) {
    const QString name = textOf(check, "name");
    const std::pair<const char *, QString> known[] = {
        {"random inputs", Words::tr("random inputs")},
        {"adversarial inputs", Words::tr("adversarial inputs")},
        {"guard zones", Words::tr("guard zones")},
        {"inputs unchanged", Words::tr("inputs unchanged")},
        {"repeat", Words::tr("repeat")},
        {"misaligned storage", Words::tr("misaligned storage")},
        {"no aliasing", Words::tr("no aliasing")},
        {"timed calls", Words::tr("timed calls")},
        {"after timing", Words::tr("after timing")},
        {"origin of the work", Words::tr("origin of the work")},
        {"whole numbers", Words::tr("whole numbers")},
        {"hidden shapes", Words::tr("hidden shapes")},
        {"sources", Words::tr("sources")},
        {"fresh inputs", Words::tr("fresh inputs")},
        {"knock-out", Words::tr("knock-out")},
        {"process", Words::tr("process")}};
    return shownName(known, name);
}

QString faultText(const Json &verdict) {
    const QString kind = textOf(partOf(verdict, "fault"), "kind");
    const std::pair<const char *, QString> known[] = {
        {"illegal_address", Words::tr("an access to memory that is not there")},
        {"illegal_instruction", Words::tr("an illegal instruction")},
        {"assertion", Words::tr("a failed assertion")},
        {"arithmetic", Words::tr("a division by zero")},
        {"launch", Words::tr("a launch that the device refuses")},
        {"hang", Words::tr("a kernel that does not end")},
        {"out_of_memory", Words::tr("out of memory")},
        {"limit", Words::tr("a limit of the sandbox")},
        {"died", Words::tr("its process died")},
        {"raised", Words::tr("an exception of its own code")},
        {"other", Words::tr("a fault of another kind")}};
    return shownName(known, kind);
}

QString headlineText(const Json &verdict) {
    const int reward = static_cast<int>(numberOf(verdict, "reward", -1));
    switch (kindOf(verdict)) {
    case VerdictKind::correct:
        return Words::tr("Correct, reward %1: %2").arg(reward).arg(rewardText(reward, true));
    case VerdictKind::wrong: {
        if (const QString fault = faultText(verdict); !fault.isEmpty())
            return Words::tr("Fails, reward %1: %2").arg(reward).arg(fault);
        const QString name = checkName(partOf(verdict, "failed_check"));
        return name.isEmpty()
                   ? Words::tr("Wrong, reward %1").arg(reward)
                   : Words::tr("Wrong, reward %1: the check \"%2\" failed").arg(reward).arg(name);
    }
    case VerdictKind::notCompiled:
        return Words::tr("Does not compile, reward %1").arg(reward);
    case VerdictKind::none:
        break;
    }
    return {};
}

QString circumstancesText(const Json &verdict) {
    QStringList parts;
    const QString strength = textOf(verdict, "strength");
    if (strength == QLatin1String("full"))
        parts += Words::tr("Full strength: all inputs, long timing.");
    else if (!strength.isEmpty())
        parts += Words::tr("Training strength: few inputs, short timing.");
    const QString device = textOf(verdict, "device");
    if (device == QLatin1String("cpu"))
        parts += Words::tr("On the CPU device: its times say nothing about GPU times.");
    else if (device == QLatin1String("cuda"))
        parts += Words::tr("On the GPU.");
    const QString numerics = textOf(verdict, "numerics");
    if (numerics == QLatin1String("tf32"))
        parts += Words::tr("Numerics tf32: baselines may use TF32 products.");
    else if (numerics == QLatin1String("published"))
        parts += Words::tr("Numerics as published.");
    else if (numerics == QLatin1String("default"))
        parts += Words::tr("PyTorch's default numerics.");
    const QString rules = textOf(verdict, "rules");
    if (rules == QLatin1String("published"))
        parts += Words::tr("Held to the published rules.");
    else if (rules == QLatin1String("kernelbench"))
        parts += Words::tr("Held to KernelBench's rules.");
    if (const double seconds = numberOf(verdict, "seconds"); seconds > 0)
        parts += Words::tr("Took %1.").arg(timeText(seconds));
    return parts.join(QLatin1Char(' '));
}

QString evidenceText(const Json &check) {
    const Json &evidence = partOf(check, "evidence");
    if (!evidence.is_object() || evidence.empty())
        return {};
    QStringList sentences;
    const QString expected = valueText(evidence, "expected", 9);
    const QString got = valueText(evidence, "got", 9);
    if (const QString input = textOf(evidence, "case"); !input.isEmpty())
        sentences += Words::tr("Input case \"%1\".").arg(input);
    if (!expected.isEmpty() || !got.isEmpty()) {
        const QString unknown = Words::tr("unknown", "value");
        const Json &index = partOf(evidence, "index");
        const QString values =
            Words::tr("expected %1, got %2")
                .arg(expected.isEmpty() ? unknown : expected, got.isEmpty() ? unknown : got);
        const QString output = valueText(evidence, "output", 9);
        sentences +=
            index.is_array() && !index.empty()
                ? Words::tr("Output %1 at index %2: %3.")
                      .arg(output.isEmpty() ? unknown : output, indexText(index), values)
                : Words::tr("Output %1: %2.").arg(output.isEmpty() ? unknown : output, values);
    }
    const QString error = valueText(evidence, "error", 4);
    const QString allowed = valueText(evidence, "allowed", 4);
    if (!error.isEmpty() && !allowed.isEmpty())
        sentences += Words::tr("The error is %1; %2 is allowed.").arg(error, allowed);
    else if (const QString why = textOf(evidence, "why"); !why.isEmpty())
        sentences += Words::tr("%1.", "a sentence from the log").arg(why);
    return sentences.join(QLatin1Char(' '));
}

QString flagText(const QString &flag) {
    const auto is = [&](const char *start) { return flag.startsWith(QLatin1String(start)); };
    if (is("throttling could not be watched"))
        return explained(flag, Words::tr("a slower clock during the run would go unnoticed."));
    if (is("throttled"))
        return explained(flag,
                         Words::tr("the machine was slower than usual during some samples, so "
                                   "that times are less certain."));
    if (is("host clock disagrees"))
        return explained(flag, Words::tr("the candidate's own clock tells less time than passed "
                                         "outside; do not trust the time."));
    if (is("faster than the limit") || is("faster than counted"))
        return explained(flag, Words::tr("data may have stayed in a cache, or work was left out; "
                                         "read the kernel before believing it."));
    if (is("not bitwise deterministic"))
        return explained(flag, Words::tr("two calls with the same input differ in their last bits, "
                                         "as atomic additions do."));
    if (is("baselines were not measured again"))
        return explained(flag, Words::tr("the speed-ups compare with the times from the start of "
                                         "the session."));
    return flag;
}

QString unenforcedText(const QString &limit) {
    const auto is = [&](const char *start) { return limit.startsWith(QLatin1String(start)); };
    const QString head = Words::tr("not enforced: %1", "limit of the sandbox").arg(limit);
    if (is("user"))
        return explained(head, Words::tr("run untrusted candidates on a machine where it is."));
    if (is("memory"))
        return explained(head, Words::tr("a candidate may take more for a moment."));
    if (is("processes"))
        return explained(head, Words::tr("a candidate may start more of them."));
    if (is("cpu"))
        return explained(head, Words::tr("a candidate may use more for a moment."));
    return head;
}

QStringList remarks(const Json &verdict) {
    QStringList lines;
    for (const QString &flag : texts(partOf(verdict, "flags")))
        lines += flagText(flag);
    for (const QString &limit : texts(partOf(verdict, "unenforced")))
        lines += unenforcedText(limit);
    const Json &problems = partOf(verdict, "baseline_problems");
    if (problems.is_object())
        for (const auto &[name, problem] : problems.items())
            lines +=
                Words::tr("%1 was not measured: %2")
                    .arg(timeName(QString::fromStdString(name)), textOf(problems, name.c_str()));
    return lines;
}

QString firstDiagnosticText(const Json &verdict) {
    const Json &list = partOf(verdict, "diagnostics");
    const Json *first = nullptr;
    if (list.is_array())
        for (const Json &entry : list)
            if (entry.is_object() &&
                (!first || (textOf(entry, "severity") == QLatin1String("error") &&
                            textOf(*first, "severity") != QLatin1String("error"))))
                first = &entry;
    if (!first)
        return {};
    QString place = textOf(*first, "file");
    for (const char *part : {"line", "column"})
        if (const double number = numberOf(*first, part); number > 0)
            place += QStringLiteral(":%1").arg(static_cast<qint64>(number));
    const QString what =
        QStringLiteral("%1: %2").arg(textOf(*first, "severity"), textOf(*first, "message"));
    return place.isEmpty() ? what : QStringLiteral("%1: %2").arg(place, what);
}

QString timeName(const QString &name) {
    if (name == QLatin1String("candidate"))
        return Words::tr("candidate");
    if (name == QLatin1String("eager"))
        return Words::tr("eager");
    if (name == QLatin1String("compile"))
        return Words::tr("torch.compile");
    if (name == QLatin1String("compile_max_autotune"))
        return Words::tr("max-autotune");
    if (name == QLatin1String("eager_tf32"))
        return Words::tr("eager, TF32");
    if (name == QLatin1String("compile_tf32"))
        return Words::tr("torch.compile, TF32");
    return name;
}

QString verdictText(int turn, const Json &verdict) {
    QStringList lines{Words::tr("Turn %1").arg(turn), headlineText(verdict),
                      circumstancesText(verdict)};
    if (const QString first = firstDiagnosticText(verdict); !first.isEmpty())
        lines += first;
    const Json &checks = partOf(verdict, "checks");
    if (checks.is_array())
        for (const Json &check : checks) {
            const QString state = truthOf(check, "skipped")  ? Words::tr("skipped")
                                  : truthOf(check, "passed") ? Words::tr("ok")
                                                             : Words::tr("failed");
            lines += Words::tr("%1: %2 (%3)", "check: ok (detail)")
                         .arg(checkName(check), state, textOf(check, "detail"));
        }
    const Json &times = partOf(verdict, "times");
    if (times.is_object())
        for (const auto &[name, time] : times.items())
            if (const double seconds = numberOf(time, "seconds"); seconds > 0)
                lines += Words::tr("%1: %2 (95 % interval %3 to %4)")
                             .arg(timeName(QString::fromStdString(name)), timeText(seconds),
                                  timeText(numberOf(time, "low", seconds)),
                                  timeText(numberOf(time, "high", seconds)));
    if (const double part = numberOf(verdict, "fraction_of_limit"); part > 0)
        lines += Words::tr("%1 % of what %2 allows")
                     .arg(QLocale().toString(part * 100, 'f', 0),
                          textOf(verdict, "limited_by") == QLatin1String("compute")
                              ? Words::tr("the arithmetic rate")
                              : Words::tr("the memory bandwidth"));
    lines += remarks(verdict);
    return lines.join(QLatin1Char('\n')) + QLatin1Char('\n');
}

} // namespace cuda_agent::widgets
