// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/workbench/screenshot.h"
#include "widgets/base/theme.h"
#include "widgets/runs/train_page.h"
#include "widgets/shell/main_window.h"
#include "widgets/shell/session_view.h"

#include <QApplication>
#include <QCommandLineParser>
#include <QLibraryInfo>
#include <QLocale>
#include <QSocketNotifier>
#include <QStandardPaths>
#include <QTranslator>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <string>
#include <sys/socket.h>
#include <tuple>
#include <unistd.h>
#include <vector>

namespace cuda_agent::app {

namespace {

using widgets::MainWindow;
using widgets::Theme;

int signalSockets[2];

/// Ctrl-C and a log-out close the window as its close button does: jobs end, logs stay whole.
void closeOnSignals(MainWindow &window) {
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, signalSockets) != 0)
        return;
    auto *notifier = new QSocketNotifier(signalSockets[1], QSocketNotifier::Read, &window);
    QObject::connect(notifier, &QSocketNotifier::activated, &window, [&window, notifier] {
        notifier->setEnabled(false);
        window.close();
    });
    for (const int number : {SIGINT, SIGTERM, SIGHUP})
        std::signal(number, [](int) {
            const char byte = 1;
            static_cast<void>(::write(signalSockets[0], &byte, 1) == 1);
        });
}

int refuse(const QString &text) {
    std::fprintf(stderr, "cuda-agent-workbench: %s\n", qPrintable(text));
    return 2;
}

/// Texts of QScintilla's menu, whose own translations know few languages: named here so that they
/// are among ours.
[[maybe_unused]] constexpr const char *editorTexts[] = {
    QT_TRANSLATE_NOOP("QsciScintilla", "&Undo"),     QT_TRANSLATE_NOOP("QsciScintilla", "&Redo"),
    QT_TRANSLATE_NOOP("QsciScintilla", "Cu&t"),      QT_TRANSLATE_NOOP("QsciScintilla", "&Copy"),
    QT_TRANSLATE_NOOP("QsciScintilla", "&Paste"),    QT_TRANSLATE_NOOP("QsciScintilla", "Delete"),
    QT_TRANSLATE_NOOP("QsciScintilla", "Select All")};

/// What stands later in the list goes before what stands earlier. English has a file for its
/// plural forms only.
void installTranslations(QApplication &application, const QString &language) {
    const QLocale locale = language.isEmpty() ? QLocale() : QLocale(language);
    QLocale::setDefault(locale);
    const QString ours = QStringLiteral("cuda-agent");
    const QString ourFolder = QStringLiteral(":/i18n");
    const QString qtFolder = QLibraryInfo::path(QLibraryInfo::TranslationsPath);
    for (const auto &[where, file, folder] :
         {std::tuple{QLocale(QLocale::English), ours, ourFolder},
          std::tuple{locale, QStringLiteral("qtbase"), qtFolder},
          std::tuple{locale, ours, ourFolder}}) {
        auto *translator = new QTranslator(&application);
        if (translator->load(where, file, QStringLiteral("_"), folder))
            application.installTranslator(translator);
        else
            delete translator;
    }
}

} // namespace

int workbench(int &argc, char **argv) {
    QApplication application(argc, argv);
    QApplication::setApplicationName(QStringLiteral("cuda-agent-workbench"));
    QApplication::setOrganizationName(QStringLiteral("cuda-agent-workbench"));
    QApplication::setApplicationVersion(QStringLiteral(CUDA_AGENT_VERSION));
    QApplication::setDesktopFileName(QStringLiteral("io.github.cuda_agent_workbench"));
    QApplication::setWindowIcon(QIcon(QStringLiteral(":/icons/cuda-agent-workbench.svg")));

    // The texts of the options want the language before the options are read.
    QCommandLineParser early;
    early.addOption(QCommandLineOption(QStringLiteral("language"), {}, QStringLiteral("NAME")));
    early.parse(QApplication::arguments());
    installTranslations(application, early.value(QStringLiteral("language")));

    QCommandLineParser parser;
    parser.addHelpOption();
    parser.addVersionOption();
    const QCommandLineOption session({QStringLiteral("session"), QStringLiteral("open-session")},
                                     QApplication::translate("main", "Open a session folder."),
                                     QStringLiteral("DIR"));
    const QCommandLineOption perspective(
        QStringLiteral("perspective"),
        QApplication::translate("main", "Begin in optimize, replay, data or train."),
        QStringLiteral("NAME"));
    const QCommandLineOption screenshot(
        QStringLiteral("screenshot"),
        QApplication::translate("main", "Render the view into a PNG file and leave."),
        QStringLiteral("FILE"));
    const QCommandLineOption size(
        QStringLiteral("size"),
        QApplication::translate("main", "Size of the window, such as 1280x800."),
        QStringLiteral("WxH"));
    const QCommandLineOption colours(QStringLiteral("colours"),
                                     QApplication::translate("main", "system, light or dark."),
                                     QStringLiteral("NAME"));
    const QCommandLineOption language(
        QStringLiteral("language"),
        QApplication::translate("main", "Language of the window, such as en or zh_CN."),
        QStringLiteral("NAME"));
    const QCommandLineOption turn(QStringLiteral("turn"),
                                  QApplication::translate("main", "Turn to show."),
                                  QStringLiteral("N"));
    const QCommandLineOption metrics(
        QStringLiteral("metrics"),
        QApplication::translate("main", "Add a run folder to the Train perspective."),
        QStringLiteral("DIR"));
    parser.addOptions({session, perspective, screenshot, size, colours, language, turn, metrics});
    parser.addPositionalArgument(QStringLiteral("FILE"),
                                 QApplication::translate("main", "Task files, session folders or "
                                                                 "folders of tasks to open."),
                                 QStringLiteral("[FILE...]"));
    parser.setApplicationDescription(
        QApplication::translate("main", "Finds faster CUDA kernels for PyTorch modules, and shows "
                                        "how."));
    if (!parser.parse(QApplication::arguments()))
        return refuse(parser.errorText() + QStringLiteral("; --help lists the options"));
    if (parser.isSet(QStringLiteral("help")))
        parser.showHelp(0);
    if (parser.isSet(QStringLiteral("version")))
        parser.showVersion();

    // A rendering for documents and tests neither reads nor changes what the user has set.
    const bool rendering = parser.isSet(screenshot);
    if (rendering)
        QStandardPaths::setTestModeEnabled(true);
    ScreenshotSettings isolated(rendering);
    auto first = MainWindow::Perspective::optimize;
    if (parser.isSet(perspective) &&
        !MainWindow::perspectiveFromName(parser.value(perspective), first))
        return refuse(QApplication::translate("main", "there is no perspective '%1'; use optimize, "
                                                      "replay, data or train")
                          .arg(parser.value(perspective)));
    const QString colour = parser.value(colours);
    if (colour == QLatin1String("light") || colour == QLatin1String("dark"))
        Theme::instance().setScheme(colour == QLatin1String("dark") ? Theme::Scheme::dark
                                                                    : Theme::Scheme::light);
    else if (!colour.isEmpty() && colour != QLatin1String("system"))
        return refuse(QApplication::translate("main", "--colours takes system, light or dark"));

    MainWindow window;
    closeOnSignals(window);
    if (parser.isSet(size)) {
        const QStringList parts = parser.value(size).split(QLatin1Char('x'));
        const int width = parts.value(0).toInt();
        const int height = parts.value(1).toInt();
        if (parts.size() != 2 || width < 320 || height < 240 || width > 16384 || height > 16384)
            return refuse(QApplication::translate("main", "--size takes WIDTHxHEIGHT, such as "
                                                          "1280x800"));
        window.resize(width, height);
    }
    window.setPerspective(first);
    for (const QString &path : parser.positionalArguments())
        window.open(path);
    if (parser.isSet(session) && !window.openSession(parser.value(session)))
        return refuse(QApplication::translate("main", "there is no session in %1")
                          .arg(parser.value(session)));
    for (const QString &folder : parser.values(metrics))
        window.train().addFolder(folder);
    window.setPerspective(first);
    window.show();
    if (rendering)
        return takeScreenshot(window, parser.value(screenshot), parser.value(turn).toInt());
    return QApplication::exec();
}

} // namespace cuda_agent::app

int main(int argc, char **argv) {
    // QApplication keeps --session for itself (X11 session management): ours goes by another name.
    std::vector<std::string> texts(argv, argv + argc);
    for (std::string &text : texts)
        if (text == "--session" || text.starts_with("--session="))
            text.insert(2, "open-");
    if (!qEnvironmentVariableIsSet("DISPLAY") && !qEnvironmentVariableIsSet("WAYLAND_DISPLAY") &&
        !qEnvironmentVariableIsSet("QT_QPA_PLATFORM")) {
        const bool windowless = std::any_of(texts.begin(), texts.end(), [](const auto &text) {
            return text.starts_with("--screenshot") || text == "--help" || text == "-h" ||
                   text == "--version" || text == "-v";
        });
        if (!windowless) {
            std::fprintf(stderr, "cuda-agent-workbench: there is no display; use 'cuda-agent "
                                 "optimize' here, or set DISPLAY\n");
            return 3;
        }
        qputenv("QT_QPA_PLATFORM", "offscreen");
    }
    std::vector<char *> arguments;
    for (std::string &text : texts)
        arguments.push_back(text.data());
    arguments.push_back(nullptr);
    return cuda_agent::app::workbench(argc, arguments.data());
}
