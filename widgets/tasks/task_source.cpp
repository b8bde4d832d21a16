// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/tasks/task_source.h"

#include "core/base/json.h"
#include "widgets/base/text.h"
#include "widgets/tasks/line_reader.h"

#include <QCoreApplication>
#include <QCryptographicHash>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QRegularExpression>

#include <algorithm>

namespace cuda_agent::widgets {
namespace {

constexpr qint64 longestSource = 2 << 20;
constexpr qsizetype stretch = 250;      ///< rows handed over at once
constexpr qint64 stretchText = 1 << 20; ///< or lines of a compressed set, by their bytes
constexpr int mostFiles = 200'000;
constexpr int mostLines = 1'000'000;
constexpr int quickly = 1; ///< of zlib's levels

struct Words {
    Q_DECLARE_TR_FUNCTIONS(cuda_agent::widgets::TaskSource)
};

class Giver {
  public:
    explicit Giver(const std::function<void(QVector<TaskRow>)> &give) : give_(give) {}
    void add(TaskRow &&row) {
        finishRow(row);
        rows_.push_back(std::move(row));
        if (rows_.size() >= stretch || text_.size() >= stretchText)
            flush();
    }
    /// The line is kept with the row, compressed.
    void add(TaskRow &&row, const QByteArray &line) {
        row.offset = text_.size();
        row.length = line.size();
        text_ += line;
        add(std::move(row));
    }
    void flush() {
        if (!text_.isEmpty()) {
            const auto packed = std::make_shared<const QByteArray>(qCompress(text_, quickly));
            for (TaskRow &row : rows_)
                row.packed = packed;
            text_.clear();
        }
        if (!rows_.isEmpty())
            give_(std::exchange(rows_, {}));
    }

  private:
    const std::function<void(QVector<TaskRow>)> &give_;
    QVector<TaskRow> rows_;
    QByteArray text_;
};

Result<void> readFolder(const QString &path, const std::atomic<bool> &stop, Giver &giver) {
    const QDir root(path);
    if (!root.isReadable())
        return requestError("the folder {} cannot be read; choose another one", path.toStdString());
    int files = 0;
    std::vector<QString> open{path};
    while (!open.empty()) {
        const QDir dir(open.back());
        open.pop_back();
        QStringList below;
        for (const QFileInfo &info :
             dir.entryInfoList(QDir::Files | QDir::Dirs | QDir::NoDotAndDotDot, QDir::Name)) {
            if (stop)
                return {};
            if (info.isDir()) {
                if (!info.isSymLink() && info.fileName() != QLatin1String("__pycache__"))
                    below << info.filePath();
                continue;
            }
            if (info.suffix() != QLatin1String("py"))
                continue;
            if (++files > mostFiles)
                return requestError("{} holds more than {} Python files; open a folder below it",
                                    path.toStdString(), mostFiles);
            const QString group = root.relativeFilePath(info.path());
            giver.add(rowOfFile(info.absoluteFilePath(),
                                group == QLatin1String(".") ? QString() : group));
        }
        open.insert(open.end(), below.rbegin(), below.rend());
    }
    giver.flush();
    if (files == 0)
        return requestError("{} holds no .py file; choose a folder of tasks in KernelBench form",
                            path.toStdString());
    return {};
}

/// The last word on each candidate, from the file beside it; lines that cannot be read are passed
/// over (the last one may be half written).
QHash<qint64, CandidateOutcome> outcomesBeside(const QString &candidates,
                                               const std::atomic<bool> &stop) {
    QHash<qint64, CandidateOutcome> outcomes;
    LineReader reader(QFileInfo(candidates).dir().filePath(QStringLiteral("checked.jsonl")));
    if (!reader.open())
        return outcomes;
    while (reader.next(stop)) {
        const Json json = parseLine(reader.line());
        const double index = numberOf(json, "index", -1);
        if (!(index >= 0 && index < 1e15))
            continue;
        CandidateOutcome &known = outcomes[static_cast<qint64>(index)];
        known.stage = textOf(json, "stage");
        known.outcome = textOf(json, "outcome");
        known.reason = textOf(json, "reason");
        known.detail = textOf(json, "detail").left(2000);
        for (const auto &[key, value] : json.items())
            if (value.is_number() && key != "index") {
                // Times of a call are those of what the stage ran.
                const bool compiled = key == "seconds" && known.stage == QLatin1String("compile");
                known.figures[compiled ? QStringLiteral("compile_seconds")
                                       : QString::fromStdString(key).left(80)] = fieldValue(value);
            }
    }
    return outcomes;
}

Result<void> readLines(const QString &path, const std::atomic<bool> &stop, Giver &giver) {
    LineReader reader(path);
    CUDA_AGENT_TRY(reader.open());
    const QFileInfo info(path);
    const QDir base(info.absolutePath());
    const bool candidates = info.fileName() == QLatin1String("candidates.jsonl");
    const auto outcomes =
        candidates ? outcomesBeside(path, stop) : QHash<qint64, CandidateOutcome>();
    while (reader.next(stop)) {
        const QByteArray &line = reader.line();
        const qsizetype number = reader.number();
        if (number == 1 && line.trimmed().startsWith('['))
            return requestError("{} is one JSON list; a task set has one JSON object a line, with "
                                "\"name\" and \"code\" or \"file\"",
                                path.toStdString());
        if (number > mostLines) {
            giver.flush();
            return requestError("{} holds more than {} lines; only its beginning is shown",
                                path.toStdString(), mostLines);
        }
        if (line.trimmed().isEmpty())
            continue;
        if (candidates && !line.endsWith('\n'))
            break; // being written
        if (reader.tooLong()) {
            giver.add(unusableLine(number, Words::tr("line %1 is longer than 16 MiB").arg(number)));
            continue;
        }
        TaskRow row = rowOfLine(line, number, base, candidates ? &outcomes : nullptr);
        if (reader.packed()) {
            giver.add(std::move(row), line);
        } else {
            row.offset = reader.offset();
            row.length = line.size();
            giver.add(std::move(row));
        }
    }
    giver.flush();
    CUDA_AGENT_TRY(reader.fault());
    if (reader.number() == 0 && !stop)
        return requestError("{} is empty; a task set has one JSON object a line",
                            path.toStdString());
    return {};
}

/// Parquet is for other trainers; the same tasks lie beside it as JSON lines.
Result<void> refuseParquet(const QFileInfo &info) {
    const QString beside =
        info.dir().filePath(info.completeBaseName() + QStringLiteral(".jsonl.gz"));
    if (QFileInfo::exists(beside))
        return requestError("{} is a Parquet file, which other programs read; open {} beside it, "
                            "which holds the same tasks",
                            info.filePath().toStdString(), beside.toStdString());
    return requestError("{} is a Parquet file, which other programs read; open the .jsonl.gz file "
                        "of the same set",
                        info.filePath().toStdString());
}

} // namespace

Result<void> readTaskSet(const QString &path, const std::atomic<bool> &stop,
                         const std::function<void(QVector<TaskRow>)> &give) {
    Giver giver(give);
    const QFileInfo info(path);
    if (!info.exists())
        return requestError("{} does not exist; open another task set", path.toStdString());
    if (info.isDir())
        return readFolder(path, stop, giver);
    if (info.suffix().compare(QLatin1String("parquet"), Qt::CaseInsensitive) == 0)
        return refuseParquet(info);
    if (info.suffix() != QLatin1String("py"))
        return readLines(path, stop, giver);
    giver.add(rowOfFile(info.absoluteFilePath(), {}));
    giver.flush();
    return {};
}

Result<QString> taskSource(const QString &path, const TaskRow &row) {
    if (!row.file.isEmpty()) {
        QFile file(row.file);
        if (!file.open(QIODevice::ReadOnly))
            return requestError("{} cannot be read: {}", row.file.toStdString(),
                                file.errorString().toStdString());
        return QString::fromUtf8(file.read(longestSource));
    }
    QByteArray line;
    if (row.packed) {
        line = qUncompress(*row.packed).mid(row.offset, row.length);
    } else {
        QFile file(path);
        if (!file.open(QIODevice::ReadOnly))
            return requestError("{} cannot be read: {}", path.toStdString(),
                                file.errorString().toStdString());
        if (row.offset < 0 || !file.seek(row.offset))
            return requestError("this task has no source to show");
        line = file.read(row.length);
    }
    const Json json = parseLine(line);
    if (json.is_discarded() || !json.is_object())
        return row.problem.isEmpty() ? Result<QString>(requestError("{} has changed; press Reload",
                                                                    path.toStdString()))
                                     : Result<QString>(QString::fromUtf8(line.left(longestSource)));
    if (textOf(json, "name") != row.name && !textOf(json, "name").isEmpty())
        return requestError("{} has changed; press Reload", path.toStdString());
    return json.contains("code") ? textOf(json, "code")
                                 : QString::fromUtf8(line.left(longestSource));
}

Result<QString> taskFile(const QString &path, const TaskRow &row, const QString &folder) {
    if (!row.problem.isEmpty())
        return requestError("{} cannot be opened as a session: {}", row.name.toStdString(),
                            row.problem.toStdString());
    if (!row.file.isEmpty())
        return row.file;
    CUDA_AGENT_ASSIGN(source, taskSource(path, row));
    const QByteArray bytes = source.toUtf8();
    static const QRegularExpression strange(QStringLiteral("[^A-Za-z0-9_-]+"));
    const QString name = QString(row.name).replace(strange, QStringLiteral("_")).left(80);
    const QByteArray hash =
        QCryptographicHash::hash(bytes, QCryptographicHash::Sha256).toHex().left(12);
    const QDir dir(folder + u'/' + QLatin1String(hash));
    if (!dir.mkpath(QStringLiteral(".")))
        return machineError("the folder {} cannot be made; check its rights",
                            dir.path().toStdString());
    const QString file = dir.absoluteFilePath((name.isEmpty() ? QStringLiteral("task") : name) +
                                              QLatin1String(".py"));
    CUDA_AGENT_TRY(writeFileAtomically(file.toStdString(), bytes.toStdString()));
    return file;
}

bool looksLikeTaskSet(const QString &path) {
    const QFileInfo info(path);
    QString name = info.fileName().toLower();
    if (name.endsWith(QLatin1String(".gz")))
        name.chop(3);
    const QString suffix = QFileInfo(name).suffix();
    return info.isDir() || suffix == QLatin1String("jsonl") || suffix == QLatin1String("ndjson") ||
           suffix == QLatin1String("json") || suffix == QLatin1String("parquet");
}

} // namespace cuda_agent::widgets
