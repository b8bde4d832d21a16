// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/json.h"
#include "widgets/base/theme.h"
#include "widgets/code/code_editor.h"
#include "widgets/skills/skills_dialog.h"
#include "widgets/skills/skills_model.h"

#include <QAbstractItemModelTester>
#include <QLabel>
#include <QListWidget>
#include <QMessageBox>
#include <QPushButton>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTest>

using namespace cuda_agent;
using namespace cuda_agent::widgets;
namespace fs = std::filesystem;

/// The real built-in skills, and a folder of the user's own.
class SkillsTest : public QObject {
    Q_OBJECT
  private:
    std::unique_ptr<QTemporaryDir> config_;

    fs::path mine() const {
        return fs::path(config_->path().toStdString()) / "cuda-agent" / "skills";
    }
    static QString words(SkillsDialog &dialog, const char *name) {
        return dialog.findChild<QLabel *>(QLatin1String(name))->text();
    }
    static void press(SkillsDialog &dialog, const char *name) {
        auto *button = dialog.findChild<QPushButton *>(QLatin1String(name));
        QVERIFY2(button && button->isEnabled(), name);
        QTest::mouseClick(button, Qt::LeftButton);
    }
    static bool enabled(SkillsDialog &dialog, const char *name) {
        return dialog.findChild<QPushButton *>(QLatin1String(name))->isEnabled();
    }

  private slots:
    void initTestCase() { QStandardPaths::setTestModeEnabled(true); }
    void init() {
        config_ = std::make_unique<QTemporaryDir>();
        qputenv("XDG_CONFIG_HOME", config_->path().toUtf8());
    }

    void modelHoldsItsContract() {
        SkillsModel model;
        const QAbstractItemModelTester tester(
            &model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        auto library = SkillLibrary::load();
        QVERIFY2(library, library ? "" : library.error().message.c_str());
        QVERIFY(library->skills().size() >= 9);
        QVERIFY(library->create("of-mine"));
        model.setLibrary(*SkillLibrary::load());
        const int row = model.rowOf(mine() / "of-mine");
        QVERIFY(row >= 0);
        QCOMPARE(model.index(row, SkillsModel::FromColumn).data().toString(),
                 QStringLiteral("Yours"));
        QCOMPARE(model.index(row, SkillsModel::StateColumn).data().toString(),
                 QStringLiteral("In use"));
        QVERIFY(model.skill(-1) == nullptr && model.skill(1000) == nullptr);
    }

    void theTemplateIsASkill() {
        auto library = SkillLibrary::load();
        QVERIFY(library->create("fast-scans"));
        library = SkillLibrary::load();
        const auto found = std::ranges::find(library->skills(), "fast-scans", &skills::Skill::name);
        QVERIFY(found != library->skills().end());
        QVERIFY2(found->usable(), found->usable() ? "" : found->problems.front().c_str());
        QVERIFY(library->editable(*found));
        // Names that are none, and one that is there.
        for (const char *name : {"", "Big Letters", "../out", "a--b", "fast-scans"})
            QVERIFY2(!library->create(name), name);
        QVERIFY(!fs::exists(mine().parent_path() / "out"));
    }

    void aBuiltInOneIsReadAndCopied() {
        SkillsDialog dialog;
        dialog.setAttribute(Qt::WA_DeleteOnClose, false);
        dialog.show();
        QVERIFY(dialog.select("plan-candidates"));
        QVERIFY(dialog.editor() && dialog.editor()->isReadOnly());
        QVERIFY(dialog.editor()->text().contains(QStringLiteral("# Plan candidates")));
        QVERIFY(words(dialog, "skills.about").contains(QStringLiteral("plan.json")));
        QVERIFY(dialog.select("gemm-and-epilogues")); // one with files in folders
        auto *files = dialog.findChild<QListWidget *>();
        QCOMPARE(files->item(0)->text(), QStringLiteral("SKILL.md"));
        QVERIFY(files->count() > 3);
        files->setCurrentRow(files->count() - 1);
        QVERIFY(dialog.editor() && !dialog.editor()->text().isEmpty());
        press(dialog, "skills.copy");
        QVERIFY(fs::exists(mine() / "gemm-and-epilogues" / "SKILL.md"));
        QVERIFY(!dialog.editor()->isReadOnly());
        QVERIFY(!enabled(dialog, "skills.copy"));
        QVERIFY(words(dialog, "skills.about").contains(QStringLiteral("replaces the skill")));
        const auto library = SkillLibrary::load();
        QCOMPARE(library->skills().size(), dialog.model().library().skills().size());
    }

    void whatIsTypedIsKeptAndProblemsAreSaid() {
        SkillsDialog dialog;
        dialog.setAttribute(Qt::WA_DeleteOnClose, false);
        dialog.show();
        QVERIFY(dialog.createSkill(QStringLiteral("tried-out")));
        QVERIFY(!dialog.editor()->isReadOnly());
        dialog.editor()->setText(QStringLiteral("no front matter"));
        QVERIFY(dialog.unsaved());
        QVERIFY(dialog.select("convolution")); // looks elsewhere and comes back
        QVERIFY(dialog.select("tried-out"));
        QCOMPARE(dialog.editor()->text(), QStringLiteral("no front matter"));
        press(dialog, "skills.save");
        QVERIFY(!dialog.unsaved());
        QVERIFY2(words(dialog, "skills.problems").contains(QStringLiteral("front matter")),
                 qPrintable(words(dialog, "skills.problems")));
        // Mending it: the broken one can be read and edited, though no agent gets it.
        QVERIFY(!dialog.editor()->isReadOnly());
        dialog.editor()->setText(QString::fromStdString(skillTemplate("tried-out")));
        press(dialog, "skills.save");
        QVERIFY(words(dialog, "skills.problems").isEmpty());
        dialog.editor()->setText(QStringLiteral("gone again"));
        press(dialog, "skills.revert");
        QVERIFY(dialog.editor()->text().contains(QStringLiteral("name: tried-out")));
        QVERIFY(!dialog.createSkill(QStringLiteral("Tried Out")));
    }

    void closingAsksForWhatIsNotSaved() {
        auto *dialog = new SkillsDialog;
        const QPointer<SkillsDialog> alive = dialog;
        dialog->show();
        QVERIFY(dialog->createSkill(QStringLiteral("half-done")));
        const QString text =
            QString::fromStdString(skillTemplate("half-done")) + QStringLiteral("more\n");
        dialog->editor()->setText(text);
        dialog->close();
        auto *ask = dialog->findChild<QMessageBox *>();
        QTRY_VERIFY(ask && ask->isVisible());
        QVERIFY(dialog->isVisible());
        QTest::mouseClick(ask->button(QMessageBox::Save), Qt::LeftButton);
        QTRY_VERIFY(!alive);
        const auto saved = readTextFile(mine() / "half-done" / "SKILL.md");
        QVERIFY(saved && *saved == text.toStdString());
    }

    void linksLeadNowhere() {
        fs::create_directories(mine() / "linked");
        QVERIFY(writeFileAtomically(mine() / "linked" / "SKILL.md", skillTemplate("linked")));
        fs::create_symlink("/etc/passwd", mine() / "linked" / "notes.md");
        fs::create_directory_symlink("/etc", mine() / "linked" / "folder");
        fs::create_directory_symlink(mine() / "linked", mine() / "other");
        const auto library = SkillLibrary::load();
        for (const skills::Skill &skill : library->skills()) {
            if (skill.folder == mine() / "other")
                QVERIFY(!library->editable(skill));
            if (skill.folder != mine() / "linked")
                continue;
            QCOMPARE(skillFiles(skill), std::vector<std::string>{"SKILL.md"});
            QVERIFY(!readSkillFile(skill, "notes.md"));
            QVERIFY(!readSkillFile(skill, "../../secret"));
        }
    }

    void looks() {
        const QString pictures = qEnvironmentVariable("CUDA_AGENT_SCREENSHOTS");
        const auto library = SkillLibrary::load();
        QVERIFY(library->create("broken-one"));
        QVERIFY(writeFileAtomically(mine() / "broken-one" / "SKILL.md", "---\nname: other\n---\n"));
        for (const bool dark : {false, true}) {
            Theme::instance().setScheme(dark ? Theme::Scheme::dark : Theme::Scheme::light);
            SkillsDialog dialog;
            dialog.setAttribute(Qt::WA_DeleteOnClose, false);
            dialog.show();
            QVERIFY(QTest::qWaitForWindowExposed(&dialog));
            for (const char *name : {"memory-bound-kernels", "broken-one"}) {
                QVERIFY(dialog.select(name));
                QTest::qWait(50);
                if (!pictures.isEmpty())
                    dialog.grab().save(
                        pictures + QStringLiteral("/skills-%1-%2.png")
                                       .arg(QLatin1String(name), dark ? QStringLiteral("dark")
                                                                      : QStringLiteral("light")));
            }
        }
    }
};

QTEST_MAIN(SkillsTest)
#include "skills_test.moc"
