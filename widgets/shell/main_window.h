// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QMainWindow>
#include <QPointer>

#include <functional>

class QActionGroup;
class QComboBox;
class QLabel;
class QMenu;
class QProgressBar;
class QSpinBox;
class QStackedWidget;
class QTabWidget;
class QToolButton;

namespace cuda_agent::widgets {

class CommandPalette;
class DataPage;
class MessageBar;
class QuarantineWatch;
class SessionView;
class SkillsDialog;
class TrainPage;
class WelcomePage;
struct Choices;

/// The desktop program's window: perspectives on the left, sessions in tabs, toolbar, menus, status
/// bar. Wires things together; what happens in a session is SessionView's.
class MainWindow : public QMainWindow {
    Q_OBJECT
  public:
    enum class Perspective { optimize, replay, data, train };

    explicit MainWindow(QWidget *parent = nullptr);
    ~MainWindow() override;

    void setPerspective(Perspective perspective);
    Perspective perspective() const { return perspective_; }
    /// "optimize", "replay", "data", "train".
    static const char *perspectiveName(Perspective perspective);
    static bool perspectiveFromName(const QString &name, Perspective &perspective);

    /// A task file, a session folder or a session.jsonl, by what it is. False with a message when
    /// it is neither.
    bool open(const QString &path);
    SessionView *openTask(const QString &file);
    SessionView *openSession(const QString &folder);
    QuarantineWatch &quarantine() { return *quarantine_; }
    TrainPage &train() { return *train_; }
    DataPage &data() { return *data_; }

    SessionView *current() const;
    int sessions() const;
    void closeSession(int index);
    /// Every action that the command palette offers now.
    QList<QAction *> commands() const;

  protected:
    void closeEvent(QCloseEvent *event) override;
    void dragEnterEvent(QDragEnterEvent *event) override;
    void dropEvent(QDropEvent *event) override;
    void changeEvent(QEvent *event) override;

  private:
    QAction *command(const char *name, const QString &text, const QKeySequence &shortcut,
                     const std::function<void()> &run);
    void makeActions();
    void makeMenus();
    void makeToolBar();
    void makeStatusBar();
    SessionView *addView();
    void updateActions();
    void takeChoices();
    void showChoices();
    void fillRecent(QMenu *menu, const QString &key, bool tasks);
    void fillSamples(QMenu *menu);
    static void remember(const QString &key, const QString &path);
    void refuse(const QString &text);
    void setPresentation(bool on);
    void changeFontSize(int by);
    void askTask();
    void askSession();
    void makeAgentActions();
    void makeRunOptions();
    void openAttempts();
    void openEndpointSettings();
    void openTransformer();
    void openPolicySettings();
    void openBudget();
    void openPermissions();
    void openSkills();
    void askRecorded(SessionView *view);
    void makeQuarantineParts();
    void showQuarantine();
    void openQuarantine(const QString &device);
    void policyChosen(Choices &choices);
    void showPolicySettings(const Choices &choices, bool open);
    static int turnsOf(const QString &policy);
    static void rememberChoices(const Choices &choices);
    static Choices rememberedChoices();

    Perspective perspective_ = Perspective::optimize;
    QStackedWidget *pages_ = nullptr;
    QTabWidget *tabs_ = nullptr;
    QStackedWidget *sessionsPage_ = nullptr;
    WelcomePage *welcome_ = nullptr;
    DataPage *data_ = nullptr;
    TrainPage *train_ = nullptr;
    CommandPalette *palette_ = nullptr;
    QActionGroup *perspectives_ = nullptr;
    QAction *run_ = nullptr, *pause_ = nullptr, *step_ = nullptr, *stop_ = nullptr;
    QAction *check_ = nullptr, *checkQuick_ = nullptr, *closeTab_ = nullptr;
    QAction *presentation_ = nullptr, *defaultLayout_ = nullptr;
    QAction *endpoint_ = nullptr, *transformer_ = nullptr, *policySettings_ = nullptr;
    QAction *budget_ = nullptr, *permissions_ = nullptr, *skills_ = nullptr;
    QAction *memory_ = nullptr, *quarantineAction_ = nullptr;
    QuarantineWatch *quarantine_;
    MessageBar *warning_ = nullptr;
    QToolButton *quarantineButton_ = nullptr;
    QPointer<SkillsDialog> skillsDialog_;
    QComboBox *device_ = nullptr, *policy_ = nullptr, *numerics_ = nullptr;
    QSpinBox *turns_ = nullptr, *attempts_ = nullptr;
    QMenu *options_ = nullptr;
    QAction *maxAutotune_ = nullptr, *attemptsAction_ = nullptr;
    QActionGroup *rules_ = nullptr;
    QToolButton *optionsButton_ = nullptr;
    QLabel *state_ = nullptr, *best_ = nullptr;
    QProgressBar *busy_ = nullptr;
    QToolButton *stopButton_ = nullptr;
    QMenu *panesMenu_ = nullptr;
    int sizeBeforePresentation_ = 0;
    bool showingChoices_ = false;
};

} // namespace cuda_agent::widgets
