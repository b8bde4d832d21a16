// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/endpoint/secret_service.h"

#include <QDBusArgument>
#include <QDBusConnection>
#include <QDBusMessage>
#include <QDBusMetaType>
#include <QDBusObjectPath>
#include <QDBusVariant>
#include <QDBusVirtualObject>
#include <QProcess>
#include <QStandardPaths>
#include <QTest>
#include <QtConcurrent>

using namespace cuda_agent;
using namespace cuda_agent::widgets;

using Attributes = QMap<QString, QString>;

struct TravellingSecret {
    QDBusObjectPath session;
    QByteArray parameters, value;
    QString type;
};
Q_DECLARE_METATYPE(TravellingSecret)

static QDBusArgument &operator<<(QDBusArgument &argument, const TravellingSecret &secret) {
    argument.beginStructure();
    argument << secret.session << secret.parameters << secret.value << secret.type;
    argument.endStructure();
    return argument;
}
static const QDBusArgument &operator>>(const QDBusArgument &argument, TravellingSecret &secret) {
    argument.beginStructure();
    argument >> secret.session >> secret.parameters >> secret.value >> secret.type;
    argument.endStructure();
    return argument;
}

/// As much of a Secret Service as the specification asks of one collection, with prompts.
class FakeService : public QDBusVirtualObject {
    Q_OBJECT
  public:
    struct Item {
        Attributes attributes;
        QByteArray value;
    };
    std::map<QString, Item> items; ///< by path
    bool locked = false;
    bool dismissive = false; ///< the person closes every prompt
    int prompts = 0, made = 0;

    QString introspect(const QString &) const override { return {}; }

    bool handleMessage(const QDBusMessage &message, const QDBusConnection &bus) override {
        const QString member = message.member();
        const QVariantList given = message.arguments();
        const auto reply = [&](const QVariantList &values) {
            return bus.send(message.createReply(values));
        };
        const QString none = QStringLiteral("/");
        if (member == QLatin1String("OpenSession")) {
            if (given.value(0).toString() != QLatin1String("plain"))
                return bus.send(message.createErrorReply(QDBusError::NotSupported, member));
            return reply({QVariant::fromValue(QDBusVariant(QString())), path("/session/1")});
        }
        if (member == QLatin1String("SearchItems")) {
            const auto wanted = qdbus_cast<Attributes>(given.value(0));
            QList<QDBusObjectPath> found;
            for (const auto &[where, item] : items)
                if (item.attributes == wanted)
                    found += QDBusObjectPath(where);
            const QVariant all = QVariant::fromValue(found);
            const QVariant nothing = QVariant::fromValue(QList<QDBusObjectPath>());
            return locked ? reply({nothing, all}) : reply({all, nothing});
        }
        if (member == QLatin1String("Unlock"))
            return reply({QVariant::fromValue(QList<QDBusObjectPath>()),
                          locked ? path("/prompt/1") : QVariant::fromValue(QDBusObjectPath(none))});
        if (member == QLatin1String("Prompt")) {
            ++prompts;
            reply({});
            if (!dismissive)
                locked = false;
            auto completed = QDBusMessage::createSignal(
                message.path(), QStringLiteral("org.freedesktop.Secret.Prompt"),
                QStringLiteral("Completed"));
            completed.setArguments(
                {dismissive, QVariant::fromValue(QDBusVariant(QStringLiteral("")))});
            return bus.send(completed);
        }
        if (locked)
            return bus.send(
                message.createErrorReply(QStringLiteral("org.freedesktop.Secret.Error.IsLocked"),
                                         QStringLiteral("the collection is locked")));
        if (member == QLatin1String("CreateItem")) {
            const auto properties = qdbus_cast<QVariantMap>(given.value(0));
            const auto attributes = qdbus_cast<Attributes>(
                properties.value(QStringLiteral("org.freedesktop.Secret.Item.Attributes")));
            const auto secret = qdbus_cast<TravellingSecret>(given.value(1));
            if (given.value(2).toBool())
                std::erase_if(
                    items, [&](const auto &each) { return each.second.attributes == attributes; });
            const QVariant where = path(qPrintable(QStringLiteral("/collection/1/%1").arg(++made)));
            items[where.value<QDBusObjectPath>().path()] = {attributes, secret.value};
            return reply({where, QVariant::fromValue(QDBusObjectPath(none))});
        }
        if (member == QLatin1String("GetSecret")) {
            const TravellingSecret secret{
                given.value(0).value<QDBusObjectPath>(), {}, items[message.path()].value, {}};
            return reply({QVariant::fromValue(secret)});
        }
        if (member == QLatin1String("Delete")) {
            items.erase(message.path());
            return reply({QVariant::fromValue(QDBusObjectPath(none))});
        }
        return false;
    }

  private:
    static QVariant path(const char *below) {
        return QVariant::fromValue(
            QDBusObjectPath(QStringLiteral("/org/freedesktop/secrets") + QLatin1String(below)));
    }
};

/// The desktop's secret store over a bus of its own, with a service of the test's on it.
class SecretServiceTest : public QObject {
    Q_OBJECT
  private:
    QProcess bus_;
    QString address_;
    FakeService service_;

    /// The store blocks, and the service answers on this thread: events are served meanwhile.
    template <typename Question>
    static auto asked(Question question) {
        auto answer = QtConcurrent::run(question);
        while (!answer.isFinished())
            QTest::qWait(5);
        return answer.takeResult();
    }

  private slots:
    void initTestCase() {
        const QString daemon = QStandardPaths::findExecutable(QStringLiteral("dbus-daemon"));
        if (daemon.isEmpty())
            QSKIP("dbus-daemon is missing (apt-get install dbus-daemon)");
        bus_.start(daemon, {QStringLiteral("--session"), QStringLiteral("--nofork"),
                            QStringLiteral("--print-address=1"),
                            QStringLiteral("--address=unix:tmpdir=/tmp")});
        if (!bus_.waitForReadyRead(10'000))
            QSKIP("dbus-daemon does not start here");
        address_ = QString::fromUtf8(bus_.readLine()).trimmed();
        qDBusRegisterMetaType<TravellingSecret>();
        qDBusRegisterMetaType<Attributes>();
        auto server = QDBusConnection::connectToBus(address_, QStringLiteral("fake"));
        QVERIFY(server.isConnected());
        QVERIFY(server.registerVirtualObject(QStringLiteral("/org/freedesktop/secrets"), &service_,
                                             QDBusConnection::SubPath));
        QVERIFY(server.registerService(QStringLiteral("org.freedesktop.secrets")));
    }
    void init() {
        service_.items.clear();
        service_.locked = service_.dismissive = false;
        service_.prompts = 0;
    }
    void cleanupTestCase() {
        QDBusConnection::disconnectFromBus(QStringLiteral("fake"));
        bus_.kill();
        bus_.waitForFinished(5000);
    }

    void keepsFindsAndForgets() {
        const std::shared_ptr<SecretStore> store = makeSecretService(address_);
        const std::string url = "https://example.org/v1";
        auto found = asked([&] { return store->find(url, {}); });
        QVERIFY2(found, found ? "" : found.error().message.c_str());
        QVERIFY(!found->has_value());
        QVERIFY(asked([&] { return store->keep(url, "first", {}); }));
        QVERIFY(asked([&] { return store->keep(url, "second \u00e9", {}); })); // replaces it
        QVERIFY(asked([&] { return store->keep("https://other/v1", "third", {}); }));
        QCOMPARE(service_.items.size(), std::size_t{2});
        const Attributes attributes = service_.items.begin()->second.attributes;
        QCOMPARE(attributes.value(QStringLiteral("application")),
                 QStringLiteral("cuda-agent-workbench"));
        found = asked([&] { return store->find(url, {}); });
        QVERIFY(found);
        QCOMPARE(found->value(), std::string("second \u00e9"));
        QVERIFY(asked([&] { return store->forget(url, {}); }));
        QVERIFY(!asked([&] { return store->find(url, {}); })->has_value());
        QCOMPARE(service_.items.size(), std::size_t{1});
    }

    void aLockedOneAsksThePerson() {
        const std::shared_ptr<SecretStore> store = makeSecretService(address_);
        QVERIFY(asked([&] { return store->keep("u", "key", {}); }));
        service_.locked = true;
        auto found = asked([&] { return store->find("u", {}); });
        QVERIFY2(found, found ? "" : found.error().message.c_str());
        QCOMPARE(found->value(), std::string("key"));
        QCOMPARE(service_.prompts, 1);
        service_.locked = service_.dismissive = true;
        found = asked([&] { return store->find("u", {}); });
        QVERIFY(!found);
        QVERIFY(found.error().message.find("locked") != std::string::npos);
        QVERIFY(!asked([&] { return store->keep("u", "other", {}); }));
    }

    void whereThereIsNoneItIsSaid() {
        const auto noBus =
            makeSecretService(QStringLiteral("unix:path=/nowhere/bus"))->find("u", {});
        QVERIFY(!noBus);
        QVERIFY(noBus.error().message.find("bus") != std::string::npos);
        auto server = QDBusConnection(QStringLiteral("fake"));
        QVERIFY(server.unregisterService(QStringLiteral("org.freedesktop.secrets")));
        const std::shared_ptr<SecretStore> store = makeSecretService(address_);
        const auto found = asked([&] { return store->find("u", {}); });
        QVERIFY(!found);
        QVERIFY(server.registerService(QStringLiteral("org.freedesktop.secrets")));
    }
};

QTEST_GUILESS_MAIN(SecretServiceTest)
#include "secret_service_test.moc"
