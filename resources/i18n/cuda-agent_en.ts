<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="en">
<context>
    <name>cuda_agent::widgets::BudgetStrip</name>
    <message numerus="yes">
        <source>Together: %1, in %n answer(s)</source>
        <translation>
            <numerusform>Together: %1, in %n answer</numerusform>
            <numerusform>Together: %1, in %n answers</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>cuda_agent::widgets::CodeFindBar</name>
    <message numerus="yes">
        <source>%n match(es)</source>
        <translation>
            <numerusform>%n match</numerusform>
            <numerusform>%n matches</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n replaced</source>
        <translation>
            <numerusform>%n replaced</numerusform>
            <numerusform>%n replaced</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>cuda_agent::widgets::ListingModel</name>
    <message numerus="yes">
        <source>%n instruction(s)</source>
        <translation>
            <numerusform>%n instruction</numerusform>
            <numerusform>%n instructions</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n register(s)</source>
        <translation>
            <numerusform>%n register</numerusform>
            <numerusform>%n registers</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>cuda_agent::widgets::ListingPane</name>
    <message numerus="yes">
        <source>%n instruction(s)</source>
        <translation>
            <numerusform>%n instruction</numerusform>
            <numerusform>%n instructions</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>cuda_agent::widgets::MainWindow</name>
    <message numerus="yes">
        <source>%n more device(s) are in quarantine.</source>
        <translation>
            <numerusform>%n more device is in quarantine.</numerusform>
            <numerusform>%n more devices are in quarantine.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>cuda_agent::widgets::Plot</name>
    <message numerus="yes">
        <source>%n curve(s), x from %1 to %2, y from %3 to %4</source>
        <translation>
            <numerusform>%n curve, x from %1 to %2, y from %3 to %4</numerusform>
            <numerusform>%n curves, x from %1 to %2, y from %3 to %4</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>cuda_agent::widgets::QuarantineDialog</name>
    <message numerus="yes">
        <source>A small program of its own fills memory of the device and runs a kernel on it, for at most %n second(s). When the device is well, its quarantine is lifted and sessions use it again.</source>
        <translation>
            <numerusform>A small program of its own fills memory of the device and runs a kernel on it, for at most %n second. When the device is well, its quarantine is lifted and sessions use it again.</numerusform>
            <numerusform>A small program of its own fills memory of the device and runs a kernel on it, for at most %n seconds. When the device is well, its quarantine is lifted and sessions use it again.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>cuda_agent::widgets::SessionDocument</name>
    <message numerus="yes">
        <source>%n event(s) are of types that this program does not know and are left out; a newer one shows them.</source>
        <translation>
            <numerusform>%n event is of a type that this program does not know and is left out; a newer one shows it.</numerusform>
            <numerusform>%n events are of types that this program does not know and are left out; a newer one shows them.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>cuda_agent::widgets::SessionView</name>
    <message numerus="yes">
        <source>%n GPU(s)</source>
        <translation>
            <numerusform>%n GPU</numerusform>
            <numerusform>%n GPUs</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n attempt(s), each with a budget of its own; %1 at once on %2.</source>
        <translation>
            <numerusform>%n attempt with a budget of its own; %1 at once on %2.</numerusform>
            <numerusform>%n attempts, each with a budget of its own; %1 at once on %2.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>cuda_agent::widgets::SkillsDialog</name>
    <message numerus="yes">
        <source>Save what you have changed in %n file(s)?</source>
        <translation>
            <numerusform>Save what you have changed in %n file?</numerusform>
            <numerusform>Save what you have changed in %n files?</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>cuda_agent::widgets::SkillsModel</name>
    <message numerus="yes">
        <source>%n problem(s)</source>
        <translation>
            <numerusform>%n problem</numerusform>
            <numerusform>%n problems</numerusform>
        </translation>
    </message>
</context>
</TS>
