// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/transformer/model_process.h"

#include "core/base/channel.h"
#include "core/base/paths.h"
#include "core/base/plain_text.h"
#include "core/device/lease.h"
#include "core/sandbox/launcher.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <map>
#include <mutex>
#include <sstream>
#include <thread>

namespace cuda_agent::policy {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

namespace {

constexpr int channelFd = 3;
constexpr std::size_t mostWords = 2000; ///< of what it said before it died
constexpr auto farewell = 3s;           ///< to end by itself

std::vector<std::string> environmentHere() {
    std::vector<std::string> all;
    for (char **each = environ; each && *each; ++each)
        all.emplace_back(*each);
    return all;
}

/// The last lines of a file in memory as one, with nothing that a terminal would obey.
std::string lastLines(int fd) {
    const auto size = ::lseek(fd, 0, SEEK_END);
    const auto from = std::max<off_t>(0, size - static_cast<off_t>(mostWords));
    std::string text(static_cast<std::size_t>(std::max<off_t>(0, size - from)), '\0');
    const auto count = ::pread(fd, text.data(), text.size(), from);
    text.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
    std::istringstream in(text);
    std::string line, lines;
    while (std::getline(in, line))
        if (line.find_first_not_of(" \t\r") != line.npos)
            lines += (lines.empty() ? "" : " / ") + plainLine(line, 500);
    return lines;
}

std::string howItEnded(int status) {
    if (WIFSIGNALED(status))
        return fmt::format("was ended by signal {} ({})", WTERMSIG(status),
                           ::strsignal(WTERMSIG(status)));
    return fmt::format("ended with exit code {}", WEXITSTATUS(status));
}

Result<std::vector<std::string>> commandOf(const ModelOptions &options) {
    auto command = options.program;
    if (command.empty()) {
        CUDA_AGENT_ASSIGN(program, modelProgram());
        command = {program.string(), "serve"};
    }
    command.insert(command.end(), {"--weights", options.weights.string()});
    command.insert(command.end(), {"--device", options.device});
    if (options.rows > 0)
        command.insert(command.end(), {"--rows", std::to_string(options.rows)});
    if (options.threads > 0)
        command.insert(command.end(), {"--threads", std::to_string(options.threads)});
    return command;
}

} // namespace

/// The process, and who waits for which of its answers.
class ModelProcess::Link {
  public:
    static Result<std::shared_ptr<Link>> start(const ModelOptions &options,
                                               const std::stop_token &stop) {
        CUDA_AGENT_ASSIGN(command, commandOf(options));
        auto link = std::make_shared<Link>();
        CUDA_AGENT_ASSIGN(pair, Channel::makePair());
        link->words_ = UniqueFd(::memfd_create("model-words", MFD_CLOEXEC));
        const UniqueFd nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
        UniqueFd reading(::fcntl(pair.first.fd(), F_DUPFD_CLOEXEC, 0));
        if (!link->words_ || !nothing || !reading)
            return machineError("cannot start the model's process: {}", std::strerror(errno));
        link->writing_ = std::move(pair.first);
        link->reading_ = Channel(std::move(reading));
        sandbox::Launch launch;
        launch.argv = std::move(command);
        launch.environment = environmentHere();
        launch.fds = {{nothing.get(), 0},
                      {link->words_.get(), 1},
                      {link->words_.get(), 2},
                      {pair.second.get(), channelFd}};
        CUDA_AGENT_ASSIGN(pid, sandbox::launch(launch));
        link->pid_ = pid;
        pair.second.reset(); // only the process has it: its end is our end of input
        CUDA_AGENT_TRY(link->welcome(options, stop));
        link->reader_ =
            std::jthread([self = link.get()](const std::stop_token &ended) { self->read(ended); });
        return link;
    }

    ~Link() {
        if (reader_.joinable()) {
            reader_.request_stop();
            reader_.join();
        }
        writing_.close();
        reading_.close();
        end(farewell);
    }

    const ModelFacts &facts() const { return facts_; }
    const device::Info &device() const { return device_; }
    int pid() const { return pid_; }

    /// Sends a request and waits for its answer; pieces that come before it go to `streamed`, which
    /// may be null. A stop cancels it there, and waits no more.
    Result<Json> ask(Json request, const std::stop_token &stop, const Streamed &streamed = {}) {
        std::unique_lock lock(mutex_);
        const auto id = ++lastId_;
        request["id"] = id;
        auto &asked = waiting_[id];
        lock.unlock();
        const auto sent = tell(request);
        lock.lock();
        // What the process said before it went tells more than that nobody listens.
        const auto over = [&] { return death_ || asked.answer; };
        if (!sent)
            arrived_.wait_for(lock, farewell, over);
        Result<void> heard;
        while (sent && heard &&
               arrived_.wait(lock, stop, [&] { return over() || !asked.pieces.empty(); })) {
            const auto piece = std::exchange(asked.pieces, {});
            if (piece.empty())
                break; // it is over
            lock.unlock();
            if (streamed)
                heard = streamed(piece);
            lock.lock();
        }
        const auto answer = std::move(asked.answer);
        waiting_.erase(id);
        if (answer && heard) {
            if (const auto error = answer->find("error"); error != answer->end())
                return tl::unexpected(errorFrom(*error));
            return *answer;
        }
        if (death_ && heard)
            return tl::unexpected(*death_);
        lock.unlock();
        if (!sent)
            return tl::unexpected(sent.error());
        if (!answer)
            (void)tell({{"op", "cancel"}, {"id", id}});
        return heard ? stoppedError() : tl::unexpected(heard.error());
    }

    /// Sends what needs no answer. Errors: machine.
    Result<void> tell(const Json &message) {
        const std::lock_guard lock(sending_);
        return writing_.send(message);
    }

  private:
    Result<void> welcome(const ModelOptions &options, const std::stop_token &stop) {
        auto message = reading_.receive(options.patience, stop);
        if (!message && message.error().kind == ErrorKind::stopped) {
            end(0ms);
            return stoppedError();
        }
        if (!message)
            return tl::unexpected(deathBy(message.error().message));
        if (const auto error = message->body.find("error"); error != message->body.end())
            return tl::unexpected(errorFrom(*error));
        CUDA_AGENT_ASSIGN(facts, factsFrom(message->body.value("ready", Json())));
        facts_ = std::move(facts);
        auto device = facts_.device == "cuda" ? device::openCuda(facts_.index) : device::openCpu();
        if (!device)
            return tl::unexpected(device.error());
        device_ = (*device)->info();
        return {};
    }

    void read(const std::stop_token &ended) {
        for (;;) {
            auto message = reading_.receive(0ms, ended);
            if (!message && message.error().kind == ErrorKind::stopped)
                return;
            std::unique_lock lock(mutex_);
            if (!message) {
                lock.unlock();
                auto error = deathBy(message.error().message);
                lock.lock();
                death_ = std::move(error);
                arrived_.notify_all();
                return;
            }
            const auto id = message->body.find("id");
            if (id == message->body.end() || !id->is_number_integer())
                continue; // belongs to nobody
            const auto found = waiting_.find(id->get<std::int64_t>());
            const auto piece = message->body.find("piece");
            if (found != waiting_.end()) {
                if (piece == message->body.end())
                    found->second.answer = std::move(message->body);
                else if (piece->is_string())
                    found->second.pieces += piece->get<std::string>();
                arrived_.notify_all();
                continue;
            }
            lock.unlock(); // nobody waits any more; nor will anybody close what was opened
            if (const auto opened = message->body.find("conversation");
                opened != message->body.end())
                (void)tell({{"op", "close"}, {"conversation", *opened}});
        }
    }

    /// Why nothing more will come, in words; the process is over then.
    Error deathBy(const std::string &heard) {
        const bool mine = end(1s); // it did not go by itself: it talks nonsense, or not at all
        const auto words = lastLines(words_.get());
        auto message = mine ? "the model's process was ended, for " + heard
                            : "the model's process " + howItEnded(status_);
        if (!words.empty())
            message += ": " + words;
        if (words.find("error while loading shared libraries") != words.npos)
            message += fmt::format("; it needs PyTorch's libraries: {}, or name their folder in "
                                   "LD_LIBRARY_PATH",
                                   setupCommand());
        return {ErrorKind::machine, std::move(message)};
    }

    /// Waits for the process, and ends it where it does not go. True if it had to be ended.
    bool end(std::chrono::milliseconds patience) {
        if (pid_ <= 0 || over_)
            return false;
        over_ = true;
        const auto until = std::chrono::steady_clock::now() + patience;
        for (;;) {
            const auto found = ::waitpid(pid_, &status_, WNOHANG);
            if (found == pid_ || (found < 0 && errno != EINTR))
                return false;
            if (std::chrono::steady_clock::now() >= until)
                break;
            std::this_thread::sleep_for(5ms);
        }
        ::kill(-pid_, SIGKILL);
        sandbox::reapNow(pid_);
        return true;
    }

    pid_t pid_ = 0;
    int status_ = 0;
    bool over_ = false; ///< the process is; touched by the reader, and by others before and after
    UniqueFd words_;    ///< what it prints
    ModelFacts facts_;
    device::Info device_;

    std::mutex sending_;
    Channel writing_, reading_; ///< two ends of one socket, each for one thread at a time

    std::mutex mutex_;
    std::condition_variable_any arrived_;
    std::int64_t lastId_ = 0;
    struct Asked {
        std::optional<Json> answer;
        std::string pieces; ///< that came before it, and nobody has taken yet
    };
    std::map<std::int64_t, Asked> waiting_; ///< by the request; references to entries stay good
    std::optional<Error> death_;
    std::jthread reader_;
};

class ModelProcess::Remote : public Conversation {
  public:
    Remote(std::shared_ptr<Link> link, std::int64_t number, Streamed streamed)
        : link_(std::move(link)), number_(number), streamed_(std::move(streamed)) {}
    ~Remote() override {
        // Where the process has gone there is nothing to close.
        (void)link_->tell({{"op", "close"}, {"conversation", number_}});
    }
    Remote(const Remote &) = delete;
    Remote &operator=(const Remote &) = delete;

    Result<Written> write(const std::vector<chat::Segment> &segments, const TurnRequest &turn,
                          std::stop_token stop) override {
        CUDA_AGENT_ASSIGN(lease, device::Lease::share(link_->device(), stop));
        (void)lease;
        auto request = toJson(turn);
        request["op"] = "write";
        request["conversation"] = number_;
        request["stream"] = streamed_ != nullptr;
        request["segments"] = toJson(segments);
        CUDA_AGENT_ASSIGN(answer, link_->ask(std::move(request), stop, streamed_));
        return writtenFrom(answer);
    }

  private:
    std::shared_ptr<Link> link_;
    std::int64_t number_;
    Streamed streamed_;
};

Result<fs::path> modelProgram() {
    auto program = workerDir() / "cuda-agent-learn";
    if (::access(program.c_str(), X_OK) != 0)
        return machineError("{}: {}; --policy transformer needs it, and it is built with "
                            "PyTorch's libraries: {}",
                            program.string(), std::strerror(errno), setupCommand());
    return program;
}

Result<std::shared_ptr<ModelProcess>> ModelProcess::start(const ModelOptions &options,
                                                          const std::stop_token &stop) {
    CUDA_AGENT_ASSIGN(link, Link::start(options, stop));
    return std::shared_ptr<ModelProcess>(new ModelProcess(std::move(link)));
}

ModelProcess::~ModelProcess() = default;

const ModelFacts &ModelProcess::facts() const {
    return link_->facts();
}

int ModelProcess::pid() const {
    return link_->pid();
}

Result<std::unique_ptr<Conversation>>
ModelProcess::open(const Drawing &drawing, const std::stop_token &stop, Streamed streamed) {
    auto request = toJson(drawing);
    request["op"] = "open";
    CUDA_AGENT_ASSIGN(answer, link_->ask(std::move(request), stop));
    const auto number = answer.find("conversation");
    if (number == answer.end() || !number->is_number_integer())
        return machineError("the model's process opened a conversation without a number");
    return std::make_unique<Remote>(link_, number->get<std::int64_t>(), std::move(streamed));
}

} // namespace cuda_agent::policy
