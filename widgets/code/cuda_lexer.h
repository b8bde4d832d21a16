// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <Qsci/qscilexercpp.h>

namespace cuda_agent::widgets {

/// C++ with the words of CUDA: qualifiers as keywords, built-in variables and vector types as
/// types, device functions as library names.
class CudaLexer : public QsciLexerCPP {
    Q_OBJECT
  public:
    explicit CudaLexer(QObject *parent = nullptr);
    const char *language() const override;
    const char *keywords(int set) const override;
};

/// The lexer for a file's name, coloured for the theme; null for plain text. The parent owns it.
QsciLexer *lexerFor(const QString &path, QObject *parent);
/// Colours and fonts of the theme as it is now.
void colorLexer(QsciLexer &lexer);

} // namespace cuda_agent::widgets
