// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QColor>
#include <QDBusVariant>
#include <QFont>
#include <QObject>

#include <array>

class QWidget;

namespace cuda_agent::widgets {

/// Colours of the window beyond the palette: one set for light, one for dark.
struct Colors {
    QColor base;   ///< behind text and plots
    QColor panel;  ///< cards, headers
    QColor border; ///< lines between things
    QColor text;
    QColor muted;  ///< less important text
    QColor accent; ///< selection, current turn
    QColor good;   ///< correct, faster
    QColor bad;    ///< wrong, failed
    QColor warning;
    QColor added;   ///< background of added lines in a diff
    QColor removed; ///< background of removed lines
    /// Curves and bars, told apart also by people who see few colours (Okabe and Ito's set).
    std::array<QColor, 8> series;
};

/// Light or dark, by the desktop's wish or the user's. Sets the application's palette and style.
/// One object, made by the first call of `instance`; GUI thread.
class Theme : public QObject {
    Q_OBJECT
  public:
    enum class Scheme { system, light, dark };

    static Theme &instance();

    Scheme scheme() const { return scheme_; }
    /// Takes effect at once and is remembered.
    void setScheme(Scheme scheme);
    bool dark() const { return dark_; }
    const Colors &colors() const { return colors_; }

    /// Points; 0 for the desktop's own. Remembered.
    int fontSize() const { return fontSize_; }
    void setFontSize(int points);
    /// The fixed-width font of code and logs, at the current size.
    QFont codeFont() const;

  signals:
    /// Colours or fonts are other ones: what paints itself paints again.
    void changed();

  private:
    Theme();
    void apply();
    bool systemIsDark() const;

    Scheme scheme_ = Scheme::system;
    bool dark_ = false;
    int fontSize_ = 0;
    int ownFontSize_ = 0; ///< the desktop's
    int portal_ = -1;     ///< what the desktop portal said: 0 none, 1 dark, 2 light; -1 no answer
    Colors colors_;

  private slots:
    void portalChanged(const QString &group, const QString &key, const QDBusVariant &value);
};

/// The colour of a label's text, or of another plain widget's, in place of the palette's; it stays
/// when the theme changes. GUI thread.
void setTextColor(QWidget *widget, const QColor &color);

} // namespace cuda_agent::widgets
