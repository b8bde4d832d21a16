// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/widgets/chat_process.h"
#include "widgets/base/theme.h"
#include "widgets/endpoint/connection_test.h"
#include "widgets/endpoint/endpoint_dialog.h"

#include <QDialogButtonBox>
#include <QDirIterator>
#include <QDoubleSpinBox>
#include <QElapsedTimer>
#include <QLineEdit>
#include <QProgressBar>
#include <QPushButton>
#include <QSpinBox>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTest>

#include <condition_variable>
#include <mutex>

using namespace cuda_agent;
using namespace cuda_agent::widgets;

namespace {

constexpr const char *secret = "sk-secret-of-this-test";

/// A store in memory; it can be locked, and can take its time.
class MemoryStore : public SecretStore {
  public:
    std::map<std::string, std::string> keys;
    bool locked = false;
    std::mutex slow; ///< held by a test that wants an answer to be late

    Result<std::optional<std::string>> find(const std::string &baseUrl, std::stop_token) override {
        const std::lock_guard wait(slow);
        if (locked)
            return machineError("it is locked");
        const auto found = keys.find(baseUrl);
        return found == keys.end() ? std::nullopt : std::optional(found->second);
    }
    Result<void> keep(const std::string &baseUrl, const std::string &key,
                      std::stop_token) override {
        const std::lock_guard wait(slow);
        if (locked)
            return machineError("it is locked");
        keys[baseUrl] = key;
        return {};
    }
    Result<void> forget(const std::string &baseUrl, std::stop_token) override {
        const std::lock_guard wait(slow);
        keys.erase(baseUrl);
        return {};
    }
};

} // namespace

class EndpointTest : public QObject {
    Q_OBJECT
  private:
    QTemporaryDir folder_;
    std::shared_ptr<MemoryStore> store_;
    ChatProcess *server_ = nullptr;

    QString file() const { return folder_.filePath(QStringLiteral("config/endpoint.toml")); }
    QByteArray fileText() const {
        QFile opened(file());
        return opened.open(QIODevice::ReadOnly) ? opened.readAll() : QByteArray();
    }
    template <typename T>
    static T *field(EndpointDialog &dialog, const char *name) {
        T *found = dialog.findChild<T *>(QLatin1String(name));
        if (!found)
            qFatal("there is no %s", name);
        return found;
    }
    static QString result(EndpointDialog &dialog) {
        return field<QLabel>(dialog, "endpoint.result")->text();
    }
    void fill(EndpointDialog &dialog, const char *model, const char *key = "") {
        field<QLineEdit>(dialog, "endpoint.baseUrl")->setText(server_->url());
        field<QLineEdit>(dialog, "endpoint.model")->setText(QLatin1String(model));
        field<QLineEdit>(dialog, "endpoint.key")->setText(QLatin1String(key));
    }
    static void click(EndpointDialog &dialog, const char *name) {
        QTest::mouseClick(field<QPushButton>(dialog, name), Qt::LeftButton);
    }
    static void save(EndpointDialog &dialog) {
        auto *buttons = field<QDialogButtonBox>(dialog, "endpoint.buttons");
        QTest::mouseClick(buttons->button(QDialogButtonBox::Save), Qt::LeftButton);
    }
    static EndpointDialog *opened() {
        auto *dialog = new EndpointDialog;
        dialog->show();
        return dialog;
    }
    void testIt(EndpointDialog &dialog) {
        click(dialog, "endpoint.test");
        QVERIFY(dialog.test().busy());
        QTRY_VERIFY_WITH_TIMEOUT(!dialog.test().busy(), 20'000);
    }

  private slots:
    void initTestCase() {
        QStandardPaths::setTestModeEnabled(true);
        server_ = new ChatProcess;
        QVERIFY(server_->started());
        qputenv("CUDA_AGENT_ENDPOINT_CONFIG", file().toUtf8());
    }
    void cleanupTestCase() { delete server_; }
    void init() {
        QSettings().clear();
        QFile::remove(file());
        for (const char *name : {"CUDA_AGENT_API_KEY", "OPENAI_API_KEY"})
            qunsetenv(name);
        store_ = std::make_shared<MemoryStore>();
        EndpointSettings::instance().setStore(store_);
    }

    void aConnectionIsTested() {
        QPointer<EndpointDialog> dialog = opened();
        fill(*dialog, "ready");
        testIt(*dialog);
        for (const char *words : {"served-ready", "It calls tools", "It counts tokens", "piece"})
            QVERIFY2(result(*dialog).contains(QLatin1String(words)), qPrintable(result(*dialog)));
        fill(*dialog, "hello");
        testIt(*dialog);
        QVERIFY(result(*dialog).contains(QStringLiteral("does not call tools")));
        fill(*dialog, "locked", secret);
        testIt(*dialog);
        QVERIFY2(result(*dialog).contains(QStringLiteral("refuses the key")),
                 qPrintable(result(*dialog)));
        QVERIFY(!result(*dialog).contains(QLatin1String(secret)));
        fill(*dialog, "locked", "right-key");
        testIt(*dialog);
        QVERIFY(!result(*dialog).contains(QStringLiteral("refuses")));
        dialog->close();
        QTRY_VERIFY(!dialog);
    }

    void aSilentEndpointCanBeStoppedAndLeft() {
        QPointer<EndpointDialog> dialog = opened();
        fill(*dialog, "silent");
        click(*dialog, "endpoint.test");
        QTRY_VERIFY(field<QPushButton>(*dialog, "endpoint.stopTest")->isVisible());
        QVERIFY(field<QProgressBar>(*dialog, "endpoint.busy")->isVisible());
        QVERIFY(!field<QPushButton>(*dialog, "endpoint.test")->isEnabled());
        QElapsedTimer time;
        time.start();
        click(*dialog, "endpoint.stopTest");
        QTRY_VERIFY_WITH_TIMEOUT(!dialog->test().busy(), 3000);
        QVERIFY(result(*dialog).contains(QStringLiteral("stopped")));
        QVERIFY(!field<QPushButton>(*dialog, "endpoint.stopTest")->isVisible());
        // Closing in the middle of one: nothing waits, and no late answer finds a dead dialog.
        click(*dialog, "endpoint.test");
        QTest::qWait(200);
        time.restart();
        dialog->reject();
        QTRY_VERIFY(!dialog);
        QVERIFY(time.elapsed() < 2000);
        QTest::qWait(500);
    }

    void whatIsMissingIsSaid() {
        QPointer<EndpointDialog> dialog = opened();
        click(*dialog, "endpoint.test");
        QVERIFY(result(*dialog).contains(QStringLiteral("no endpoint is set")));
        field<QLineEdit>(*dialog, "endpoint.baseUrl")
            ->setText(QStringLiteral("http://example.org"));
        field<QLineEdit>(*dialog, "endpoint.model")->setText(QStringLiteral("m"));
        field<QLineEdit>(*dialog, "endpoint.key")->setText(QStringLiteral("k"));
        save(*dialog);
        QVERIFY(dialog->isVisible());
        QVERIFY(result(*dialog).contains(QStringLiteral("unencrypted")));
        QVERIFY(!QFileInfo::exists(file()));
        delete dialog;
    }

    void savesEverythingButTheKey() {
        QPointer<EndpointDialog> dialog = opened();
        fill(*dialog, "ready", secret);
        field<QSpinBox>(*dialog, "endpoint.contextTokens")->setValue(64'000);
        field<QSpinBox>(*dialog, "endpoint.answerTokens")->setValue(4096);
        field<QDoubleSpinBox>(*dialog, "endpoint.temperature")->setValue(0.7);
        field<QDoubleSpinBox>(*dialog, "endpoint.promptPrice")->setValue(1.5);
        save(*dialog);
        QTRY_VERIFY(!dialog);
        QTRY_COMPARE(store_->keys[server_->url().toStdString()], std::string(secret));
        QVERIFY(fileText().contains("64000"));
        QVERIFY(!fileText().contains(secret));
        for (const QString &key : QSettings().allKeys())
            QVERIFY(!QSettings().value(key).toString().contains(QLatin1String(secret)));
        const auto config = EndpointSettings::instance().known();
        QVERIFY(config);
        QCOMPARE(config->key, std::string(secret));
        QCOMPARE(config->contextTokens, 64'000);
        QCOMPARE(*config->temperature, 0.7);
        // Another program's run finds it in the store.
        EndpointSettings::instance().setStore(store_);
        QVERIFY(EndpointSettings::instance().known()->key.empty());
        std::string found;
        EndpointSettings::instance().resolve(this, [&](const auto &answer) {
            if (answer)
                found = answer->key;
        });
        QTRY_COMPARE(found, std::string(secret));
        dialog = opened();
        QTRY_VERIFY(field<QLabel>(*dialog, "endpoint.keyPlace")
                        ->text()
                        .contains(QStringLiteral("secret store")));
        QCOMPARE(field<QLineEdit>(*dialog, "endpoint.key")->text(), QString());
        QCOMPARE(dialog->config().key, std::string(secret));
        // Another endpoint does not get that key.
        field<QLineEdit>(*dialog, "endpoint.baseUrl")->setText(QStringLiteral("https://other/v1"));
        QVERIFY(dialog->config().key.empty());
        field<QLineEdit>(*dialog, "endpoint.baseUrl")->setText(server_->url());
        click(*dialog, "endpoint.forgetKey");
        QTRY_VERIFY(store_->keys.empty());
        QTRY_VERIFY(dialog->config().key.empty());
        delete dialog;
    }

    void withoutAStoreAKeyIsKeptForThisRun() {
        EndpointSettings &settings = EndpointSettings::instance();
        FoundKey told;
        const auto take = [&](const FoundKey &key) { told = key; };
        store_->locked = true;
        settings.keepKey("https://a/v1/", secret, this, take);
        QTRY_COMPARE(told.storeProblem, QStringLiteral("it is locked"));
        QCOMPARE(told.place, KeyPlace::thisRun);
        QVERIFY(keyText(told).contains(QStringLiteral("until this program ends")));
        told = {};
        settings.findKey("https://a/v1", this, take); // with or without the slash
        QCOMPARE(told.key, std::string(secret));
        settings.setStore(nullptr);
        settings.keepKey("https://a/v1", secret, this, take);
        QCOMPARE(told.place, KeyPlace::thisRun);
        QVERIFY(!told.storeProblem.isEmpty());
    }

    void theEnvironmentGoesFirst() {
        qputenv("CUDA_AGENT_API_KEY", "of-the-environment");
        QPointer<EndpointDialog> dialog = opened();
        fill(*dialog, "ready");
        QVERIFY(field<QLabel>(*dialog, "endpoint.keyPlace")
                    ->text()
                    .contains(QStringLiteral("$CUDA_AGENT_API_KEY")));
        QVERIFY(!field<QLineEdit>(*dialog, "endpoint.key")->isEnabled());
        delete dialog;
        qunsetenv("CUDA_AGENT_API_KEY");
        // Everybody's key gives way to one for this very endpoint.
        qputenv("OPENAI_API_KEY", "of-openai");
        FoundKey told;
        const auto take = [&](const FoundKey &key) { told = key; };
        EndpointSettings::instance().findKey("https://b/v1", this, take);
        QTRY_COMPARE(told.key, std::string("of-openai"));
        store_->keys["https://b/v1"] = secret;
        EndpointSettings::instance().findKey("https://b/v1", this, take);
        QTRY_COMPARE(told.place, KeyPlace::desktop);
        QCOMPARE(told.key, std::string(secret));
    }

    void lateAnswersFindNobody() {
        std::unique_lock slow(store_->slow);
        bool called = false;
        auto receiver = std::make_unique<QObject>();
        EndpointSettings::instance().findKey("https://late/v1", receiver.get(),
                                             [&](const FoundKey &) { called = true; });
        QPointer<EndpointDialog> dialog = opened();
        field<QLineEdit>(*dialog, "endpoint.baseUrl")->setText(QStringLiteral("https://c/v1"));
        Q_EMIT field<QLineEdit>(*dialog, "endpoint.baseUrl")->editingFinished();
        receiver.reset();
        delete dialog;
        slow.unlock();
        QTest::qWait(300);
        QVERIFY(!called);
    }

    void aBrokenFileIsSaidAndLeftAlone() {
        QVERIFY(QDir().mkpath(QFileInfo(file()).path()));
        QFile broken(file());
        QVERIFY(broken.open(QIODevice::WriteOnly));
        broken.write("base_url = [\n");
        broken.close();
        QPointer<EndpointDialog> dialog = opened();
        QVERIFY(result(*dialog).contains(QStringLiteral("not TOML")));
        fill(*dialog, "ready");
        save(*dialog);
        QVERIFY(dialog->isVisible());
        QCOMPARE(fileText(), QByteArray("base_url = [\n"));
        delete dialog;
    }

    void looks() {
        const QString pictures = qEnvironmentVariable("CUDA_AGENT_SCREENSHOTS");
        for (const bool dark : {false, true}) {
            Theme::instance().setScheme(dark ? Theme::Scheme::dark : Theme::Scheme::light);
            QPointer<EndpointDialog> dialog = opened();
            fill(*dialog, "hello");
            testIt(*dialog);
            for (QWidget *each : dialog->findChildren<QWidget *>())
                if (each->isVisible() && qobject_cast<QPushButton *>(each))
                    QVERIFY2(each->width() >= each->minimumSizeHint().width(),
                             qPrintable(each->objectName()));
            QVERIFY(dialog->width() < 1000 && dialog->height() < 760);
            if (!pictures.isEmpty())
                dialog->grab().save(pictures + (dark ? QStringLiteral("/endpoint-dark.png")
                                                     : QStringLiteral("/endpoint-light.png")));
            delete dialog;
        }
    }
};

QTEST_MAIN(EndpointTest)
#include "endpoint_test.moc"
