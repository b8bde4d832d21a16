// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/widgets/profile/profiled_session.h"
#include "widgets/profile/findings_model.h"
#include "widgets/profile/kernels_model.h"
#include "widgets/profile/profile_words.h"
#include "widgets/profile/recorded_profile.h"
#include "widgets/profile/roof_picture.h"

#include <QAbstractItemModelTester>
#include <QTest>

using namespace cuda_agent::widgets;
using cuda_agent::Json;

/// What the pane draws, as numbers and words, without a window.
class ProfileTest : public QObject {
    Q_OBJECT
  private:
    static const RoofCurve *curve(const RoofPicture &picture, const char *name, bool measured) {
        for (const RoofCurve &each : picture.curves)
            if (each.name == QLatin1String(name) && each.measured == measured)
                return &each;
        return nullptr;
    }
    /// Everything that is made of a profile; must hold for any JSON.
    static void useAll(const Json &json) {
        const auto profile = kernelProfileOf(json);
        if (!profile)
            return;
        std::vector<int> all{-1};
        for (int i = 0; i < static_cast<int>(profile->launches.size()); ++i)
            all.push_back(i);
        for (const int index : all) {
            const RoofPicture picture = roofPictureOf(*profile, {index});
            for (const RoofCurve &each : picture.curves) {
                QCOMPARE(each.x.size(), std::size_t(2));
                QVERIFY(each.x[0] > 0 && each.x[0] <= each.x[1] && std::isfinite(each.x[1]));
                QVERIFY(each.y[0] > 0 && std::isfinite(each.y[1]));
            }
            for (const RoofMark &mark : picture.marks)
                QVERIFY(!markTextOf(*profile, mark).isEmpty());
        }
        (void)roofPictureOf(*profile, all);
        KernelsModel kernels;
        kernels.setProfile(*profile);
        (void)kernels.text();
        FindingsModel findings;
        findings.setProfile(*profile);
        (void)findings.text();
    }
    static void spoilEach(const Json &whole, const Json &part, const Json::json_pointer &at,
                          int &tried) {
        for (const Json &bad : {Json(), Json("text"), Json(-1), Json(1e300), Json(2.5),
                                Json::array(), Json::object(), Json::array({1, "x", nullptr})}) {
            Json spoilt = whole;
            spoilt[at] = bad;
            useAll(spoilt);
            ++tried;
        }
        if (part.is_object())
            for (const auto &[key, value] : part.items())
                spoilEach(whole, value, at / key, tried);
        else if (part.is_array())
            for (std::size_t i = 0; i < part.size(); ++i)
                spoilEach(whole, part[i], at / i, tried);
    }
    static QString cell(const KernelsModel &model, int row, int column) {
        return model.index(row, column).data().toString();
    }

  private slots:
    void figuresAreThoseOfTheJson() {
        const Json json = profiled::onGpu();
        const auto profile = kernelProfileOf(json);
        QVERIFY(profile);
        QCOMPARE(profile->device, QStringLiteral("NVIDIA H200"));
        QVERIFY(!profile->cpu);
        QCOMPARE(profile->launches.size(), std::size_t(3));
        for (std::size_t i = 0; i < 3; ++i) {
            const Json &launch = json["launches"][i];
            const ProfiledLaunch &own = profile->launches[i];
            QCOMPARE(own.seconds, launch["seconds"].get<double>());
            QCOMPARE(*own.share, launch["share"].get<double>());
            QCOMPARE(own.registers, launch["registers"].get<int>());
            QCOMPARE(own.spillBytes, launch["spill_bytes"].get<int>());
            QCOMPARE(*own.theoreticalOccupancy,
                     launch["theoretical_occupancy"]["occupancy"].get<double>());
            QCOMPARE(own.roofs.size(), launch["roofs"].size());
            QCOMPARE(own.roof(QStringLiteral("DRAM"))->amount,
                     launch["bytes"]["dram"].get<double>());
            if (const double all = launch["operations"]["all"].get<double>(); all > 0) {
                const double performance = *own.performance();
                QVERIFY(qAbs(performance / (all / own.seconds) - 1) < 1e-12);
            }
        }
        QCOMPARE(profile->launches[0].achievedOccupancy, Figure(0.715));
        QVERIFY(!profile->launches[1].achievedOccupancy); // not counted there
        QCOMPARE(profile->longest(), 2);
        QCOMPARE(profile->whole.seconds, 800e-6);
        QCOMPARE(*profile->gapShare, json["gap_share"].get<double>());
        QCOMPARE(profile->notes.size(), 1);
        QVERIFY(!profile->findings.empty());
        for (std::size_t i = 1; i < profile->findings.size(); ++i)
            QVERIFY(profile->findings[i - 1].gain >= profile->findings[i].gain);
    }

    void everyMemoryHasItsPointOnOnePerformance() {
        const Json json = profiled::onGpu();
        const auto profile = kernelProfileOf(json);
        const RoofPicture picture = roofPictureOf(*profile, {0});
        const Json &launch = json["launches"][0];
        const double operations = launch["operations"]["all"].get<double>();
        QCOMPARE(operations, 3.2e9);
        const double seconds = launch["seconds"].get<double>();
        QCOMPARE(picture.marks.size(), std::size_t(3));
        // By intensity, so from the memory that moves most: L1 and shared memory, L2, DRAM.
        const std::pair<const char *, double> levels[] = {
            {"L1/shared", 1.5e9}, {"L2", 0.8e9}, {"DRAM", 536'870'912.0}};
        for (std::size_t i = 0; i < 3; ++i) {
            const RoofMark &mark = picture.marks[i];
            QCOMPARE(mark.level, QLatin1String(levels[i].first));
            QVERIFY(qAbs(mark.intensity / (operations / levels[i].second) - 1) < 1e-12);
            QVERIFY(qAbs(mark.performance / (operations / seconds) - 1) < 1e-12);
        }
        QCOMPARE(picture.levels, QStringList({QStringLiteral("DRAM"), QStringLiteral("L2"),
                                              QStringLiteral("L1/shared")}));
    }

    void ceilingsAreMeasuredOrStated() {
        const auto profile = kernelProfileOf(profiled::onGpu());
        const RoofPicture vector = roofPictureOf(*profile, {0});
        for (const auto &[name, rate] :
             {std::pair{"DRAM", 4.24e12}, {"L2", 7e12}, {"L1/shared", 25e12}}) {
            const RoofCurve *slope = curve(vector, name, true);
            QVERIFY2(slope, name);
            QVERIFY(slope->memory);
            QCOMPARE(slope->rate, rate);
            for (const int end : {0, 1}) // a diagonal of that many bytes a second
                QVERIFY(qAbs(slope->y[static_cast<std::size_t>(end)] /
                                 slope->x[static_cast<std::size_t>(end)] / rate -
                             1) < 1e-12);
            QVERIFY(qAbs(slope->y[1] / 51e12 - 1) < 1e-12); // up to the measured FP32 roof
        }
        QCOMPARE(curve(vector, "DRAM", false)->rate, 4.8e12);
        QVERIFY(!curve(vector, "L2", false)); // no data sheet states it
        QCOMPARE(curve(vector, "FP32", true)->y, std::vector<double>({51e12, 51e12}));
        QCOMPARE(curve(vector, "FP32", false)->rate, 67e12);
        QVERIFY(!curve(vector, "FP16/BF16 tensor", true)); // softmax has no use for them
        const RoofPicture product = roofPictureOf(*profile, {1});
        QCOMPARE(curve(product, "FP16/BF16 tensor", true)->rate, 700e12);
        QCOMPARE(curve(product, "FP16/BF16 tensor", false)->rate, 989.5e12);
        QVERIFY(!curve(product, "TF32 tensor", true));
        QVERIFY(qAbs(curve(product, "DRAM", true)->y[1] / 700e12 - 1) < 1e-12);
        // What was measured is drawn over what is stated.
        QVERIFY(!product.curves.front().measured && product.curves.back().measured);
        // Every mark lies inside of the lines' width.
        for (const RoofMark &mark : product.marks) {
            QVERIFY(mark.intensity > curve(product, "DRAM", true)->x[0]);
            QVERIFY(mark.intensity < curve(product, "FP32", true)->x[1]);
        }
        // No arithmetic, no intensity: nothing to draw.
        const RoofPicture copy = roofPictureOf(*profile, {2});
        QVERIFY(copy.marks.empty() && copy.curves.empty());
        QCOMPARE(roofPictureOf(*profile, {0, 1, 2}).marks.size(), std::size_t(6));
    }

    void onTheCpuThePlanCounts() {
        const Json json = profiled::onCpu();
        const auto profile = kernelProfileOf(json);
        QVERIFY(profile && profile->cpu);
        const RoofPicture product = roofPictureOf(*profile, {1});
        QCOMPARE(product.marks.size(), std::size_t(1));
        QCOMPARE(product.marks[0].level, QStringLiteral("counted bytes"));
        QCOMPARE(product.marks[0].intensity, 10.0);
        QVERIFY(qAbs(product.marks[0].performance / 5e10 - 1) < 1e-12);
        QCOMPARE(curve(product, "counted bytes", true)->rate, 20e9);
        QCOMPARE(curve(product, "L3", true)->rate, 60e9);
        QCOMPARE(curve(product, "counted operations", true)->rate, 400e9);
        QVERIFY(roofPictureOf(*profile, {0}).marks.empty());
        QCOMPARE(roofPictureOf(*profile, {-1}).marks.size(), std::size_t(1));
        QVERIFY(profile->findings.empty());
    }

    void kernelsAreATable() {
        const auto profile = kernelProfileOf(profiled::onGpu());
        KernelsModel model;
        QAbstractItemModelTester tester(&model);
        model.setProfile(*profile);
        QCOMPARE(model.rowCount(), 3);
        QCOMPARE(cell(model, 0, KernelsModel::Name), QStringLiteral("softmax"));
        QCOMPARE(cell(model, 0, KernelsModel::Memory), QStringLiteral("84.4 %")); // of DRAM
        QCOMPARE(cell(model, 0, KernelsModel::Compute), QStringLiteral("41.8 %"));
        QCOMPARE(cell(model, 0, KernelsModel::Achieved), QStringLiteral("71.5 %"));
        QCOMPARE(cell(model, 0, KernelsModel::Theoretical), QStringLiteral("75.0 %"));
        QCOMPARE(cell(model, 0, KernelsModel::LimitedBy), QStringLiteral("registers"));
        QCOMPARE(cell(model, 0, KernelsModel::Registers), QStringLiteral("40"));
        QCOMPARE(cell(model, 1, KernelsModel::Spills), QStringLiteral("96 B"));
        QCOMPARE(cell(model, 1, KernelsModel::Achieved), QString());
        QCOMPARE(cell(model, 2, KernelsModel::Compute), QString()); // it computes nothing
        QVERIFY(model.index(0, KernelsModel::Memory)
                    .data(Qt::ToolTipRole)
                    .toString()
                    .contains(QLatin1String("74.6 % of the data sheet")));
        QCOMPARE(model.index(1, KernelsModel::Spills).data(KernelsModel::sortRole).toDouble(),
                 96.0);
        QCOMPARE(model.text().count(QLatin1Char('\n')), 4);
        model.setProfile({});
        QCOMPARE(model.rowCount(), 0);
    }

    void findingsSayWhatWhyAndWhere() {
        const Json json = profiled::onGpu();
        const auto profile = kernelProfileOf(json);
        FindingsModel model;
        QAbstractItemModelTester tester(&model);
        model.setProfile(*profile);
        QCOMPARE(model.rowCount(), static_cast<int>(json["findings"].size()));
        double before = 1e9;
        bool uncoalesced = false;
        for (int row = 0; row < model.rowCount(); ++row) {
            const QModelIndex index = model.index(row);
            const Json &own = json["findings"][static_cast<std::size_t>(row)];
            QVERIFY(own["gain"].get<double>() <= before);
            before = own["gain"].get<double>();
            QCOMPARE(index.data().toString().toStdString(), own["message"].get<std::string>());
            QVERIFY(!index.data(FindingsModel::EvidenceRole).toString().isEmpty());
            if (own["rule"] != "uncoalesced-loads" || own["launch"] != 2)
                continue;
            uncoalesced = true;
            QVERIFY(index.data(FindingsModel::TitleRole)
                        .toString()
                        .endsWith(QLatin1String("Uncoalesced loads")));
            const QString evidence =
                index.data(FindingsModel::EvidenceRole).toString().replace(QChar::Nbsp, u' ');
            QVERIFY2(evidence.contains(QLatin1String("sectors per request: 32")),
                     qPrintable(evidence));
            QVERIFY(evidence.contains(QLatin1String("fewest that would do: 4")));
            QCOMPARE(index.data(FindingsModel::PlaceRole).toString(),
                     QStringLiteral("kernels/k.cu:3, strided_copy"));
            QCOMPARE(index.data(FindingsModel::FileRole).toString(),
                     QStringLiteral("kernels/k.cu"));
            QCOMPARE(index.data(FindingsModel::LineRole).toInt(), 3);
        }
        QVERIFY(uncoalesced);
        // Rules and figures that a later version has are shown as they are.
        Json later = json;
        later["findings"] = {{{"rule", "new-rule"},
                              {"launch", 99},
                              {"message", "it is new"},
                              {"evidence", {{"novelty", 0.5}, {"name", "x"}}},
                              {"gain", 1.5},
                              {"stop", false}}};
        model.setProfile(*kernelProfileOf(later));
        QCOMPARE(model.index(0).data(FindingsModel::TitleRole).toString(),
                 QStringLiteral("up to 1.50× faster: new-rule"));
        QCOMPARE(
            model.index(0).data(FindingsModel::EvidenceRole).toString().replace(QChar::Nbsp, u' '),
            QStringLiteral("name: x · novelty: 0.5"));
        QCOMPARE(model.index(0).data(FindingsModel::PlaceRole).toString(), QString());
    }

    void whatIsNoProfileIsNone() {
        for (const Json &json :
             {Json(), Json(1), Json("profile"), Json::array({1}), Json::object(),
              Json{{"launches", Json::array()}}, Json{{"launches", 3}, {"device", Json::object()}}})
            QVERIFY(!kernelProfileOf(json));
        const auto empty =
            kernelProfileOf({{"launches", Json::array()}, {"device", Json::object()}});
        QVERIFY(empty);
        QCOMPARE(empty->longest(), -1);
        QVERIFY(roofPictureOf(*empty, {0, -1, 7}).marks.empty());
    }

    void anySpoiltPartIsPassedOver() {
        int tried = 0;
        for (const Json &whole : {profiled::onGpu(), profiled::onCpu()})
            spoilEach(whole, whole, Json::json_pointer(), tried);
        QVERIFY2(tried > 3000, qPrintable(QString::number(tried)));
    }

    void theLogTellsWhichProfileIsShown() {
        const Json gpu = profiled::onGpu();
        Json other = gpu;
        other["notes"] = Json::array();
        profiled::Session session;
        session.turn(1, "a", gpu).turn(2, "b", nullptr).turn(3, "a", nullptr);
        const std::size_t beforeLast = session.events.size();
        session.turn(4, "b", other, "engineer");
        SessionDocument document;
        document.replace(session.index());
        QCOMPARE(document.index().profiles(document.cursor()).size(), std::size_t(2));
        QVERIFY(document.index().profiles(document.cursor())[1].engineer);
        RecordedProfile recorded = recordedProfile(document);
        QVERIFY(recorded.json && *recorded.json == other);
        QCOMPARE(recorded.turn, 4);
        QVERIFY(recorded.engineer);
        document.selectTurn(1);
        QVERIFY(*recordedProfile(document).json == gpu);
        document.selectTurn(3); // the very files of turn 1
        recorded = recordedProfile(document);
        QVERIFY(recorded.json && *recorded.json == gpu);
        QCOMPARE(recorded.turn, 1);
        document.selectTurn(2); // those that turn 4 profiled
        QCOMPARE(recordedProfile(document).turn, 4);
        // Before that, nobody knew.
        document.setCursor(beforeLast);
        recorded = recordedProfile(document);
        QVERIFY(!recorded.json);
        QCOMPARE(recorded.other, 1);
        document.setCursor(0);
        QVERIFY(!recordedProfile(document).json);
        QCOMPARE(recordedProfile(document).other, 0);
        // A turn that was cut off and done again was never profiled.
        profiled::Session again;
        again.turn(1, "a", gpu);
        again.events.pop_back(); // its end
        again.turn(1, "a", nullptr);
        QVERIFY(again.index().profiles(again.events.size()).empty());
    }

    void whyThereIsNoneIsSaid() {
        profiled::Session session;
        session.turn(1, "a", nullptr);
        for (auto &event : session.events)
            if (event.type == cuda_agent::session::EventType::observation)
                event.data["text"] = "1.6 ms\nlaunch by launch: the profiler is missing\n";
        SessionDocument document;
        document.replace(session.index());
        QCOMPARE(recordedProfile(document).reason, QStringLiteral("the profiler is missing"));
    }
};

QTEST_MAIN(ProfileTest)
#include "profile_test.moc"
