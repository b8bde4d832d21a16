// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "tests/widgets/code/code_session.h"
#include "widgets/code/code_editor.h"
#include "widgets/code/code_pane.h"
#include "widgets/code/edit_store.h"

#include <QFile>
#include <QLabel>
#include <QTabBar>
#include <QTemporaryDir>
#include <QTest>

namespace cuda_agent::widgets::sample {

inline const std::string first = "__global__ void softmax(const float4 *x, float *y) {\n"
                                 "    __shared__ float part[32];\n"
                                 "    const int i = threadIdx.x; // größer\n"
                                 "    if (i < 32) {\n"
                                 "        part[i] = x[i].x;\n"
                                 "    }\n"
                                 "    __syncthreads();\n"
                                 "    atomicAdd(&y[0], part[i] * 2.0f);\n"
                                 "}\n";
inline const std::string second = "// second\n" + first;
inline const std::string plan = "{\"lanes\": [{\"width\": 4, \"name\": \"reduce0\"}]}\n";
inline const std::string taskText =
    "import torch\n\n\nclass Model(torch.nn.Module):\n"
    "    def forward(self, x):\n        return torch.softmax(x, -1)\n";
inline const char *const kernel = "kernels/softmax.cu";

/// A document over a session of two turns, and a pane on it.
struct Bench {
    QTemporaryDir dir;
    CodeSession session{dir.path().toStdString() + "/session"};
    SessionDocument document;
    std::unique_ptr<CodePane> pane;

    Bench() {
        session.task(taskText);
        session.turn(1, {{kernel, first}, {"plan.json", plan}});
        session.turn(2, {{kernel, second}});
        document.setFolder(session.folder());
        document.replace(session.index());
        session.fresh();
        open();
    }
    ~Bench() {
        pane.reset(); // it writes what was not saved
        QFile::remove(kept());
    }
    void open() {
        pane.reset();
        pane = std::make_unique<CodePane>(&document);
        pane->setEditable(true);
        pane->resize(700, 500);
        pane->show();
        QVERIFY(QTest::qWaitForWindowExposed(pane.get()));
    }
    void grow() { document.append(session.fresh()); }
    CodeEditor *editor() const { return pane->editor(); }
    QString text() const { return editor()->text(); }
    void choose(const char *tab) const {
        auto *tabs = pane->findChild<QTabBar *>(QStringLiteral("code.tabs"));
        for (int i = 0; i < tabs->count(); ++i) {
            if (tabs->tabText(i).startsWith(QLatin1String(tab))) {
                tabs->setCurrentIndex(i);
                return;
            }
        }
        QFAIL("no such tab");
    }
    QStringList tabs() const {
        QStringList result;
        auto *bar = pane->findChild<QTabBar *>(QStringLiteral("code.tabs"));
        for (int i = 0; i < bar->count(); ++i)
            result += bar->tabText(i);
        result.removeAll(QStringLiteral("Compare"));
        return result;
    }
    void type(const char *text) const {
        editor()->setFocus();
        QTest::keyClicks(editor(), QLatin1String(text));
    }
    template <typename T>
    T *part(const char *name) const {
        return pane->findChild<T *>(QLatin1String(name));
    }
    void trigger(const char *name) const { part<QAction>(name)->trigger(); }
    QString info() const { return part<QLabel>("code.info")->text(); }
    QString notice() const {
        auto *label = part<QLabel>("code.noticeText");
        return label->isVisible() ? label->text() : QString();
    }
    QString kept() const { return EditStore::fileOf(session.folder()); }
};

inline QString q(const std::string &text) {
    return QString::fromStdString(text);
}

} // namespace cuda_agent::widgets::sample
