// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/endpoint/http.h"

#include <curl/curl.h>

#include <algorithm>
#include <memory>
#include <mutex>

namespace cuda_agent::policy {

namespace {

struct Exchange {
    HttpExchange result;
    const std::function<void(std::string_view)> *onData = nullptr;
    std::stop_token stop;
    CURL *curl = nullptr;
    std::size_t bytes = 0;
    std::size_t mostBytes = 0;
    bool tooLarge = false;
};

std::string lower(std::string text) {
    std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
    return text;
}

std::string trimmed(std::string_view text) {
    const auto first = text.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos)
        return {};
    return std::string(text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1));
}

std::size_t takeHeader(char *data, std::size_t size, std::size_t count, void *user) {
    auto &exchange = *static_cast<Exchange *>(user);
    const std::string_view line(data, size * count);
    if (line.starts_with("HTTP/")) // an interim answer, such as 100, came before
        exchange.result.headers.clear();
    if (const auto colon = line.find(':'); colon != std::string_view::npos)
        exchange.result.headers[lower(std::string(line.substr(0, colon)))] =
            trimmed(line.substr(colon + 1));
    return size * count;
}

std::size_t takeBody(char *data, std::size_t size, std::size_t count, void *user) {
    auto &exchange = *static_cast<Exchange *>(user);
    const std::string_view piece(data, size * count);
    exchange.bytes += piece.size();
    if (exchange.bytes > exchange.mostBytes) {
        exchange.tooLarge = true;
        return 0; // ends the transfer
    }
    long status = 0;
    curl_easy_getinfo(exchange.curl, CURLINFO_RESPONSE_CODE, &status);
    const auto type = exchange.result.headers.find("content-type");
    const bool html =
        type != exchange.result.headers.end() && lower(type->second).starts_with("text/html");
    if (status / 100 == 2 && !html && exchange.onData && *exchange.onData)
        (*exchange.onData)(piece);
    else
        exchange.result.body.append(piece);
    return piece.size();
}

int watchStop(void *user, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
    return static_cast<Exchange *>(user)->stop.stop_requested() ? 1 : 0;
}

HttpExchange::Problem problemOf(CURLcode code) {
    using Problem = HttpExchange::Problem;
    switch (code) {
    case CURLE_OK:
        return Problem::none;
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_CONNECT:
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_PEER_FAILED_VERIFICATION:
        return Problem::connect;
    case CURLE_OPERATION_TIMEDOUT:
        return Problem::timeout;
    case CURLE_PARTIAL_FILE:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
    case CURLE_GOT_NOTHING:
    case CURLE_HTTP2_STREAM:
        return Problem::cut;
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL:
        return Problem::badUrl;
    default:
        return Problem::other;
    }
}

struct Cleanup {
    void operator()(CURL *curl) const { curl_easy_cleanup(curl); }
    void operator()(curl_slist *list) const { curl_slist_free_all(list); }
};

} // namespace

Result<HttpExchange> postHttp(const HttpRequest &request,
                              const std::function<void(std::string_view)> &onData,
                              std::stop_token stop) {
    static std::once_flag once;
    std::call_once(once, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });
    const std::unique_ptr<CURL, Cleanup> curl(curl_easy_init());
    if (!curl)
        return machineError("libcurl cannot be set up");
    Exchange exchange;
    exchange.onData = &onData;
    exchange.stop = stop;
    exchange.curl = curl.get();
    exchange.mostBytes = request.mostBytes;

    std::unique_ptr<curl_slist, Cleanup> headers;
    for (const auto &[name, value] : request.headers) {
        curl_slist *longer =
            curl_slist_append(headers.get(), fmt::format("{}: {}", name, value).c_str());
        static_cast<void>(headers.release());
        headers.reset(longer);
    }
    char reason[CURL_ERROR_SIZE] = "";
    CURL *c = curl.get();
    curl_easy_setopt(c, CURLOPT_URL, request.url.c_str());
    curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(c, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(c, CURLOPT_HTTPHEADER, headers.get());
    curl_easy_setopt(c, CURLOPT_POSTFIELDS, request.body.data());
    curl_easy_setopt(c, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
    curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(request.connectSeconds * 1e3));
    curl_easy_setopt(c, CURLOPT_LOW_SPEED_LIMIT, 1L);
    curl_easy_setopt(c, CURLOPT_LOW_SPEED_TIME,
                     std::max(1L, static_cast<long>(request.idleSeconds)));
    curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(c, CURLOPT_ERRORBUFFER, reason);
    curl_easy_setopt(c, CURLOPT_HEADERFUNCTION, takeHeader);
    curl_easy_setopt(c, CURLOPT_HEADERDATA, &exchange);
    curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, takeBody);
    curl_easy_setopt(c, CURLOPT_WRITEDATA, &exchange);
    curl_easy_setopt(c, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(c, CURLOPT_XFERINFOFUNCTION, watchStop);
    curl_easy_setopt(c, CURLOPT_XFERINFODATA, &exchange);

    // A multi handle, so that a stop is seen at once and not at libcurl's next second.
    const std::unique_ptr<CURLM, decltype(&curl_multi_cleanup)> multi(curl_multi_init(),
                                                                      &curl_multi_cleanup);
    if (!multi)
        return machineError("libcurl cannot be set up");
    curl_multi_add_handle(multi.get(), c);
    const std::stop_callback wake(stop, [&] { curl_multi_wakeup(multi.get()); });
    CURLcode code = CURLE_OK;
    for (int running = 1; running > 0 && !stop.stop_requested();) {
        curl_multi_perform(multi.get(), &running);
        int left = 0;
        while (const CURLMsg *message = curl_multi_info_read(multi.get(), &left))
            if (message->msg == CURLMSG_DONE)
                code = message->data.result;
        if (running > 0)
            curl_multi_poll(multi.get(), nullptr, 0, 500, nullptr);
    }
    long status = 0;
    curl_easy_getinfo(c, CURLINFO_RESPONSE_CODE, &status);
    curl_multi_remove_handle(multi.get(), c);
    if (stop.stop_requested())
        return stoppedError();
    auto &result = exchange.result;
    result.status = static_cast<int>(status);
    result.problem = exchange.tooLarge ? HttpExchange::Problem::tooLarge : problemOf(code);
    if (result.problem != HttpExchange::Problem::none)
        result.message = exchange.tooLarge
                             ? fmt::format("the answer is longer than {} bytes", request.mostBytes)
                             : std::string(reason[0] ? reason : curl_easy_strerror(code));
    return std::move(result);
}

} // namespace cuda_agent::policy
