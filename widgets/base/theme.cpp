// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/base/theme.h"

#include <QApplication>
#include <QDBusConnection>
#include <QDBusInterface>
#include <QDBusReply>
#include <QFontDatabase>
#include <QPalette>
#include <QSettings>
#include <QStyle>
#include <QStyleFactory>

#include <algorithm>

namespace cuda_agent::widgets {

namespace {

// Okabe and Ito, "Color Universal Design" (2008); the black of the set is grey here.
constexpr std::array<QRgb, 8> lightSeries{0xff0072b2, 0xffd55e00, 0xff009e73, 0xffcc79a7,
                                          0xffe69f00, 0xff56b4e9, 0xff777777, 0xff8a6d00};
constexpr std::array<QRgb, 8> darkSeries{0xff56b4e9, 0xffe69f00, 0xff2fc49a, 0xffe09cc4,
                                         0xffff8a3d, 0xff8ecdf5, 0xffaaaaaa, 0xfff0e442};

Colors lightColors() {
    Colors c;
    c.base = QColor(0xffffff);
    c.panel = QColor(0xf3f4f6);
    c.border = QColor(0xd0d5db);
    c.text = QColor(0x1c2126);
    c.muted = QColor(0x5d6874);
    c.accent = QColor(0x0b62c4);
    c.good = QColor(0x1a7f37);
    c.bad = QColor(0xc0272d);
    c.warning = QColor(0x9a6700);
    c.added = QColor(0xdafbe1);
    c.removed = QColor(0xffe3e0);
    for (std::size_t i = 0; i < c.series.size(); ++i)
        c.series[i] = QColor(lightSeries[i]);
    return c;
}

Colors darkColors() {
    Colors c;
    c.base = QColor(0x1b1e23);
    c.panel = QColor(0x262a31);
    c.border = QColor(0x414853);
    c.text = QColor(0xe4e7eb);
    c.muted = QColor(0x9aa4b1);
    c.accent = QColor(0x5aa9ff);
    c.good = QColor(0x4fc76b);
    c.bad = QColor(0xff7b72);
    c.warning = QColor(0xe3b341);
    c.added = QColor(0x1d3b27);
    c.removed = QColor(0x4a2325);
    for (std::size_t i = 0; i < c.series.size(); ++i)
        c.series[i] = QColor(darkSeries[i]);
    return c;
}

QPalette paletteOf(const Colors &c, bool dark) {
    QPalette p;
    p.setColor(QPalette::Window, dark ? QColor(0x22262c) : QColor(0xeceef1));
    p.setColor(QPalette::WindowText, c.text);
    p.setColor(QPalette::Base, c.base);
    p.setColor(QPalette::AlternateBase, c.panel);
    p.setColor(QPalette::Text, c.text);
    p.setColor(QPalette::Button, c.panel);
    p.setColor(QPalette::ButtonText, c.text);
    p.setColor(QPalette::ToolTipBase, c.panel);
    p.setColor(QPalette::ToolTipText, c.text);
    p.setColor(QPalette::PlaceholderText, c.muted);
    p.setColor(QPalette::Highlight, c.accent);
    p.setColor(QPalette::HighlightedText, dark ? QColor(0x0d1117) : QColor(Qt::white));
    p.setColor(QPalette::Link, c.accent);
    p.setColor(QPalette::Light, dark ? QColor(0x343a43) : QColor(Qt::white));
    p.setColor(QPalette::Mid, c.border);
    p.setColor(QPalette::Dark, dark ? QColor(0x14161a) : QColor(0xa5adb6));
    for (const auto role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText})
        p.setColor(QPalette::Disabled, role, dark ? QColor(0x6b7480) : QColor(0x98a1ab));
    return p;
}

const QString portalService = QStringLiteral("org.freedesktop.portal.Desktop");
const QString portalPath = QStringLiteral("/org/freedesktop/portal/desktop");
const QString portalSettings = QStringLiteral("org.freedesktop.portal.Settings");
const QString appearance = QStringLiteral("org.freedesktop.appearance");
const QString colorScheme = QStringLiteral("color-scheme");

} // namespace

Theme &Theme::instance() {
    static Theme *const theme = new Theme; // outlives widgets that ask while the program ends
    return *theme;
}

Theme::Theme() {
    ownFontSize_ = QApplication::font().pointSize();
    const QSettings settings;
    const QString name = settings.value(QStringLiteral("theme/scheme")).toString();
    scheme_ = name == QLatin1String("light")  ? Scheme::light
              : name == QLatin1String("dark") ? Scheme::dark
                                              : Scheme::system;
    fontSize_ = settings.value(QStringLiteral("theme/fontSize")).toInt();
    // Qt 6.4 does not know the desktop's colour scheme: the desktop portal does (0 no wish, 1 dark,
    // 2 light), where there is one.
    // https://flatpak.github.io/xdg-desktop-portal/docs/doc-org.freedesktop.portal.Settings.html
    QDBusConnection bus = QDBusConnection::sessionBus();
    if (bus.isConnected()) {
        QDBusInterface portal(portalService, portalPath, portalSettings, bus);
        portal.setTimeout(200); // a missing portal must not hold up the start
        const QDBusReply<QDBusVariant> reply =
            portal.call(QStringLiteral("Read"), appearance, colorScheme);
        if (reply.isValid()) {
            QVariant value = reply.value().variant();
            if (value.canConvert<QDBusVariant>())
                value = value.value<QDBusVariant>().variant();
            portal_ = value.toInt();
        }
        bus.connect(portalService, portalPath, portalSettings, QStringLiteral("SettingChanged"),
                    this, SLOT(portalChanged(QString, QString, QDBusVariant)));
    }
    apply();
}

void Theme::portalChanged(const QString &group, const QString &key, const QDBusVariant &value) {
    if (group != appearance || key != colorScheme)
        return;
    portal_ = value.variant().toInt();
    if (scheme_ == Scheme::system)
        apply();
}

bool Theme::systemIsDark() const {
    if (portal_ == 1 || portal_ == 2)
        return portal_ == 1;
    static const QPalette original = QApplication::palette();
    return original.color(QPalette::Window).lightness() < 128;
}

void Theme::apply() {
    const bool system = systemIsDark(); // looks at the palette before it is ours
    dark_ = scheme_ == Scheme::dark || (scheme_ == Scheme::system && system);
    colors_ = dark_ ? darkColors() : lightColors();
    if (QApplication::style()->objectName() != QLatin1String("fusion"))
        QApplication::setStyle(QStyleFactory::create(QStringLiteral("Fusion")));
    QApplication::setPalette(paletteOf(colors_, dark_));
    QFont font = QApplication::font();
    font.setPointSize(fontSize_ > 0 ? fontSize_ : ownFontSize_);
    QApplication::setFont(font);
    Q_EMIT changed();
}

void Theme::setScheme(Scheme scheme) {
    scheme_ = scheme;
    QSettings().setValue(QStringLiteral("theme/scheme"),
                         scheme == Scheme::light  ? QStringLiteral("light")
                         : scheme == Scheme::dark ? QStringLiteral("dark")
                                                  : QStringLiteral("system"));
    apply();
}

void Theme::setFontSize(int points) {
    fontSize_ = points <= 0 ? 0 : std::clamp(points, 6, 40);
    QSettings().setValue(QStringLiteral("theme/fontSize"), fontSize_);
    apply();
}

QFont Theme::codeFont() const {
    QFont font = QFontDatabase::systemFont(QFontDatabase::FixedFont);
    font.setStyleHint(QFont::Monospace);
    font.setPointSize(QApplication::font().pointSize());
    return font;
}

void setTextColor(QWidget *widget, const QColor &color) {
    QPalette palette = widget->palette();
    palette.setColor(QPalette::WindowText, color);
    widget->setPalette(palette);
}

} // namespace cuda_agent::widgets
