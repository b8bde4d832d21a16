// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/diff/diff.h"

#include <QElapsedTimer>
#include <QTest>

#include <algorithm>
#include <random>
#include <string>

using namespace cuda_agent::widgets;

namespace {

using Lines = std::vector<std::u16string_view>;

/// B made from A and the blocks alone: what is not in a block comes from A.
std::vector<int> apply(const std::vector<int> &a, const std::vector<int> &b,
                       const std::vector<DiffBlock> &blocks) {
    std::vector<int> result;
    int at = 0;
    for (const DiffBlock &block : blocks) {
        result.insert(result.end(), a.begin() + at, a.begin() + block.beginA);
        result.insert(result.end(), b.begin() + block.beginB, b.begin() + block.endB);
        at = block.endA;
    }
    result.insert(result.end(), a.begin() + at, a.end());
    return result;
}

int changes(const std::vector<DiffBlock> &blocks) {
    int sum = 0;
    for (const DiffBlock &block : blocks)
        sum += block.endA - block.beginA + block.endB - block.beginB;
    return sum;
}

/// N + M - 2 * LCS by the quadratic table.
int shortest(const std::vector<int> &a, const std::vector<int> &b) {
    std::vector<std::vector<int>> lcs(a.size() + 1, std::vector<int>(b.size() + 1, 0));
    for (std::size_t i = a.size(); i-- > 0;) {
        for (std::size_t j = b.size(); j-- > 0;)
            lcs[i][j] =
                a[i] == b[j] ? lcs[i + 1][j + 1] + 1 : std::max(lcs[i + 1][j], lcs[i][j + 1]);
    }
    return static_cast<int>(a.size() + b.size()) - 2 * lcs[0][0];
}

bool wellFormed(const std::vector<int> &a, const std::vector<int> &b,
                const std::vector<DiffBlock> &blocks) {
    int lastA = -1, lastB = -1;
    for (const DiffBlock &block : blocks) {
        if (block.endA < block.beginA || block.endB < block.beginB)
            return false;
        if (block.beginA == block.endA && block.beginB == block.endB)
            return false;
        // An equal symbol lies between: both sides have moved on by the same.
        if (lastA >= 0 && (block.beginA <= lastA || block.beginB <= lastB))
            return false;
        if (block.beginA - std::max(lastA, 0) != block.beginB - std::max(lastB, 0))
            return false;
        lastA = block.endA;
        lastB = block.endB;
    }
    return static_cast<int>(a.size()) - std::max(lastA, 0) ==
           static_cast<int>(b.size()) - std::max(lastB, 0);
}

} // namespace

class DiffTest : public QObject {
    Q_OBJECT
  private slots:
    void identicalGiveNone();
    void randomSequences();
    void limitStaysRight();
    void slidesDown();
    void lines();
    void rowsHoldEveryLineOnce();
    void alikeLinesStandTogether();
    void insideLines();
    void largeFiles_data();
    void largeFiles();
};

void DiffTest::identicalGiveNone() {
    std::mt19937 random(1);
    for (int round = 0; round < 50; ++round) {
        std::vector<int> a(random() % 300);
        for (int &symbol : a)
            symbol = static_cast<int>(random() % 5);
        QVERIFY(diffSymbols(a, a).empty());
    }
    QVERIFY(diffSymbols({}, {}).empty());
}

void DiffTest::randomSequences() {
    std::mt19937 random(2);
    for (int round = 0; round < 3000; ++round) {
        const int alphabet = 1 + static_cast<int>(random() % 12);
        std::vector<int> a(random() % 60), b(random() % 60);
        for (auto *sequence : {&a, &b}) {
            for (int &symbol : *sequence)
                symbol = static_cast<int>(random() % static_cast<unsigned>(alphabet));
        }
        if (round % 3 == 0) { // a version of the other, as in practice
            b = a;
            for (int edit = 0; edit < 4 && !b.empty(); ++edit)
                b[random() % b.size()] = 100 + edit;
        }
        const std::vector<DiffBlock> blocks = diffSymbols(a, b);
        QCOMPARE(apply(a, b, blocks), b);
        QVERIFY(wellFormed(a, b, blocks));
        QCOMPARE(changes(blocks), shortest(a, b));
    }
}

void DiffTest::limitStaysRight() {
    std::mt19937 random(3);
    for (int round = 0; round < 2000; ++round) {
        std::vector<int> a(random() % 200), b(random() % 200);
        for (auto *sequence : {&a, &b}) {
            for (int &symbol : *sequence)
                symbol = static_cast<int>(random() % 6);
        }
        const std::vector<DiffBlock> blocks = diffSymbols(a, b, 1 + round % 5);
        QCOMPARE(apply(a, b, blocks), b);
        QVERIFY(wellFormed(a, b, blocks));
    }
}

void DiffTest::slidesDown() {
    // f { x } and then g { x } added: the added function ends with its own brace.
    const std::vector<int> a{1, 2, 3}, b{1, 2, 3, 9, 2, 3};
    const std::vector<DiffBlock> expected{{3, 3, 3, 6}};
    QCOMPARE(diffSymbols(a, b), expected);
    const std::vector<DiffBlock> back{{3, 6, 3, 3}};
    QCOMPARE(diffSymbols(b, a), back);
}

void DiffTest::lines() {
    QVERIFY(linesOf(u"").empty());
    QCOMPARE(linesOf(u"a"), Lines{u"a"});
    QCOMPARE(linesOf(u"a\n"), Lines{u"a"});
    QCOMPARE(linesOf(u"\n\r\nb"), (Lines{u"", u"", u"b"}));
    const std::vector<DiffBlock> expected{{1, 2, 1, 3}};
    QCOMPARE(diffLines(linesOf(u"a\nb\nc\n"), linesOf(u"a\nx\ny\nc\n")), expected);
}

void DiffTest::rowsHoldEveryLineOnce() {
    std::mt19937 random(4);
    for (int round = 0; round < 300; ++round) {
        std::u16string textA, textB;
        for (auto *text : {&textA, &textB}) {
            for (unsigned line = random() % 40; line-- > 0;)
                *text += u"int " + std::u16string(1, char16_t(u'a' + random() % 9)) + u" = 1;\n";
        }
        const Lines a = linesOf(textA), b = linesOf(textB);
        int nextA = 0, nextB = 0;
        for (const DiffRow &row : alignRows(a, b, diffLines(a, b))) {
            QVERIFY(row.a >= 0 || row.b >= 0);
            if (row.a >= 0)
                QCOMPARE(row.a, nextA++);
            if (row.b >= 0)
                QCOMPARE(row.b, nextB++);
            if (row.block < 0)
                QCOMPARE(a[static_cast<std::size_t>(row.a)], b[static_cast<std::size_t>(row.b)]);
        }
        QCOMPARE(nextA, static_cast<int>(a.size()));
        QCOMPARE(nextB, static_cast<int>(b.size()));
    }
}

void DiffTest::alikeLinesStandTogether() {
    const Lines a = linesOf(u"float sum = 0;\nreturn;");
    const Lines b = linesOf(u"int i = threadIdx.x;\n__syncthreads();\nfloat sum = 1;\nreturn;");
    const std::vector<DiffRow> rows = alignRows(a, b, diffLines(a, b));
    QCOMPARE(rows.size(), std::size_t(4));
    QCOMPARE(rows[2].a, 0);
    QCOMPARE(rows[2].b, 2);
    QCOMPARE(rows[3].block, -1);
}

void DiffTest::insideLines() {
    QVERIFY(diffInLine(u"x", u"x").empty());
    const std::vector<DiffBlock> number{{12, 15, 12, 16}};
    QCOMPARE(diffInLine(u"int block = 256;", u"int block = 1024;"), number);
    const std::vector<DiffBlock> whole{{0, 10, 0, 4}};
    QCOMPARE(diffInLine(u"a = b + c;", u"ptr!"), whole);
}

void DiffTest::largeFiles_data() {
    QTest::addColumn<int>("kind");
    QTest::newRow("some edits") << 0;
    QTest::newRow("nothing in common") << 1;
    QTest::newRow("shuffled") << 2;
    QTest::newRow("few symbols at random") << 3;
}

void DiffTest::largeFiles() {
    QFETCH(int, kind);
    std::mt19937 random(5);
    std::vector<int> a(20'000), b(20'000);
    for (std::size_t i = 0; i < a.size(); ++i) {
        a[i] = kind == 3 ? static_cast<int>(random() % 3) : static_cast<int>(i);
        b[i] = kind == 3 ? static_cast<int>(random() % 3) : kind == 1 ? 100'000 + a[i] : a[i];
    }
    if (kind == 2)
        std::shuffle(b.begin(), b.end(), random);
    if (kind == 0) {
        for (int edit = 0; edit < 100; ++edit)
            b[random() % b.size()] = -edit - 1;
    }
    QElapsedTimer clock;
    clock.start();
    const std::vector<DiffBlock> blocks = diffSymbols(a, b);
    const qint64 took = clock.elapsed();
    QCOMPARE(apply(a, b, blocks), b);
    QVERIFY(wellFormed(a, b, blocks));
    qInfo("%lld ms, %zu blocks", static_cast<long long>(took), blocks.size());
    QVERIFY2(took < 2000, "bounded time");
}

QTEST_APPLESS_MAIN(DiffTest)
#include "diff_test.moc"
