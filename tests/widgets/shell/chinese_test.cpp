// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/attempts/attempts_dialog.h"
#include "widgets/base/theme.h"
#include "widgets/budget/budget_dialog.h"
#include "widgets/endpoint/endpoint_dialog.h"
#include "widgets/quarantine/quarantine_dialog.h"
#include "widgets/quarantine/quarantine_watch.h"
#include "widgets/shell/command_palette.h"
#include "widgets/shell/main_window.h"
#include "widgets/skills/skills_dialog.h"
#include "widgets/tools/permissions_dialog.h"
#include "widgets/transformer/transformer_dialog.h"

#include <QAction>
#include <QApplication>
#include <QCheckBox>
#include <QComboBox>
#include <QLabel>
#include <QLibraryInfo>
#include <QPushButton>
#include <QRadioButton>
#include <QRegularExpression>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>
#include <QTranslator>

using namespace cuda_agent;
using namespace cuda_agent::widgets;

/// The dialogs and menus in Chinese: nothing is cut off, nothing is left in English. Pictures go to
/// CUDA_AGENT_SCREENSHOTS, where that is set.
class ChineseTest : public QObject {
    Q_OBJECT
  private:
    QTranslator translator_, qt_;
    QTemporaryDir cache_;

    static bool isLeft(QString text) {
        static const QRegularExpression chinese(QStringLiteral("[\\x{4e00}-\\x{9fff}]"));
        // Names that are the same in every language.
        static const QRegularExpression names(QStringLiteral(
            "(\\b(CUDA|GPU|CPU|TF32|API|URL|TOML|JSON|token|tokens|eager|torch|compile|"
            "max|autotune|KernelBench|Agent|Workbench|OK|Esc|SVG|PNG|PDF|CSV|Bash|Read|Write|Edit|"
            "Glob|Grep|"
            "Verify|"
            "Compile|Profile)\\b)|(https?://\\S+)|(\\S*[/_.\\-]\\S+)|(<[^>]*>)"));
        if (text.contains(chinese))
            return false;
        text.remove(names);
        static const QRegularExpression word(QStringLiteral("[A-Za-z]{3,}"));
        return text.contains(word);
    }

    /// What is wrong with the texts of a window, a line each.
    static QStringList problemsOf(QWidget &window) {
        QStringList problems;
        const auto look = [&](const QWidget *widget, const QString &text, QSize wanted) {
            if (!widget->isVisibleTo(&window) || text.isEmpty())
                return;
            if (isLeft(text))
                problems += QStringLiteral("in English: ") + text;
            if (wanted.width() > widget->width() + 1 || wanted.height() > widget->height() + 1)
                problems += QStringLiteral("cut off (%1x%2 of %3x%4): %5")
                                .arg(widget->width())
                                .arg(widget->height())
                                .arg(wanted.width())
                                .arg(wanted.height())
                                .arg(text);
        };
        for (const QLabel *label : window.findChildren<QLabel *>()) {
            if (label->objectName() == QLatin1String("skills.name") ||
                label->objectName() == QLatin1String("skills.about"))
                continue; // a skill's own words
            QSize wanted = label->minimumSizeHint();
            if (label->wordWrap())
                wanted = QSize(0, label->heightForWidth(label->width()));
            look(label, label->text(), wanted);
        }
        for (const QAbstractButton *button : window.findChildren<QAbstractButton *>())
            look(button, button->text(), QSize(button->minimumSizeHint().width(), 0));
        for (const QComboBox *box : window.findChildren<QComboBox *>()) {
            if (box->isEditable())
                continue;
            for (int i = 0; i < box->count(); ++i)
                look(box, box->itemText(i),
                     QSize(box->fontMetrics().horizontalAdvance(box->itemText(i)) + 24, 0));
        }
        if (isLeft(window.windowTitle()))
            problems += QStringLiteral("in English: ") + window.windowTitle();
        return problems;
    }

    static void picture(QWidget &window, const char *name, const char *colours) {
        const QString folder = qEnvironmentVariable("CUDA_AGENT_SCREENSHOTS");
        if (!folder.isEmpty())
            QVERIFY(
                window.grab().save(QStringLiteral("%1/zh-%2-%3.png")
                                       .arg(folder, QLatin1String(name), QLatin1String(colours))));
    }

  private slots:
    void initTestCase() {
        QStandardPaths::setTestModeEnabled(true);
        QSettings().clear();
        QLocale::setDefault(QLocale(QLocale::Chinese));
        const QString file = qEnvironmentVariable("CUDA_AGENT_BIN") +
                             QStringLiteral("/../app/workbench/cuda-agent_zh_CN.qm");
        QVERIFY2(translator_.load(file), qPrintable(file));
        if (qt_.load(QLocale(QStringLiteral("zh_CN")), QStringLiteral("qtbase"),
                     QStringLiteral("_"), QLibraryInfo::path(QLibraryInfo::TranslationsPath)))
            QApplication::installTranslator(&qt_); // its own buttons
        QVERIFY(QApplication::installTranslator(&translator_));
        // A device that was put away is shown in the window and in a dialog.
        qputenv("CUDA_AGENT_CACHE", cache_.path().toUtf8());
        QVERIFY(QDir(cache_.path()).mkpath(QStringLiteral("quarantine")));
        QFile put(cache_.filePath(QStringLiteral("quarantine/cuda9.json")));
        QVERIFY(put.open(QIODevice::WriteOnly));
        put.write(R"({"reason": "a kernel never ended", "time": 1800000000})");
    }

    void dialog_data() {
        QTest::addColumn<QString>("dialog");
        for (const char *name : {"attempts", "budget", "endpoint", "permissions", "quarantine",
                                 "skills", "transformer"})
            QTest::addRow("%s", name) << QString::fromLatin1(name);
    }

    void dialog() {
        QFETCH(QString, dialog);
        QuarantineWatch watch;
        std::unique_ptr<QWidget> window;
        if (dialog == QLatin1String("budget"))
            window = std::make_unique<BudgetDialog>(agent::Budget{200, 3600, 5'000'000, 12.5});
        else if (dialog == QLatin1String("endpoint"))
            window = std::make_unique<EndpointDialog>();
        else if (dialog == QLatin1String("permissions"))
            window = std::make_unique<PermissionsDialog>();
        else if (dialog == QLatin1String("attempts"))
            window = std::make_unique<AttemptsDialog>(3, 0, agent::TransformerConfig());
        else if (dialog == QLatin1String("transformer"))
            window = std::make_unique<TransformerDialog>(agent::TransformerConfig());
        else if (dialog == QLatin1String("quarantine"))
            window = std::make_unique<QuarantineDialog>(&watch);
        else
            window = std::make_unique<SkillsDialog>();
        for (const char *colours : {"light", "dark"}) {
            Theme::instance().setScheme(QLatin1String(colours) == QLatin1String("dark")
                                            ? Theme::Scheme::dark
                                            : Theme::Scheme::light);
            window->show();
            QVERIFY(QTest::qWaitForWindowExposed(window.get()));
            QTest::qWait(50);
            picture(*window, QTest::currentDataTag(), colours);
        }
        const QStringList problems = problemsOf(*window);
        QVERIFY2(problems.isEmpty(), qPrintable(problems.join(u'\n')));
    }

    void menus() {
        MainWindow window;
        window.resize(1280, 800);
        window.show();
        QVERIFY(QTest::qWaitForWindowExposed(&window));
        QStringList problems;
        for (const QAction *action : window.findChildren<QAction *>())
            if (action->isVisible() && !action->isSeparator())
                for (const QString &text : {action->text(), action->toolTip()})
                    if (isLeft(text))
                        problems += text;
        problems += problemsOf(window);
        problems.removeDuplicates();
        QVERIFY2(problems.isEmpty(), qPrintable(problems.join(u'\n')));
        CommandPalette palette(&window);
        palette.show();
        QVERIFY(QTest::qWaitForWindowExposed(&palette));
        picture(palette, "palette", "dark");
        problems = problemsOf(palette);
        QVERIFY2(problems.isEmpty(), qPrintable(problems.join(u'\n')));
    }
};

QTEST_MAIN(ChineseTest)
#include "chinese_test.moc"
