// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/tasks/task_source.h"

#include "core/base/json.h"
#include "widgets/base/text.h"

#include <QCoreApplication>
#include <QCryptographicHash>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QRegularExpression>
#include <QSet>

#include <algorithm>

namespace cuda_agent::widgets {
namespace {

constexpr qint64 longestSource = 2 << 20;
constexpr qint64 longestLine = 16 << 20;
constexpr qsizetype stretch = 250; ///< rows handed over at once
constexpr int mostFiles = 200'000;

struct Words {
    Q_DECLARE_TR_FUNCTIONS(cuda_agent::widgets::TaskSource)
};

/// Names behind torch. or nn. that compute nothing worth finding.
bool isPlumbing(const QString &name) {
    static const QSet<QString> names = [] {
        QSet<QString> set;
        for (const char *text : {"Module",
                                 "Parameter",
                                 "ParameterList",
                                 "ModuleList",
                                 "ModuleDict",
                                 "Sequential",
                                 "Tensor",
                                 "FloatTensor",
                                 "LongTensor",
                                 "Size",
                                 "Generator",
                                 "nn",
                                 "functional",
                                 "init",
                                 "rand",
                                 "randn",
                                 "randint",
                                 "randperm",
                                 "rand_like",
                                 "randn_like",
                                 "zeros",
                                 "ones",
                                 "zeros_like",
                                 "ones_like",
                                 "empty",
                                 "empty_like",
                                 "full",
                                 "full_like",
                                 "arange",
                                 "linspace",
                                 "eye",
                                 "tensor",
                                 "as_tensor",
                                 "from_numpy",
                                 "manual_seed",
                                 "seed",
                                 "device",
                                 "dtype",
                                 "cuda",
                                 "cpu",
                                 "float",
                                 "float16",
                                 "float32",
                                 "float64",
                                 "half",
                                 "double",
                                 "bfloat16",
                                 "int",
                                 "int8",
                                 "int16",
                                 "int32",
                                 "int64",
                                 "long",
                                 "short",
                                 "uint8",
                                 "bool",
                                 "complex64",
                                 "no_grad",
                                 "inference_mode",
                                 "set_grad_enabled",
                                 "compile",
                                 "jit",
                                 "fx",
                                 "utils",
                                 "autograd",
                                 "backends",
                                 "distributions",
                                 "is_available",
                                 "Identity",
                                 "set_default_dtype",
                                 "finfo",
                                 "iinfo",
                                 "is_tensor",
                                 "typing"})
            set.insert(QLatin1String(text));
        return set;
    }();
    return names.contains(name);
}

/// Skips a string literal that begins at `at`.
qsizetype endOfString(const QString &text, qsizetype at) {
    const QChar quote = text[at];
    const QString triple(3, quote);
    if (QStringView(text).mid(at, 3) == triple) {
        for (qsizetype i = at + 3; i < text.size(); ++i) {
            if (text[i] == u'\\')
                ++i;
            else if (QStringView(text).mid(i, 3) == triple)
                return i + 3;
        }
        return text.size();
    }
    for (qsizetype i = at + 1; i < text.size(); ++i) {
        if (text[i] == u'\\')
            ++i;
        else if (text[i] == quote || text[i] == u'\n')
            return i + 1;
    }
    return text.size();
}

bool isWord(QChar c) {
    return c.isLetterOrNumber() || c == u'_';
}

/// Calls `take` for each dotted name (a.b.c) in the code.
void forNames(const QString &source, const std::function<void(const QStringList &)> &take) {
    for (qsizetype i = 0; i < source.size();) {
        const QChar c = source[i];
        if (c == u'#') {
            const qsizetype end = source.indexOf(u'\n', i);
            i = end < 0 ? source.size() : end;
        } else if (c == u'"' || c == u'\'') {
            i = endOfString(source, i);
        } else if (isWord(c)) {
            const qsizetype begin = i;
            while (i < source.size() &&
                   (isWord(source[i]) ||
                    (source[i] == u'.' && i + 1 < source.size() && isWord(source[i + 1]))))
                ++i;
            const bool member = begin > 0 && source[begin - 1] == u'.';
            if (!member)
                take(source.mid(begin, i - begin).split(u'.'));
        } else {
            ++i;
        }
    }
}

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

void finish(TaskRow &row) {
    row.sortName = padded(row.name);
    QStringList all{row.name, row.group, row.problem};
    all += row.mentions;
    for (auto field = row.fields.cbegin(); field != row.fields.cend(); ++field)
        all << field.value().toString();
    row.searchText = all.join(u'\n').toCaseFolded();
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

/// One word, number or truth; lists and objects as their words.
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
    return QString::fromStdString(value.dump(-1, ' ', false, Json::error_handler_t::replace))
        .left(2000);
}

TaskRow rowOfLine(const QByteArray &line, qsizetype number, const QDir &base) {
    TaskRow row;
    row.line = number;
    const Json json = Json::parse(line.begin(), line.end(), nullptr, false);
    if (json.is_discarded() || !json.is_object()) {
        row.name = Words::tr("line %1").arg(number);
        row.problem = json.is_discarded() ? Words::tr("line %1 is not JSON").arg(number)
                                          : Words::tr("line %1 is not a JSON object").arg(number);
        return row;
    }
    const auto text = [&](const char *name) { return textOf(json, name); };
    for (const auto &[key, value] : json.items())
        if (key != "name" && key != "code" && key != "file" && key != "level" && !key.empty())
            row.fields[QString::fromStdString(key).left(80)] = fieldValue(value);
    if (const auto level = json.find("level"); level != json.end())
        row.group = fieldValue(*level).toString();
    row.name = text("name");
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

class Giver {
  public:
    explicit Giver(const std::function<void(QVector<TaskRow>)> &give) : give_(give) {}
    void add(TaskRow &&row) {
        finish(row);
        rows_.push_back(std::move(row));
        if (rows_.size() >= stretch)
            flush();
    }
    void flush() {
        if (!rows_.isEmpty())
            give_(std::exchange(rows_, {}));
    }

  private:
    const std::function<void(QVector<TaskRow>)> &give_;
    QVector<TaskRow> rows_;
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
            TaskRow row;
            row.file = info.absoluteFilePath();
            row.name = info.completeBaseName();
            const QString group = root.relativeFilePath(info.path());
            row.group = group == QLatin1String(".") ? QString() : group;
            examineFile(row);
            giver.add(std::move(row));
        }
        open.insert(open.end(), below.rbegin(), below.rend());
    }
    giver.flush();
    if (files == 0)
        return requestError("{} holds no .py file; choose a folder of tasks in KernelBench form",
                            path.toStdString());
    return {};
}

Result<void> readLines(const QString &path, const std::atomic<bool> &stop, Giver &giver) {
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly))
        return requestError("{} cannot be read: {}", path.toStdString(),
                            file.errorString().toStdString());
    const QDir base(QFileInfo(path).absolutePath());
    qsizetype number = 0;
    for (qint64 offset = 0; !file.atEnd() && !stop; offset = file.pos()) {
        QByteArray line = file.readLine(longestLine + 2);
        ++number;
        const bool tooLong = line.size() > longestLine;
        while (line.size() > longestLine && !line.endsWith('\n') && !file.atEnd() && !stop) {
            const QByteArray more = file.readLine(longestLine);
            if (more.endsWith('\n'))
                break;
        }
        if (line.isEmpty() && file.error() != QFile::NoError)
            return requestError("{} cannot be read: {}", path.toStdString(),
                                file.errorString().toStdString());
        if (number == 1 && line.trimmed().startsWith('['))
            return requestError("{} is one JSON list; a task set has one JSON object a line, with "
                                "\"name\" and \"code\" or \"file\"",
                                path.toStdString());
        if (line.trimmed().isEmpty())
            continue;
        TaskRow row;
        if (tooLong) {
            row.line = number;
            row.name = Words::tr("line %1").arg(number);
            row.problem = Words::tr("line %1 is longer than 16 MiB").arg(number);
        } else {
            row = rowOfLine(line, number, base);
            row.offset = offset;
            row.length = line.size();
        }
        giver.add(std::move(row));
    }
    giver.flush();
    if (number == 0)
        return requestError("{} is empty; a task set has one JSON object a line",
                            path.toStdString());
    return {};
}

} // namespace

QStringList operatorsMentioned(const QString &source) {
    QSet<QString> found;
    forNames(source, [&](const QStringList &parts) {
        if (parts.size() < 2)
            return;
        const QString &root = parts.front();
        if (root != QLatin1String("torch") && root != QLatin1String("nn") &&
            root != QLatin1String("F") && root != QLatin1String("functional"))
            return;
        // nn.init.x fills weights, torch.utils.x and the like are no operators.
        for (qsizetype i = 1; i + 1 < parts.size(); ++i)
            if (parts[i] != QLatin1String("nn") && parts[i] != QLatin1String("functional") &&
                parts[i] != QLatin1String("linalg") && parts[i] != QLatin1String("fft") &&
                parts[i] != QLatin1String("special"))
                return;
        if (!isPlumbing(parts.back()))
            found.insert(parts.back());
    });
    QStringList names(found.begin(), found.end());
    names.sort();
    return names;
}

QString whyNoTask(const QString &source) {
    static const QRegularExpression model(QStringLiteral(R"(^(class\s+Model\b|Model\s*=))"),
                                          QRegularExpression::MultilineOption);
    static const QRegularExpression inputs(
        QStringLiteral(R"(^(def\s+get_inputs\b|get_inputs\s*=))"),
        QRegularExpression::MultilineOption);
    static const QRegularExpression init(
        QStringLiteral(R"(^(def\s+get_init_inputs\b|get_init_inputs\s*=))"),
        QRegularExpression::MultilineOption);
    QStringList missing;
    if (!source.contains(model))
        missing << QStringLiteral("class Model");
    if (!source.contains(inputs))
        missing << QStringLiteral("get_inputs()");
    if (!source.contains(init))
        missing << QStringLiteral("get_init_inputs()");
    return missing.isEmpty()
               ? QString()
               : Words::tr("not a task: has no %1").arg(missing.join(QStringLiteral(", ")));
}

Result<void> readTaskSet(const QString &path, const std::atomic<bool> &stop,
                         const std::function<void(QVector<TaskRow>)> &give) {
    Giver giver(give);
    const QFileInfo info(path);
    if (!info.exists())
        return requestError("{} does not exist; open another task set", path.toStdString());
    if (info.isDir())
        return readFolder(path, stop, giver);
    if (info.suffix() != QLatin1String("py"))
        return readLines(path, stop, giver);
    TaskRow row;
    row.file = info.absoluteFilePath();
    row.name = info.completeBaseName();
    examineFile(row);
    giver.add(std::move(row));
    giver.flush();
    return {};
}

Result<QString> taskSource(const QString &path, const TaskRow &row) {
    QFile file(row.file.isEmpty() ? path : row.file);
    if (!file.open(QIODevice::ReadOnly))
        return requestError("{} cannot be read: {}", file.fileName().toStdString(),
                            file.errorString().toStdString());
    if (!row.file.isEmpty())
        return QString::fromUtf8(file.read(longestSource));
    if (row.offset < 0 || !file.seek(row.offset))
        return requestError("this task has no source to show");
    const QByteArray line = file.read(row.length);
    const Json json = Json::parse(line.begin(), line.end(), nullptr, false);
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

} // namespace cuda_agent::widgets
