// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/attempts/attempts_data.h"

#include "widgets/base/text.h"
#include "widgets/session/session_document.h"

#include "core/agent/best_of.h"
#include "core/base/untrusted_json.h"

#include <QCoreApplication>
#include <QFileInfo>

#include <algorithm>

namespace cuda_agent::widgets {

namespace fs = std::filesystem;

namespace {

struct Words {
    Q_DECLARE_TR_FUNCTIONS(Attempts)
};

constexpr std::size_t mostBytes = 16u << 20; ///< of attempts.json

bool isThere(const fs::path &path) {
    return QFileInfo::exists(QString::fromStdString(path.string()));
}

QString percent(double part) {
    return QStringLiteral("%1%2 %")
        .arg(QLatin1String(part > 0 ? "+" : ""))
        .arg(100 * part, 0, 'f', 2);
}

/// A number of attempts, whatever a file says.
int attemptsOf(const Json &object, const char *name) {
    return static_cast<int>(
        std::clamp(numberOf(object, name), 0.0, static_cast<double>(agent::mostAttempts)));
}

/// "790 µs, 2.31× eager, 2.18× torch.compile".
QString timesOf(const Json &verdict) {
    QStringList parts{timeText(numberOf(partOf(partOf(verdict, "times"), "candidate"), "seconds"))};
    const Json &speedup = partOf(verdict, "speedup");
    if (const double eager = numberOf(speedup, "eager"); eager > 0)
        parts += Words::tr("%1 eager").arg(timesText(eager));
    if (const double compile = numberOf(speedup, "compile"); compile > 0)
        parts += Words::tr("%1 torch.compile").arg(timesText(compile));
    return parts.join(QStringLiteral(", "));
}

/// How the two fastest stand to each other, timed in turns.
QString comparisonText(const Json &comparison) {
    if (!comparison.is_object())
        return {};
    const int a = attemptsOf(comparison, "a");
    const int b = attemptsOf(comparison, "b");
    const Json &difference = partOf(comparison, "difference");
    const double low = numberOf(difference, "low");
    const double high = numberOf(difference, "high");
    const QString range =
        QStringLiteral("%1 [%2 … %3]")
            .arg(percent(numberOf(difference, "relative")), percent(low), percent(high));
    return low > 0 || high < 0
               ? Words::tr("Timed in turns, attempt %1 against attempt %2: %3 time.")
                     .arg(a)
                     .arg(b)
                     .arg(range)
               : Words::tr(
                     "Timed in turns, attempts %1 and %2 differ by less than can be told: %3.")
                     .arg(a)
                     .arg(b)
                     .arg(range);
}

} // namespace

fs::path attemptFolder(const fs::path &folder, int attempt) {
    return folder / ("attempt-" + std::to_string(attempt));
}

bool holdsAttempts(const fs::path &folder) {
    return isThere(attemptFolder(folder, 1) / "session.jsonl") || isThere(folder / "attempts.json");
}

Result<LoadedAttempts> loadAttempts(const fs::path &folder) {
    LoadedAttempts loaded;
    if (isThere(folder / "attempts.json")) {
        CUDA_AGENT_ASSIGN(text, readTextFile(folder / "attempts.json", mostBytes));
        const Json outcome = parseUntrusted(text);
        if (!outcome.is_object())
            return requestError("{} is not the outcome of attempts: it holds no JSON object",
                                (folder / "attempts.json").string());
        loaded.outcome = outcome;
    }
    // Which of them there are: as the outcome or the logs say, those that wait included.
    int count = static_cast<int>(
        std::min<std::size_t>(partOf(loaded.outcome, "attempts").size(), agent::mostAttempts));
    for (int number = 1; number <= agent::mostAttempts; ++number) {
        AttemptLog attempt{attemptFolder(folder, number), {}};
        if (isThere(attempt.folder / "session.jsonl")) {
            CUDA_AGENT_ASSIGN(session, loadSession(attempt.folder));
            attempt.index = std::move(session.index);
            if (!session.problem.isEmpty() && loaded.problem.isEmpty())
                loaded.problem = session.problem;
            count = std::max(
                {count, number, attemptsOf(partOf(attempt.index.state().start, "attempt"), "of")});
        }
        if (number > count)
            break;
        loaded.attempts.push_back(std::move(attempt));
    }
    if (loaded.attempts.empty())
        return requestError("there are no attempts in {}", folder.string());
    return loaded;
}

QString outcomeText(const Json &outcome) {
    if (!outcome.is_object())
        return {};
    const int best = winnerOf(outcome);
    if (best == 0)
        return Words::tr("No attempt found a correct candidate.");
    QStringList lines{Words::tr("Attempt %1 is the best, judged once more in full: %2.")
                          .arg(best)
                          .arg(timesOf(partOf(outcome, "verdict")))};
    if (const QString compared = comparisonText(partOf(outcome, "comparison")); !compared.isEmpty())
        lines += compared;
    return lines.join(QLatin1Char('\n'));
}

int winnerOf(const Json &outcome) {
    return attemptsOf(outcome, "best_attempt");
}

} // namespace cuda_agent::widgets
