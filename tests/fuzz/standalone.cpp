// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

// Drives a fuzzing target where there is no libFuzzer (g++): gives it every file of the corpus, and
// for some seconds changed copies of them. No coverage guides it; it repeats what libFuzzer found.
// Usage: fuzz_NAME [-max_total_time=SECONDS] [-seed=NUMBER] FOLDER_OR_FILE...

#include "tests/fuzz/fuzz.h"

#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <unistd.h>
#include <vector>

namespace {

using Bytes = std::string;

const Bytes *running = nullptr;
constexpr unsigned longestSeconds = 10; ///< for one input
constexpr std::size_t longestInput = 16'384;

/// Keeps the input at hand, so that the finding can be looked at.
void keep(const char *why) {
    const char file[] = "fuzz-finding";
    if (running != nullptr)
        std::ofstream(file, std::ios::binary) << *running;
    std::fprintf(stderr, "%s; the input is in %s/%s\n", why,
                 std::filesystem::current_path().c_str(), file);
}

void onSignal(int number) {
    keep(number == SIGALRM ? "an input takes too long" : "an input ends the program");
    std::signal(number, SIG_DFL);
    if (number == SIGALRM)
        std::_Exit(70);
    std::raise(number);
}

void run(const Bytes &input) {
    running = &input;
    alarm(longestSeconds);
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t *>(input.data()), input.size());
    alarm(0);
    running = nullptr;
}

Bytes readFile(const std::filesystem::path &file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

class Changer {
  public:
    Changer(const std::vector<Bytes> &all, std::uint64_t seed) : all_(all), random_(seed) {}

    Bytes changed() {
        Bytes bytes = all_[below(all_.size())];
        for (std::size_t times = 1 + below(4); times > 0; --times)
            change(bytes);
        if (bytes.size() > longestInput)
            bytes.resize(longestInput);
        return bytes;
    }

  private:
    std::size_t below(std::size_t end) { return end == 0 ? 0 : random_() % end; }

    void change(Bytes &bytes) {
        static const char *const words[] = {"-1",
                                            "0",
                                            "9223372036854775807",
                                            "-9223372036854775808",
                                            "1e308",
                                            "null",
                                            "true",
                                            "[]",
                                            "{}",
                                            "\"\"",
                                            "[[[[",
                                            "\\ud800",
                                            "\xff",
                                            "NaN",
                                            "18446744073709551616",
                                            "%",
                                            "\n",
                                            "in0.shape[0]"};
        const std::size_t at = below(bytes.size() + 1);
        const std::size_t count =
            std::min(1 + below(16), bytes.size() - std::min(at, bytes.size()));
        switch (below(6)) {
        case 0:
            if (at < bytes.size())
                bytes[at] = static_cast<char>(random_());
            break;
        case 1:
            bytes.erase(at, count);
            break;
        case 2:
            bytes.insert(at, bytes.substr(at, count));
            break;
        case 3:
            bytes.insert(at, words[below(std::size(words))]);
            break;
        case 4: { // a piece of another input
            const Bytes &other = all_[below(all_.size())];
            const std::size_t from = below(other.size() + 1);
            bytes.insert(at, other.substr(from, 1 + below(64)));
            break;
        }
        default: // a number by another
            for (std::size_t i = at; i < bytes.size(); ++i)
                if (bytes[i] >= '0' && bytes[i] <= '9') {
                    bytes.replace(i, 1, words[below(5)]);
                    break;
                }
        }
    }

    const std::vector<Bytes> &all_;
    std::mt19937_64 random_;
};

} // namespace

int main(int argc, char **argv) {
    double seconds = 0;
    std::uint64_t seed = 1;
    std::vector<Bytes> all;
    for (int i = 1; i < argc; ++i) {
        const std::string argument = argv[i];
        if (argument.starts_with("-max_total_time="))
            seconds = std::atof(argument.c_str() + std::strlen("-max_total_time="));
        else if (argument.starts_with("-seed="))
            seed = std::strtoull(argument.c_str() + std::strlen("-seed="), nullptr, 10);
        else if (std::filesystem::is_directory(argument)) {
            for (const auto &entry : std::filesystem::directory_iterator(argument))
                all.push_back(readFile(entry.path()));
        } else if (std::filesystem::is_regular_file(argument))
            all.push_back(readFile(argument));
        else {
            std::fprintf(stderr, "there is no corpus %s\n", argument.c_str());
            return 2;
        }
    }
    if (all.empty()) {
        std::fputs("usage: fuzz_NAME [-max_total_time=SECONDS] [-seed=NUMBER] CORPUS...\n", stderr);
        return 2;
    }
    for (const int number : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGALRM})
        std::signal(number, onSignal);
    for (const auto &input : all)
        run(input);
    Changer changer(all, seed);
    const auto begin = std::chrono::steady_clock::now();
    std::size_t runs = all.size();
    while (std::chrono::steady_clock::now() - begin < std::chrono::duration<double>(seconds)) {
        run(changer.changed());
        ++runs;
    }
    std::printf("%zu inputs, nothing found\n", runs);
    return 0;
}
