// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/learn/mistakes.h"

#include "core/base/json.h"
#include "core/learn/corpus/corpus.h"
#include "core/learn/model/device.h"
#include "core/learn/train/mistakes.h"
#include "core/policy/transformer/weights.h"

#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace cuda_agent::app {

namespace {

struct Options {
    std::string corpus, weights, split = "validation", device = "auto", out;
    std::size_t documents = 0, worst = 10;
    int threads = 0;
};

/// A text in a line of its own.
std::string quoted(const std::string &text) {
    return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string lineOf(std::string_view name, const learn::Reading &reading) {
    const auto tokens = static_cast<double>(std::max<std::int64_t>(reading.tokens, 1));
    return fmt::format("{:8} {:>10} {:>10} {:>12.5f} {:>9.3f} %\n", name, reading.tokens,
                       reading.mistakes, reading.nats / tokens,
                       100 - 100 * static_cast<double>(reading.mistakes) / tokens);
}

std::string summaryOf(std::vector<learn::DocumentReading> readings, std::size_t worst) {
    std::map<learn::TurnPart, learn::Reading> parts;
    learn::Reading all;
    std::size_t whole = 0;
    for (const auto &reading : readings) {
        for (const auto &[part, of] : reading.parts)
            parts[part] += of;
        all += reading.all();
        whole += reading.mistakes.empty() ? 1 : 0;
    }
    auto text =
        fmt::format("{} documents, {} without a mistake\n{:8} {:>10} {:>10} {:>12} {:>11}\n",
                    readings.size(), whole, "part", "tokens", "mistakes", "nats/token", "right");
    for (const auto part : learn::turnParts)
        if (parts.contains(part))
            text += lineOf(nameOf(part), parts[part]);
    text += lineOf("all", all);
    std::ranges::stable_sort(readings, std::greater(),
                             [](const auto &reading) { return reading.all().nats; });
    for (std::size_t i = 0; i < std::min(worst, readings.size()); ++i) {
        const auto &reading = readings[i];
        if (reading.mistakes.empty())
            break;
        const auto &hardest =
            *std::ranges::min_element(reading.mistakes, {}, &learn::Mistake::probability);
        text += fmt::format("{}{}: {:.1f} nats, {} mistakes; the least likely, in the {}, "
                            "{:.2g}: {} for {} behind {}\n",
                            i == 0 ? "\nThe least likely documents:\n" : "", reading.task,
                            reading.all().nats, reading.mistakes.size(), nameOf(hardest.part),
                            hardest.probability, quoted(hardest.likeliest), quoted(hardest.written),
                            quoted(hardest.before));
    }
    return text;
}

Result<std::vector<learn::Document>> documentsOf(const Options &options) {
    CUDA_AGENT_ASSIGN(documents, learn::readCorpus(options.corpus));
    if (options.split != "all")
        std::erase_if(documents, [&](const auto &one) { return one.split != options.split; });
    if (documents.empty())
        return requestError("{} has no documents of the split {}; ask for --split all",
                            options.corpus, options.split);
    if (options.documents > 0 && options.documents < documents.size())
        documents.resize(options.documents);
    return documents;
}

Result<int> mistakes(const Options &options, const std::stop_token &stop) {
    if (options.threads > 0)
        at::set_num_threads(options.threads);
    CUDA_AGENT_ASSIGN(weights, policy::findWeights(options.weights.empty()
                                                       ? policy::defaultWeights()
                                                       : std::filesystem::path(options.weights)));
    CUDA_AGENT_ASSIGN(device, learn::deviceNamed(options.device));
    CUDA_AGENT_ASSIGN(documents, documentsOf(options));
    CUDA_AGENT_ASSIGN(tokenizer, learn::Tokenizer::load(weights.folder / "tokenizer.json"));
    auto model = learn::Transformer::load(weights.folder, learn::Transformer::Head::logits, device,
                                          device.is_cuda() ? at::kBFloat16 : at::kFloat);
    if (!model)
        return tl::unexpected(model.error());
    const bool told = ::isatty(STDERR_FILENO) == 1;
    std::vector<learn::DocumentReading> readings;
    std::string lines;
    std::size_t tooLong = 0;
    for (const auto &document : documents) {
        if (stop.stop_requested())
            break;
        auto reading = learn::readDocument(document, *model, tokenizer);
        if (!reading) {
            fmt::print(stderr, "{}Left out: {}\n", told ? "\r\033[K" : "", reading.error().message);
            ++tooLong;
            continue;
        }
        lines += toJson(*reading).dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
        readings.push_back(std::move(*reading));
        if (told)
            fmt::print(stderr, "\r{} of {} documents", readings.size(), documents.size() - tooLong);
    }
    if (told)
        fmt::print(stderr, "\r\033[K");
    if (!options.out.empty())
        CUDA_AGENT_TRY(writeFileAtomically(options.out, lines));
    if (readings.empty() && !stop.stop_requested())
        return requestError("no document of {} can be read by {}", options.corpus,
                            weights.folder.string());
    fmt::print("{}", summaryOf(std::move(readings), options.worst));
    return stop.stop_requested() ? 130 : 0;
}

} // namespace

std::function<Result<int>(const std::stop_token &)> addMistakes(CLI::App &app) {
    const auto options = std::make_shared<Options>();
    app.add_option("CORPUS", options->corpus, "corpus.jsonl.gz, as cuda-agent corpus makes it")
        ->required();
    app.add_option("--weights", options->weights,
                   "Folder with config.json, model.safetensors and tokenizer.json (default: those "
                   "that came with the program)");
    app.add_option("--split", options->split, "Documents of this split, or \"all\"")
        ->capture_default_str();
    app.add_option("--documents", options->documents, "Only so many of them, the first ones")
        ->check(CLI::PositiveNumber);
    app.add_option("--worst", options->worst, "Documents to tell of, the least likely first")
        ->capture_default_str();
    app.add_option("--out", options->out,
                   "Write a line of JSON for each document, with all of its mistakes");
    app.add_option("--device", options->device, "Where to compute")
        ->check(CLI::IsMember({"auto", "cuda", "cpu"}))
        ->capture_default_str();
    app.add_option("--threads", options->threads, "Threads of PyTorch on a CPU")
        ->check(CLI::Range(1, 1024));
    return [options](const std::stop_token &stop) { return mistakes(*options, stop); };
}

} // namespace cuda_agent::app
