// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/ncu/csv.h"

#include <gtest/gtest.h>

using namespace cuda_agent;
using namespace cuda_agent::ncu;

namespace {

using Records = std::vector<std::vector<std::string>>;

Records all(std::string_view text) {
    CsvReader reader(text);
    Records records;
    for (;;) {
        auto record = reader.next();
        EXPECT_TRUE(record) << record.error().message;
        if (!record || !*record)
            return records;
        records.push_back(std::move(**record));
    }
}

} // namespace

TEST(Csv, FieldsInQuotesHoldAnything) {
    EXPECT_EQ(all("a,\"b, c\",\"say \"\"no\"\"\",\"two\nlines\"\n"),
              (Records{{"a", "b, c", "say \"no\"", "two\nlines"}}));
    EXPECT_EQ(all("\"\",,\"x\""), (Records{{"", "", "x"}}));
}

TEST(Csv, LineEndsOfBothKinds) {
    EXPECT_EQ(all("a,b\r\n\r\n\"c\",d\r\n\ne"), (Records{{"a", "b"}, {"c", "d"}, {"e"}}));
    EXPECT_TRUE(all("").empty());
    EXPECT_TRUE(all("\n\n").empty());
    EXPECT_EQ(all("a,\n"), (Records{{"a", ""}}));
}

TEST(Csv, LinesAreCounted) {
    CsvReader reader("a\n\"two\nlines\"\nc\n");
    for (const int line : {1, 2, 4}) {
        ASSERT_TRUE(reader.next());
        EXPECT_EQ(reader.lineNumber(), line);
    }
}

TEST(Csv, BrokenQuotesAreErrors) {
    for (const auto &[text, line] :
         {std::pair{"a\n\"b", "line 2"}, std::pair{"\"a\"b,c", "line 1"}}) {
        CsvReader reader(text);
        auto record = reader.next();
        if (record)
            record = reader.next();
        ASSERT_FALSE(record) << text;
        EXPECT_EQ(record.error().kind, ErrorKind::request);
        EXPECT_TRUE(record.error().message.starts_with(line)) << record.error().message;
    }
}

TEST(Csv, EndlessLinesAreErrors) {
    const std::string many(CsvReader::mostFields + 10, ',');
    EXPECT_FALSE(CsvReader(many).next());
}
