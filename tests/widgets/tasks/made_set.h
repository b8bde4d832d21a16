// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/json.h"

#include <QByteArray>
#include <QDir>
#include <QFile>
#include <QString>

#include <zlib.h>

#include <cmath>
#include <random>

namespace cuda_agent::widgets {

/// Source of a task in KernelBench form, about 1.5 KB.
inline std::string madeSource(int number) {
    std::string text = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n\n";
    text += "# task " + std::to_string(number) + "\n";
    text += "batch_size = 16\nfeatures = " + std::to_string(64 + number % 1000) + "\n\n";
    text += "class Model(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
            "        self.linear = nn.Linear(features, features)\n\n    def forward(self, x):\n";
    for (int i = 0; i < 30; ++i)
        text +=
            "        x = F.relu(self.linear(x)) # step " + std::to_string(number * 31 + i) + "\n";
    return text + "        return x\n\ndef get_inputs():\n"
                  "    return [torch.randn(batch_size, features)]\n\n"
                  "def get_init_inputs():\n    return []\n";
}

/// A set as core/synthesis writes it, drawn from a fixed seed: its spread is made up.
inline QByteArray madeSet(int tasks) {
    std::mt19937 draw(7); // NOLINT: the same set each time
    const char *const names[] = {"linear",     "conv2d",     "relu",    "gelu",   "layer_norm",
                                 "softmax",    "batch_norm", "sigmoid", "matmul", "max_pool2d",
                                 "group_norm", "rms_norm",   "cumsum",  "rope",   "silu"};
    const char *const families[] = {
        "gemm",          "convolution",   "activation", "activation", "normalisation",
        "reduction",     "normalisation", "activation", "gemm",       "pooling",
        "normalisation", "normalisation", "scan",       "attention",  "activation"};
    const char *const splits[] = {"train", "train", "train",      "train",    "train",
                                  "train", "train", "validation", "held_out", "outer"};
    const char *const sources[] = {"composed", "composed", "composed", "torch", "transformers"};
    const char *const dtypes[] = {"fp32", "fp32", "bf16", "fp16"};
    const auto pick = [&](unsigned of) { return static_cast<std::size_t>(draw() % of); };
    QByteArray text;
    for (int i = 0; i < tasks; ++i) {
        const int operators = 1 + static_cast<int>(pick(3) + pick(3) * (i % 3 ? 1 : 0));
        Json ops = Json::array(), kinds = Json::array(), graph = Json::array();
        for (int k = 0; k < operators; ++k) {
            const std::size_t which = std::min(pick(15), pick(15));
            ops.push_back(std::string("torch.nn.functional.") + names[which]);
            kinds.push_back(families[which]);
            graph.push_back(std::string("aten.") + names[which]);
        }
        const double seconds =
            1e-3 * std::exp(2.2 + 0.9 * (static_cast<double>(pick(2000)) / 1000 - 1) +
                            0.8 * (static_cast<double>(pick(2000)) / 1000 - 1));
        const double factor = 0.9 + 0.25 * operators * static_cast<double>(pick(1000)) / 500;
        const Json row{{"name", "task_" + std::to_string(i)},
                       {"level", std::to_string(operators <= 1   ? 1
                                                : operators <= 3 ? 2
                                                                 : 3)},
                       {"split", splits[pick(10)]},
                       {"ops", ops},
                       {"data_source", sources[pick(5)]},
                       {"code", madeSource(i)},
                       {"kinds", ops},
                       {"families", kinds},
                       {"dtype", dtypes[pick(4)]},
                       {"backward", pick(8) == 0},
                       {"seconds", seconds},
                       {"compile_seconds", seconds / factor},
                       {"memory_bytes", 1'000'000 + pick(900'000'000)},
                       {"operations", 1e9 * static_cast<double>(1 + pick(4000))},
                       {"counted_bytes", 1'000'000 + pick(90'000'000)},
                       {"graph", graph},
                       {"graph_hash", std::to_string(draw())},
                       {"difficulty", static_cast<double>(pick(100)) / 100}};
        text += QByteArray::fromStdString(row.dump()) + '\n';
    }
    return text;
}

/// gzip members of the text, as many as asked.
inline QByteArray gzipped(const QByteArray &text, int members = 1) {
    QByteArray result;
    for (int i = 0; i < members; ++i) {
        const qsizetype from = text.size() * i / members, to = text.size() * (i + 1) / members;
        z_stream stream{};
        if (deflateInit2(&stream, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK)
            return {};
        QByteArray part(
            static_cast<qsizetype>(deflateBound(&stream, static_cast<uLong>(to - from))) + 64,
            '\0');
        stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(text.constData() + from));
        stream.avail_in = static_cast<uInt>(to - from);
        stream.next_out = reinterpret_cast<Bytef *>(part.data());
        stream.avail_out = static_cast<uInt>(part.size());
        deflate(&stream, Z_FINISH);
        part.resize(static_cast<qsizetype>(stream.total_out));
        deflateEnd(&stream);
        result += part;
    }
    return result;
}

inline bool put(const QString &path, const QByteArray &text) {
    QDir().mkpath(QFileInfo(path).path());
    QFile file(path);
    return file.open(QIODevice::WriteOnly) && file.write(text) == text.size();
}

/// The folder of a synthesis with 400 candidates; false when it cannot be written.
inline bool madeFolder(const QString &folder, const QByteArray &state) {
    bool written = true;
    written = written && (put(folder + QStringLiteral("/synthesis.json"), "{\"format\": 1}"));
    written =
        written &&
        (put(folder + QStringLiteral("/progress.json"),
             "{\"state\": \"" + state +
                 "\", \"stage\": \"filter\", \"wanted\": 3000, \"proposed\": 9000, "
                 "\"checked\": 6400, \"timed\": 3900, \"compiled\": 2600, \"accepted\": 2310, "
                 "\"rejected\": "
                 "{\"too_fast\": 1800, \"not_deterministic\": 230, \"unused_input\": 610, "
                 "\"weak_check\": 420, \"duplicate\": 950, \"out_of_memory\": 80}, "
                 "\"seconds\": 412, \"left\": 190}"));
    written = written &&
              (put(folder + QStringLiteral("/crawl.json"),
                   "{\"operators\": [{\"name\": \"torch.relu\", \"source\": \"torch\", \"family\": "
                   "\"activation\", \"kept\": true, \"reason\": \"\"}, {\"name\": \"torch.rand\", "
                   "\"source\": \"torch\", \"family\": \"random\", \"kept\": false, \"reason\": "
                   "\"random\"}]}"));
    QByteArray candidates, checked;
    for (int i = 0; i < 400; ++i) {
        Json row{{"index", i},
                 {"id", "c" + std::to_string(i)},
                 {"source", i % 2 ? "torch" : "composed"},
                 {"ops", {"torch.relu", "torch.nn.functional.linear"}},
                 {"kinds", {"a"}},
                 {"families", {"activation", "gemm"}},
                 {"dtype", "fp32"},
                 {"backward", false},
                 {"code", madeSource(i)},
                 {"small", Json::object()},
                 {"estimated_seconds", 0.004},
                 {"rejected", nullptr}};
        if (i % 10 == 9)
            row["rejected"] = "duplicate";
        candidates += QByteArray::fromStdString(row.dump()) + '\n';
        if (i % 10 == 9 || i >= 300)
            continue;
        const bool good = i % 3 == 0;
        const Json check{{"index", i},
                         {"stage", good ? "time" : "check"},
                         {"outcome", good ? "passed" : "rejected"},
                         {"reason", good ? "" : "too_fast"},
                         {"detail", good ? "" : "0.2 ms a call"},
                         {"seconds", 0.002 + 1e-4 * i}};
        checked += QByteArray::fromStdString(check.dump()) + '\n';
        if (good)
            checked += "{\"index\": " + QByteArray::number(i) +
                       ", \"stage\": \"compile\", \"outcome\": \"passed\", "
                       "\"seconds\": 0.001, \"took_seconds\": 7.5}\n";
    }
    written = written && (put(folder + QStringLiteral("/candidates.jsonl"),
                              candidates + "{\"index\": 400, \"i"));
    written = written && (put(folder + QStringLiteral("/checked.jsonl"), checked + "{\"inde"));
    return written;
}

} // namespace cuda_agent::widgets
