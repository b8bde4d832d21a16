// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/tasks/task_row.h"

#include "widgets/base/text.h"
#include "widgets/tasks/operator_scan.h"

#include <QCoreApplication>
#include <QFile>
#include <QFileInfo>
#include <QSet>

#include <cmath>

namespace cuda_agent::widgets {
namespace {

constexpr qint64 longestSource = 2 << 20;
constexpr int deepest = 64;

struct Words {
    Q_DECLARE_TR_FUNCTIONS(cuda_agent::widgets::TaskSource)
};

QString padded(const QString &name) {
    QString result;
    for (qsizetype i = 0; i < name.size();) {
        qsizetype end = i;
        while (end < name.size() && name[end].isDigit())
            ++end;
        if (end > i) {
            result += name.mid(i, end - i).rightJustified(10, u'0');
            i = end;
        } else {
            result += name[i++].toCaseFolded();
        }
    }
    return result;
}

void examine(TaskRow &row, const QByteArray &bytes) {
    row.size = bytes.size();
    const QString source = QString::fromUtf8(bytes);
    if (source.contains(QChar::ReplacementCharacter) || bytes.contains('\0')) {
        row.problem = Words::tr("is not UTF-8 text");
        return;
    }
    row.mentions = operatorsMentioned(source);
    row.problem = whyNoTask(source);
}

void examineFile(TaskRow &row) {
    QFile file(row.file);
    const QFileInfo info(row.file);
    row.size = info.size();
    if (!info.exists())
        row.problem = Words::tr("the file does not exist");
    else if (!info.isFile())
        row.problem = Words::tr("is not a file");
    else if (info.size() > longestSource)
        row.problem = Words::tr("is longer than 2 MiB");
    else if (!file.open(QIODevice::ReadOnly))
        row.problem = Words::tr("cannot be read: %1").arg(file.errorString());
    else
        examine(row, file.read(longestSource + 1));
}

/// The names of a list; the published set writes its lists as text.
QStringList namesOf(const Json &object, const char *key) {
    const auto found = object.find(key);
    if (found == object.end())
        return {};
    const Json *list = &*found;
    Json parsed;
    if (list->is_string()) {
        const QString text = QString::fromStdString(list->get<std::string>()).trimmed();
        if (text.isEmpty())
            return {};
        if (!text.startsWith(u'['))
            return {text};
        parsed = parseLine(QString(text).replace(u'\'', u'"').toUtf8());
        list = &parsed;
    }
    QStringList names;
    if (list->is_array())
        for (const Json &each : *list)
            if (each.is_string() && names.size() < 1000)
                names << QString::fromStdString(each.get<std::string>()).left(200);
    return names;
}

void takeFacts(TaskRow &row, const Json &json) {
    row.split = textOf(json, "split");
    row.source = textOf(json, "data_source");
    if (row.source.isEmpty())
        row.source = textOf(json, "source");
    row.dtype = textOf(json, "dtype");
    row.ops = namesOf(json, "ops");
    row.families = namesOf(json, "families");
    row.families.removeDuplicates();
    if (!row.ops.isEmpty())
        row.fields[operatorCountField] = row.ops.size();
}

void takeOutcome(TaskRow &row, const Json &json, const QHash<qint64, CandidateOutcome> &outcomes) {
    if (const QString why = textOf(json, "rejected"); !why.isEmpty()) {
        row.outcome = QStringLiteral("rejected");
        row.reason = why;
        row.fields[QStringLiteral("stage")] = QStringLiteral("propose");
    } else {
        const double index = numberOf(json, "index", -1);
        const auto known = index >= 0 && index < 1e15
                               ? outcomes.constFind(static_cast<qint64>(index))
                               : outcomes.constEnd();
        if (known == outcomes.constEnd()) {
            row.outcome = Words::tr("waiting");
        } else {
            row.outcome = known->outcome;
            row.reason = known->reason;
            row.fields[QStringLiteral("stage")] = known->stage;
            if (!known->detail.isEmpty())
                row.fields[QStringLiteral("detail")] = known->detail;
            for (auto figure = known->figures.cbegin(); figure != known->figures.cend(); ++figure)
                if (!row.fields.contains(figure.key()))
                    row.fields[figure.key()] = figure.value();
        }
    }
    row.fields.remove(QStringLiteral("rejected"));
    row.fields[QStringLiteral("outcome")] = row.outcome;
    if (!row.reason.isEmpty())
        row.fields[QStringLiteral("reason")] = row.reason;
}

void takeTimes(TaskRow &row) {
    const auto time = [&](const QString &key) {
        const QVariant value = row.fields.value(key);
        const bool number =
            value.typeId() == QMetaType::Double || value.typeId() == QMetaType::LongLong;
        const double seconds = number ? value.toDouble() : 0;
        return std::isfinite(seconds) && seconds > 0 ? seconds : TaskRow::none;
    };
    row.seconds = time(QStringLiteral("seconds"));
    const double factor = row.seconds / time(QStringLiteral("compile_seconds"));
    if (std::isfinite(factor) && factor > 0) {
        row.speedUp = factor;
        row.fields[speedUpField] = factor;
    }
}

} // namespace

QVariant fieldValue(const Json &value) {
    if (value.is_boolean())
        return value.get<bool>() ? Words::tr("yes") : Words::tr("no");
    if (value.is_number_integer() &&
        !(value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX))
        return static_cast<qlonglong>(value.get<std::int64_t>());
    if (value.is_number())
        return value.get<double>();
    if (value.is_string())
        return QString::fromStdString(value.get<std::string>()).left(2000);
    if (value.is_array()) {
        QStringList parts;
        for (const Json &part : value) {
            if (parts.size() > 200)
                break;
            parts << (part.is_string() ? QString::fromStdString(part.get<std::string>())
                                       : QString::fromStdString(part.dump(
                                             -1, ' ', false, Json::error_handler_t::replace)));
        }
        return parts.join(QStringLiteral(", "));
    }
    if (value.is_null())
        return {};
    if (value.is_object()) { // "reward 1, turns 2"
        QStringList parts;
        for (const auto &[key, part] : value.items()) {
            if (parts.size() > 200)
                break;
            parts << QStringLiteral("%1 %2").arg(QString::fromStdString(key).left(80),
                                                 fieldValue(part).toString());
        }
        return parts.join(QStringLiteral(", ")).left(2000);
    }
    return QString::fromStdString(value.dump(-1, ' ', false, Json::error_handler_t::replace))
        .left(2000);
}

Json parseLine(QByteArrayView line) {
    int depth = 0;
    bool text = false;
    for (qsizetype i = 0; i < line.size(); ++i) {
        const char c = line[i];
        if (text) {
            if (c == '\\')
                ++i;
            else if (c == '"')
                text = false;
        } else if (c == '"') {
            text = true;
        } else if (c == '[' || c == '{') {
            if (++depth > deepest)
                return Json(Json::value_t::discarded);
        } else if (c == ']' || c == '}') {
            --depth;
        }
    }
    return Json::parse(line.begin(), line.end(), nullptr, false);
}

void finishRow(TaskRow &row) {
    row.sortName = padded(row.name);
    QStringList all{row.name, row.group, row.problem};
    all += row.mentions;
    for (auto field = row.fields.cbegin(); field != row.fields.cend(); ++field)
        all << field.value().toString();
    row.searchText = all.join(u'\n').toCaseFolded();
}

TaskRow rowOfFile(const QString &file, const QString &group) {
    TaskRow row;
    row.file = file;
    row.name = QFileInfo(file).completeBaseName();
    row.group = group;
    examineFile(row);
    return row;
}

TaskRow unusableLine(qsizetype number, const QString &problem) {
    TaskRow row;
    row.line = number;
    row.name = Words::tr("line %1").arg(number);
    row.problem = problem;
    return row;
}

TaskRow rowOfLine(const QByteArray &line, qsizetype number, const QDir &base,
                  const QHash<qint64, CandidateOutcome> *outcomes) {
    const Json json = parseLine(line);
    if (json.is_discarded())
        return unusableLine(number, Words::tr("line %1 is not JSON").arg(number));
    if (!json.is_object())
        return unusableLine(number, Words::tr("line %1 is not a JSON object").arg(number));
    TaskRow row;
    row.line = number;
    const auto text = [&](const char *name) { return textOf(json, name); };
    for (const auto &[key, value] : json.items())
        if (key != "name" && key != "code" && key != "file" && key != "level" && !key.empty())
            row.fields[QString::fromStdString(key).left(80)] = fieldValue(value);
    if (const auto level = json.find("level"); level != json.end())
        row.group = fieldValue(*level).toString();
    row.name = text("name");
    if (row.name.isEmpty())
        row.name = text("id"); // of a candidate
    takeFacts(row, json);
    if (outcomes)
        takeOutcome(row, json, *outcomes);
    takeTimes(row);
    const QString file = text("file"), code = text("code");
    if (!code.isEmpty()) {
        examine(row, code.toUtf8());
    } else if (file.isEmpty()) {
        row.problem = Words::tr("line %1 has neither \"code\" nor \"file\"").arg(number);
    } else if (!file.endsWith(QLatin1String(".py"))) {
        row.problem = Words::tr("line %1: \"file\" is not a .py file").arg(number);
    } else {
        row.file = QDir::cleanPath(base.absoluteFilePath(file));
        examineFile(row);
    }
    if (row.name.isEmpty())
        row.name = row.file.isEmpty() ? Words::tr("line %1").arg(number)
                                      : QFileInfo(row.file).completeBaseName();
    return row;
}

} // namespace cuda_agent::widgets
