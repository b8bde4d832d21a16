// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/bridge/session_runner.h"
#include "widgets/session/session_document.h"

#include <QMainWindow>

#include <functional>
#include <optional>

class QAction;
class QDockWidget;
class QFileSystemWatcher;

namespace cuda_agent::widgets {

class ApprovalBar;
class AttemptsModel;
class AttemptsPane;
class AttemptsRunner;
class BudgetStrip;
class BuildPane;
class CodePane;
class ListingPane;
struct LoadedAttempts;
class MessageBar;
class ProfilePane;
class ProgressPane;
class RooflinePane;
class TimelineBar;
class TracePane;
class VerdictPane;

/// What the toolbar offers for a session that has not begun.
struct Choices {
    QString device = QStringLiteral("auto");
    QString policy = QStringLiteral("planner");
    QString numerics = QStringLiteral("default");
    QString rules = QStringLiteral("published"); ///< of module candidates
    bool maxAutotune = false;
    int attempts = 1; ///< more than one: they run beside each other, the best is taken
    int atOnce = 0;   ///< of the attempts; 0: as many as fit
    agent::Budget budget{20, 0, 0, 0};    ///< zero: no limit of that kind
    QString recorded;                     ///< session folder that the replay policy follows
    agent::TransformerConfig transformer; ///< what is absent is as usual; never has a process
};

/// One session in a tab: its document, its runner and the panes that look at it, as docks. Or
/// several attempts at a task, each a session of its own: the panes look at one of them.
class SessionView : public QMainWindow {
    Q_OBJECT
  public:
    enum class Perspective { optimize, replay };

    explicit SessionView(QWidget *parent = nullptr);
    ~SessionView() override;

    /// A new session on a task; it begins with `run` or `step`.
    void openTask(const task::Spec &spec);
    /// Reads a session folder on another thread; `loaded` or a message follows. A folder that
    /// another program is writing to is followed.
    void openFolder(const std::filesystem::path &folder);
    /// Reads a folder of attempts, as `openFolder`; shows the best, or the first.
    void openAttempts(const std::filesystem::path &folder);
    /// True while a folder is being read.
    bool loading() const { return loading_; }

    SessionDocument &document() { return *document_; }
    SessionRunner &runner() { return *runner_; }
    AttemptsRunner &attemptsRunner() { return *attemptsRunner_; }
    AttemptsModel &attempts() { return *attempts_; }
    AttemptsPane &attemptsPane() { return *attemptsPane_; }
    /// The attempt that the panes show; 0 in a session of its own.
    int shownAttempt() const { return shownAttempt_; }
    void showAttempt(int attempt);
    /// The folder of the session, or that of all attempts.
    const std::filesystem::path &wholeFolder() const;
    MessageBar &messages() { return *messages_; }
    TimelineBar &timeline() { return *timeline_; }
    CodePane &code() { return *code_; }
    TracePane &trace() { return *trace_; }
    BudgetStrip &budget() { return *budget_; }
    ApprovalBar &approval() { return *approval_; }
    QString title() const;
    /// In words, for the status bar.
    QString status() const;

    const Choices &choices() const { return choices_; }
    /// Only before the session has begun.
    void setChoices(const Choices &choices);
    /// The session that the replay policy follows; at any time, for the next start.
    void setRecorded(const QString &folder);
    /// The weights of the trained model, likewise; empty: the default.
    void setWeights(const std::filesystem::path &folder);
    bool begun() const { return begun_; }

    /// The engine is at work here.
    bool busy() const;
    bool canRun() const;
    bool canStep() const;
    bool canPause() const;
    bool canStop() const { return busy(); }
    bool canCheck() const;
    void run();
    void pause();
    void step();
    void stop();
    /// Compiles, verifies and times the files as the engineer left them.
    void check(bool full);
    ProfilePane &profilePane() { return *profile_; }
    ListingPane &listingPane() { return *listing_; }
    /// Profiles the candidate of the shown turn, the newest one with the engineer's edits: a turn
    /// of the engineer's in the log. Nothing while `profilingProblem` says why not.
    void profile();
    QString profilingProblem() const;

    void setPerspective(Perspective perspective);
    void restoreDefaultLayout();
    void saveLayout();
    QList<QDockWidget *> docks() const;
    QList<QAction *> paneActions() const;

  signals:
    /// What actions, titles or the status bar show may be another.
    void changed();
    void progress(const QString &what);
    void loaded();
    /// The endpoint cannot be asked as it is set; `problem` says why.
    void endpointSettingsWanted(const QString &problem);
    /// The replay policy follows no session yet.
    void recordedWanted();
    /// The trained model has no weights that can be used; `problem` says why.
    void weightsWanted(const QString &problem);
    /// The engineer wants to try the device in quarantine that work could not begin on.
    void quarantineMet(const QString &device);
    /// Run was asked for in a session that has ended: its task wants a session of its own.
    void newSessionWanted(const task::Spec &spec, const Choices &choices, bool onlyStep);

  protected:
    void showEvent(QShowEvent *event) override;

  private:
    QDockWidget *addPane(const char *name, const QString &title, QWidget *pane,
                         Qt::DockWidgetArea area);
    void chooseLayout();
    void defaultLayout();
    void start(SessionRunner::First first);
    void begin(bool onlyStep);
    bool isComplete() const;
    bool isSeveral() const;
    void wantNewSession(bool onlyStep);
    void takeChoices(const Json &start);
    void makeAttemptsParts();
    void beginAttempts();
    void setAttempts(LoadedAttempts loaded);
    void showAttemptsDock();
    void rereadAttempts();
    QString attemptsStatus() const;
    QString attemptsProblem() const;
    void whenReady(const std::function<void()> &then);
    void whenWeightsFound(const std::function<void()> &then);
    void checkNow(bool full);
    void makeProfileParts();
    void makeListingParts();
    std::map<std::string, std::string> shownFiles() const;
    void showProfiling();
    void profileNow(int turn);
    Result<void> filesOfOlder(int turn, std::map<std::string, std::string> &before,
                              std::map<std::string, std::string> &after) const;
    void makeAgentParts();
    void sayFailure(const QString &text);
    void allowAll(const std::string &tool);
    void tellAgent(const QString &message);
    void showReader();
    Result<agent::RunRequest> request() const;
    void update();
    void takeEvents(const std::vector<session::Event> &events);
    void watchFolder();
    void readGrowth();
    QString layoutKey() const;

    SessionDocument *document_ = nullptr;
    SessionRunner *runner_ = nullptr;
    AttemptsRunner *attemptsRunner_ = nullptr;
    AttemptsModel *attempts_ = nullptr; ///< empty in a session of its own
    AttemptsPane *attemptsPane_ = nullptr;
    std::filesystem::path attemptsFolder_; ///< of all; empty in a session of its own
    int shownAttempt_ = 0;
    MessageBar *messages_ = nullptr;
    ApprovalBar *approval_ = nullptr;
    BudgetStrip *budget_ = nullptr;
    TimelineBar *timeline_ = nullptr;
    CodePane *code_ = nullptr;
    TracePane *trace_ = nullptr;
    BuildPane *build_ = nullptr;
    VerdictPane *verdict_ = nullptr;
    ProgressPane *progress_ = nullptr;
    RooflinePane *roofline_ = nullptr;
    ProfilePane *profile_ = nullptr;
    ListingPane *listing_ = nullptr;
    QFileSystemWatcher *watcher_ = nullptr;
    QTimer *growth_ = nullptr;
    std::optional<task::Spec> spec_;
    Choices choices_;
    QAction *tryDevice_ = nullptr; ///< its data names the device
    Perspective perspective_ = Perspective::optimize;
    QString busyWith_;
    std::map<std::string, std::string> checking_; ///< edits that a check under way took along
    bool profiling_ = false;                      ///< that check is a profile
    /// Files as they were before the profile of an older turn that was stopped: written with what
    /// the engine does next.
    std::map<std::string, std::string> putBack_;
    bool begun_ = false;
    bool loading_ = false;
    bool reading_ = false;
    bool gettingReady_ = false;                      ///< the key of the endpoint is looked for
    std::optional<policy::EndpointConfig> endpoint_; ///< for the next start
    bool layoutChosen_ = false;
};

} // namespace cuda_agent::widgets
