// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/timeline/timeline_bar.h"

#include "widgets/base/theme.h"
#include "widgets/timeline/replay.h"
#include "widgets/timeline/turn_strip.h"

#include <QAction>
#include <QComboBox>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLocale>
#include <QSpinBox>
#include <QStyle>
#include <QToolButton>
#include <QVBoxLayout>

namespace cuda_agent::widgets {

TimelineBar::TimelineBar(SessionDocument *document, QWidget *parent)
    : QWidget(parent), document_(document), replay_(new Replay(document, this)),
      strip_(new TurnStrip(document, this)) {
    setObjectName(QStringLiteral("timeline"));
    setAccessibleName(tr("Timeline"));
    setFocusPolicy(Qt::StrongFocus);
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(4, 2, 4, 2);
    column->setSpacing(2);
    column->addWidget(strip_);
    buttons_ = new QWidget;
    auto *row = new QHBoxLayout(buttons_);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(2);
    column->addWidget(buttons_);
    makeActions();

    speed_ = new QComboBox;
    speed_->setObjectName(QStringLiteral("timeline.speed"));
    speed_->setAccessibleName(tr("Replay speed"));
    speed_->setToolTip(tr("Replay speed; waits of more than 2 s are cut to 2 s"));
    const QLocale locale;
    for (const double factor : {0.5, 1.0, 2.0, 5.0, 20.0})
        speed_->addItem(tr("%1×").arg(locale.toString(factor)), factor);
    speed_->setCurrentIndex(1);
    speed_->setFocusPolicy(Qt::TabFocus);
    connect(speed_, &QComboBox::currentIndexChanged, this,
            [this] { replay_->setSpeed(speed_->currentData().toDouble()); });
    row->addWidget(speed_);

    turn_ = new QSpinBox;
    turn_->setObjectName(QStringLiteral("timeline.turn"));
    turn_->setAccessibleName(tr("Jump to turn"));
    turn_->setToolTip(tr("Jump to turn"));
    turn_->setPrefix(tr("Turn "));
    turn_->setKeyboardTracking(false);
    turn_->setMinimum(0);
    turn_->setSpecialValueText(tr("No turn"));
    connect(turn_, &QSpinBox::valueChanged, replay_, &Replay::toTurn);
    row->addWidget(turn_);
    row->addStretch(1);
    state_ = new QLabel;
    state_->setObjectName(QStringLiteral("timeline.state"));
    state_->setAccessibleName(tr("Place in the session"));
    row->addWidget(state_);

    connect(strip_, &TurnStrip::seekRequested, this, [this](std::size_t events) {
        setFocus(Qt::MouseFocusReason);
        replay_->seek(events);
    });
    connect(replay_, &Replay::playingChanged, this, &TimelineBar::showPlaying);
    connect(document, &SessionDocument::reset, this, &TimelineBar::startOver);
    connect(document, &SessionDocument::cursorMoved, this, &TimelineBar::refresh);
    connect(document, &SessionDocument::shownTurnChanged, this, &TimelineBar::refresh);
    connect(&Theme::instance(), &Theme::changed, this, &TimelineBar::retheme);
    buttons_->setMinimumWidth(1); // resizeEvent takes away what has no room
    retheme();
    startOver();
    showPlaying();
}

QAction *TimelineBar::act(const char *name, const QString &text, Symbol symbol) {
    auto *action = new QAction(text, this);
    action->setObjectName(QString::fromLatin1(name));
    addAction(action);
    symbols_[action] = symbol;
    auto *made = new QToolButton;
    made->setDefaultAction(action);
    made->setAutoRaise(true);
    made->setAccessibleName(text);
    made->setFocusPolicy(Qt::TabFocus);
    buttons_->layout()->addWidget(made);
    return action;
}

void TimelineBar::makeActions() {
    const auto connected = [this](QAction *action, const auto &does) {
        connect(action, &QAction::triggered, replay_, does);
        return action;
    };
    // Shortcuts are the keys of this bar (keyPressEvent): arrows and Space mean other things
    // elsewhere. The texts name them for tooltips and the palette.
    start_ = connected(act("timeline.start", tr("Go to Start (Home)"), Symbol::start),
                       [this] { replay_->toStart(); });
    connected(act("timeline.previousTurn", tr("Previous Turn (Shift+Left)"), Symbol::previousTurn),
              [this] { replay_->stepTurn(-1); });
    connected(act("timeline.previousEvent", tr("Previous Event (Left)"), Symbol::previous),
              [this] { replay_->stepEvent(-1); });
    play_ = connected(act("timeline.play", tr("Play (Space)"), Symbol::play),
                      [this] { replay_->toggle(); });
    connected(act("timeline.nextEvent", tr("Next Event (Right)"), Symbol::next),
              [this] { replay_->stepEvent(1); });
    connected(act("timeline.nextTurn", tr("Next Turn (Shift+Right)"), Symbol::nextTurn),
              [this] { replay_->stepTurn(1); });
    end_ = connected(act("timeline.end", tr("Go to End (End)"), Symbol::end),
                     [this] { replay_->toEnd(); });
}

void TimelineBar::showPlaying() {
    const QString text =
        replay_->playing() ? tr("Pause Replay (Space)") : tr("Play Replay (Space)");
    play_->setText(text);
    symbols_[play_] = replay_->playing() ? Symbol::pause : Symbol::play;
    play_->setIcon(symbolIcon(symbols_[play_]));
    for (QObject *shown : play_->associatedObjects())
        if (auto *button = qobject_cast<QToolButton *>(shown))
            button->setAccessibleName(text);
}

void TimelineBar::retheme() {
    for (const auto &[action, symbol] : symbols_)
        action->setIcon(symbolIcon(symbol));
    refresh();
}

void TimelineBar::startOver() {
    // The cursor going back says `reset` too; only another log is loaded anew.
    const void *log = document_->index().events().data();
    if (log != log_) {
        replay_->pause();
        loaded_ = document_->index().size();
        log_ = log;
    }
    refresh();
}

bool TimelineBar::live() const {
    const auto &events = document_->index().events();
    return document_->atEnd() && events.size() > loaded_ &&
           events.back().type != session::EventType::sessionEnded;
}

void TimelineBar::refresh() {
    const SessionIndex &index = document_->index();
    log_ = index.events().data(); // a log that grows moves
    const std::size_t size = index.size();
    const QSignalBlocker quiet(turn_);
    const int last = index.turnAt(size);
    turn_->setMaximum(last);
    turn_->setValue(document_->shownTurn());
    turn_->setEnabled(last > 0);
    const QLocale locale;
    const Colors &colors = Theme::instance().colors();
    QColor color = colors.muted;
    QString text;
    if (size == 0) {
        text = tr("No events yet");
    } else if (live()) {
        text = tr("● Live");
        color = colors.good;
    } else {
        text = tr("Event %1 of %2")
                   .arg(locale.toString(qulonglong(document_->cursor())),
                        locale.toString(qulonglong(size)));
    }
    state_->setText(text);
    setTextColor(state_, color);
    for (QAction *action : actions()) {
        const QString name = action->objectName();
        const bool back = name == QLatin1String("timeline.start") ||
                          name.startsWith(QLatin1String("timeline.previous"));
        const bool forth = name == QLatin1String("timeline.end") ||
                           name.startsWith(QLatin1String("timeline.next"));
        action->setEnabled(size > 0 && !(back && document_->cursor() == 0) &&
                           !(forth && document_->atEnd()));
    }
}

void TimelineBar::resizeEvent(QResizeEvent *event) {
    QWidget::resizeEvent(event);
    // In a narrow dock the strip and the keys do the same.
    state_->setVisible(width() >= 440);
    turn_->setVisible(width() >= 280);
    for (QAction *action : {start_, end_})
        for (QObject *shown : action->associatedObjects())
            if (auto *button = qobject_cast<QToolButton *>(shown))
                button->setVisible(width() >= 380);
}

void TimelineBar::keyPressEvent(QKeyEvent *event) {
    const bool shift = event->modifiers() & Qt::ShiftModifier;
    switch (event->key()) {
    case Qt::Key_Space:
        return replay_->toggle();
    case Qt::Key_Left:
        return shift ? replay_->stepTurn(-1) : replay_->stepEvent(-1);
    case Qt::Key_Right:
        return shift ? replay_->stepTurn(1) : replay_->stepEvent(1);
    case Qt::Key_Home:
        return replay_->toStart();
    case Qt::Key_End:
        return replay_->toEnd();
    default:
        QWidget::keyPressEvent(event);
    }
}

} // namespace cuda_agent::widgets
