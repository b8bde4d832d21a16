// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/tasks/operator_scan.h"

#include <QCoreApplication>
#include <QRegularExpression>
#include <QSet>

#include <functional>

namespace cuda_agent::widgets {
namespace {

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

} // namespace cuda_agent::widgets
