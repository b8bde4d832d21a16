// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/serve/server.h"

#include "core/base/json.h"
#include "core/learn/model/device.h"
#include "core/learn/serve/told_conversation.h"
#include "core/policy/transformer/weights.h"

#include <ATen/Parallel.h>

#include <sys/socket.h>

#include <map>
#include <mutex>
#include <thread>

namespace cuda_agent::learn {

namespace {

using policy::Drawing;

constexpr std::int64_t longestContext = 16'384; ///< tokens; keys of more are memory wasted
constexpr std::size_t mostConversations = 1024;
constexpr std::size_t mostDrawings = 8; ///< each has rows of its own

/// Whether the other end has closed the socket, and nothing stands in it.
bool hasEnded(int fd) {
    char byte = 0;
    return ::recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

struct Model {
    Tokenizer tokenizer;
    Transformer transformer;
    std::int32_t turnEnd, textEnd;
    policy::ModelFacts facts;
    std::vector<std::int32_t> history; ///< what such conversations look like, to guess by
    Result<std::shared_ptr<const TokenMasks>> masks; ///< or what it lacks for a grammar
};

Result<Model> load(const ServeRequest &request) {
    if (request.threads > 0)
        at::set_num_threads(request.threads);
    CUDA_AGENT_ASSIGN(weights, policy::readWeights(request.weights));
    CUDA_AGENT_ASSIGN(device, deviceNamed(request.device));
    CUDA_AGENT_ASSIGN(tokenizer, Tokenizer::load(weights.folder / "tokenizer.json"));
    const auto turnEnd = tokenizer.id(chat::imEnd), textEnd = tokenizer.id(chat::endOfText);
    if (!turnEnd || !textEnd)
        return requestError("{}: the tokenizer lacks {}", weights.folder.string(),
                            turnEnd ? chat::endOfText : chat::imEnd);
    auto transformer = Transformer::load(weights.folder, Transformer::Head::logits, device,
                                         device.is_cuda() ? at::kBFloat16 : at::kFloat);
    if (!transformer)
        return tl::unexpected(transformer.error());
    if (device.is_cuda()) // where they cannot be had, writing is slower and nothing else
        (void)transformer->useFusedKernels(true);
    const auto &config = transformer->config();
    if (static_cast<std::size_t>(config.vocabulary) < tokenizer.size())
        return requestError("{}: the tokenizer has {} tokens, the model {}",
                            weights.folder.string(), tokenizer.size(), config.vocabulary);
    policy::ModelFacts facts;
    facts.name = weights.name;
    facts.sha256 = weights.sha256;
    facts.device = device.is_cuda() ? "cuda" : "cpu";
    facts.parameters = config.parameters();
    facts.context = std::min(config.positions, longestContext);
    facts.vocabulary = config.vocabulary;
    facts.rows = request.rows > 0 ? request.rows : device.is_cuda() ? 64 : 4;
    auto masks = TokenMasks::ofTools(tokenizer, config.vocabulary);
    facts.grammar = masks.has_value();
    facts.program = CUDA_AGENT_VERSION;
    std::vector<std::int32_t> history;
    if (const auto typical = weights.folder / "typical.txt"; std::filesystem::exists(typical)) {
        CUDA_AGENT_ASSIGN(text, readTextFile(typical));
        history = tokenizer.encode(text);
    }
    return Model{std::move(tokenizer), std::move(*transformer), *turnEnd,        *textEnd,
                 std::move(facts),     std::move(history),      std::move(masks)};
}

/// Members are in the order in which they need each other: requests, conversations, generators.
class Server {
  public:
    Server(Model model, Drawing drawing, Channel reading, Channel writing)
        : model_(std::move(model)), usual_(drawing), reading_(std::move(reading)),
          writing_(std::move(writing)) {}
    Server(const Server &) = delete;
    Server &operator=(const Server &) = delete;
    ~Server() {
        for (auto &[id, thread] : running_)
            thread.request_stop();
        running_.clear();
    }

    Result<void> run(const std::stop_token &stop) {
        CUDA_AGENT_TRY(send({{"ready", toJson(model_.facts)}}));
        for (;;) {
            auto message = reading_.receive(std::chrono::milliseconds(0), stop);
            if (!message) {
                const auto &error = message.error();
                if (error.kind == ErrorKind::stopped)
                    return stoppedError();
                if (hasEnded(reading_.fd()))
                    return {};
                return requestError("this is not the protocol of cuda-agent's workers: {}",
                                    error.message);
            }
            sweep();
            const auto &body = message->body;
            if (const auto done = handle(body); !done)
                answer(body.value("id", Json()), tl::unexpected(done.error()));
        }
    }

  private:
    struct Seat {
        std::unique_ptr<ToldConversation> conversation;
        std::int64_t request = 0; ///< that writes in it; under the mutex
    };
    using Answer = std::function<Result<Json>(const std::stop_token &)>;

    /// An error is the answer to the message; else there is one, or will be.
    Result<void> handle(const Json &body) {
        const auto text = body.value("op", Json());
        const auto op = text.is_string() ? text.get<std::string>() : std::string();
        if (op == "close") {
            CUDA_AGENT_ASSIGN(number, wholeNumber(body, "conversation"));
            return close(number);
        }
        CUDA_AGENT_ASSIGN(id, wholeNumber(body, "id"));
        if (op == "cancel") {
            if (const auto found = running_.find(id); found != running_.end())
                found->second.request_stop();
            return {};
        }
        if (running_.contains(id))
            return requestError("the request {} is under way already", id);
        if (op == "open")
            return open(id, body);
        if (op == "write")
            return write(id, body);
        return requestError("op must be open, write, cancel or close");
    }

    static Result<std::int64_t> wholeNumber(const Json &body, const char *name) {
        const auto found = body.find(name);
        if (found == body.end() || !found->is_number_integer())
            return requestError("{} must be a whole number", name);
        return found->get<std::int64_t>();
    }

    Result<void> open(std::int64_t id, const Json &body) {
        CUDA_AGENT_ASSIGN(drawing, policy::drawingFrom(body, usual_));
        CUDA_AGENT_ASSIGN(generator, generatorFor(drawing));
        {
            const std::lock_guard lock(mutex_);
            if (seats_.size() + opening_ >= mostConversations)
                return requestError("{} conversations are open; close some", mostConversations);
            ++opening_;
        }
        start(id, [this, generator, drawing](const std::stop_token &stop) -> Result<Json> {
            auto conversation = ToldConversation::open(*generator, model_.tokenizer,
                                                       {drawing.longestTurn, model_.textEnd}, stop);
            const std::lock_guard lock(mutex_);
            --opening_;
            if (!conversation)
                return tl::unexpected(conversation.error());
            auto seat = std::make_shared<Seat>();
            seat->conversation = std::move(*conversation);
            seats_[++lastSeat_] = std::move(seat);
            return Json{{"conversation", lastSeat_}};
        });
        return {};
    }

    Result<void> write(std::int64_t id, const Json &body) {
        CUDA_AGENT_ASSIGN(number, wholeNumber(body, "conversation"));
        CUDA_AGENT_ASSIGN(turn, policy::turnRequestFrom(body));
        const auto stream = body.value("stream", Json(false));
        if (!stream.is_boolean())
            return requestError("stream must be true or false");
        CUDA_AGENT_ASSIGN(segments, policy::segmentsFrom(body.value("segments", Json())));
        std::shared_ptr<Seat> seat;
        {
            const std::lock_guard lock(mutex_);
            const auto found = seats_.find(number);
            if (found == seats_.end())
                return requestError("there is no conversation {}", number);
            seat = found->second;
            if (seat->request != 0)
                return requestError("conversation {} is being written", number);
            seat->request = id;
        }
        ToldConversation::Tell tell;
        if (stream.get<bool>())
            tell = [this, id](const std::string &piece) {
                (void)send({{"id", id}, {"piece", piece}}); // as answer()
            };
        start(id,
              [this, seat, segments = std::move(segments), tell = std::move(tell),
               turn = std::move(turn)](const std::stop_token &stop) -> Result<Json> {
                  auto written = seat->conversation->write(segments, turn, tell, stop);
                  const std::lock_guard lock(mutex_);
                  seat->request = 0;
                  if (!written)
                      return tl::unexpected(written.error());
                  return policy::toJson(*written);
              });
        return {};
    }

    Result<void> close(std::int64_t number) {
        std::shared_ptr<Seat> seat; // goes when the mutex is free
        std::int64_t request = 0;
        {
            const std::lock_guard lock(mutex_);
            const auto found = seats_.find(number);
            if (found == seats_.end())
                return requestError("there is no conversation {}", number);
            seat = std::move(found->second);
            seats_.erase(found);
            request = seat->request;
        }
        if (const auto found = running_.find(request); request != 0 && found != running_.end())
            found->second.request_stop(); // its thread has the seat until then
        return {};
    }

    Result<Generator *> generatorFor(const Drawing &drawing) {
        const std::tuple key(drawing.temperature, drawing.topP, drawing.grammar);
        if (const auto found = generators_.find(key); found != generators_.end())
            return found->second.get();
        if (generators_.size() >= mostDrawings)
            return requestError("{} kinds of temperature, top_p and grammar are in use; take one "
                                "of those",
                                mostDrawings);
        if (drawing.grammar && !model_.masks)
            return tl::unexpected(model_.masks.error());
        Generator::Options options;
        options.rows = model_.facts.rows;
        options.context = model_.facts.context;
        options.endToken = model_.turnEnd;
        options.sampling = {drawing.temperature, drawing.topP};
        options.masks = drawing.grammar ? *model_.masks : nullptr;
        options.history = model_.history;
        try {
            auto made = std::make_unique<Generator>(model_.transformer, options);
            return generators_.emplace(key, std::move(made)).first->second.get();
        } catch (const c10::Error &error) {
            return machineError("{} conversations of {} tokens: {}; ask for fewer --rows",
                                options.rows, options.context, error.what_without_backtrace());
        }
    }

    /// Has a thread of its own answer the request.
    void start(std::int64_t id, Answer work) {
        running_[id] =
            std::jthread([this, id, work = std::move(work)](const std::stop_token &stop) {
                auto done = [&]() -> Result<Json> {
                    try {
                        return work(stop);
                    } catch (const c10::Error &error) {
                        return machineError("{}", error.what_without_backtrace());
                    } catch (const std::exception &error) {
                        return machineError("{}", error.what());
                    }
                }();
                answer(id, std::move(done));
                const std::lock_guard lock(mutex_);
                done_.push_back(id);
            });
    }

    /// Joins the threads that have answered.
    void sweep() {
        std::vector<std::int64_t> done;
        {
            const std::lock_guard lock(mutex_);
            done.swap(done_);
        }
        for (const auto id : done)
            running_.erase(id);
    }

    /// Whoever does not read any more is found gone by the next receive.
    void answer(const Json &id, Result<Json> result) {
        auto body = result ? std::move(*result) : Json{{"error", policy::toJson(result.error())}};
        if (result)
            body["ok"] = true;
        if (!id.is_null())
            body["id"] = id;
        (void)send(body);
    }

    Result<void> send(const Json &body) {
        const std::lock_guard lock(sending_);
        return writing_.send(body);
    }

    Model model_;
    Drawing usual_;
    Channel reading_;
    std::mutex sending_;
    Channel writing_;

    std::map<std::tuple<double, double, bool>, std::unique_ptr<Generator>> generators_;
    std::mutex mutex_;
    std::map<std::int64_t, std::shared_ptr<Seat>> seats_;
    std::int64_t lastSeat_ = 0;
    std::size_t opening_ = 0; ///< wait for a row
    std::vector<std::int64_t> done_;
    std::map<std::int64_t, std::jthread> running_; ///< by the request that they answer
};

Result<void> serveAll(const ServeRequest &request, Channel &writing, const std::stop_token &stop) {
    UniqueFd reading(::dup(writing.fd()));
    if (!reading)
        return machineError("cannot serve on descriptor {}", writing.fd());
    UniqueFd telling(::dup(writing.fd()));
    CUDA_AGENT_ASSIGN(model, load(request));
    Server server(std::move(model), request.drawing, Channel(std::move(reading)),
                  Channel(std::move(telling)));
    return server.run(stop);
}

} // namespace

Result<void> serve(const ServeRequest &request, Channel channel, const std::stop_token &stop) {
    auto done = [&]() -> Result<void> {
        try {
            return serveAll(request, channel, stop);
        } catch (const c10::Error &error) { // PyTorch's way to say that memory is short
            return machineError("{}", error.what_without_backtrace());
        }
    }();
    if (!done && done.error().kind != ErrorKind::stopped)
        (void)channel.send({{"error", policy::toJson(done.error())}});
    return done;
}

} // namespace cuda_agent::learn
