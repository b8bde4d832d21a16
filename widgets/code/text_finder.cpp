// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/code/text_finder.h"

#include <QCoreApplication>

namespace cuda_agent::widgets {

namespace {

QString expanded(const QString &replacement, const QRegularExpressionMatch &match) {
    QString result;
    for (qsizetype i = 0; i < replacement.size(); ++i) {
        if (replacement[i] != QLatin1Char('\\') || i + 1 == replacement.size()) {
            result += replacement[i];
            continue;
        }
        const QChar next = replacement[++i];
        if (next >= QLatin1Char('0') && next <= QLatin1Char('9'))
            result += match.captured(next.unicode() - u'0');
        else if (next == QLatin1Char('n'))
            result += QLatin1Char('\n');
        else if (next == QLatin1Char('t'))
            result += QLatin1Char('\t');
        else
            result += next;
    }
    return result;
}

} // namespace

Found findAll(const QString &text, const Pattern &pattern, const QString &replacement,
              std::size_t most) {
    Found found;
    if (pattern.text.isEmpty())
        return found;
    QString source = pattern.regex ? pattern.text : QRegularExpression::escape(pattern.text);
    if (pattern.wholeWord) // not \b: what is searched may begin or end with an operator
        source = QStringLiteral("(?<!\\w)(?:%1)(?!\\w)").arg(source);
    QRegularExpression::PatternOptions options = QRegularExpression::MultilineOption;
    if (!pattern.matchCase)
        options |= QRegularExpression::CaseInsensitiveOption;
    const QRegularExpression expression(source, options);
    if (!expression.isValid()) {
        found.problem = QCoreApplication::translate("CodeFindBar", "Not a regular expression: %1")
                            .arg(expression.errorString());
        return found;
    }
    qsizetype known = 0; // characters whose bytes are counted
    long bytes = 0;
    const auto bytesTo = [&](qsizetype at) {
        bytes += QStringView(text).mid(known, at - known).toUtf8().size();
        known = at;
        return bytes;
    };
    for (auto matches = expression.globalMatch(text); matches.hasNext();) {
        const QRegularExpressionMatch match = matches.next();
        if (match.capturedLength() == 0)
            continue;
        if (found.matches.size() == most)
            break;
        const long begin = bytesTo(match.capturedStart());
        const long end = bytesTo(match.capturedEnd());
        found.matches.push_back(
            {{begin, end}, pattern.regex ? expanded(replacement, match) : replacement});
    }
    return found;
}

} // namespace cuda_agent::widgets
