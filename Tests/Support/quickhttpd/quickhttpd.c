// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0
//
// A small file server for tests and benches: fast enough not to be what is measured, and able to misbehave.
// usage: quickhttpd [-a ADDRESS] [-v] PORT DIR     prints "quickhttpd: port N" once it listens
//
// A thread for each connection, keep-alive, ranges. Words before the path change the answer; several may follow one
// another. N may be left out.
//   /slow/N/PATH       the body at N bytes a second (32768)
//   /stall/N/PATH      N bytes of the body (32768), then nothing until the client goes
//   /cut/N/PATH        N bytes of the body (32768), then the connection is closed
//   /status/N/PATH     the status N without a file (404)
//   /redirect/N/PATH   a redirection to PATH with status N (302)
//   /norange/PATH      ranges are ignored and not offered
//   /nolength/PATH     no length is told; the end of the connection ends the body
//   /headers/PATH      the request's headers are printed, as lines "header: NAME: VALUE"
// With -v each request is printed with its time.

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { HEAD_LIMIT = 16384, PATH_LIMIT = 4096, DEFAULT_BYTES = 32768 };

static const char *directory;
static bool is_verbose;

// What one request wants.
struct request {
    bool is_head;
    bool has_range;
    off_t from, to;  // `to` below zero: up to the end
    char path[PATH_LIMIT];
    long slow, stall, cut, status, redirect;  // below zero: not asked for
    bool ignores_range, hides_length, prints_headers;
};

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static bool send_all(int client, const char *bytes, size_t count, int flags)
{
    while (count > 0) {
        ssize_t sent = send(client, bytes, count, MSG_NOSIGNAL | flags);
        if (sent <= 0)
            return false;
        bytes += sent;
        count -= (size_t)sent;
    }
    return true;
}

static int hex_digit(char digit)
{
    if (digit >= '0' && digit <= '9')
        return digit - '0';
    digit |= 0x20;
    return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

// Decodes %XX in place and cuts the query.
static void decode(char *path)
{
    char *to = path;
    for (const char *from = path; *from != 0 && *from != '?'; from++) {
        int high, low;
        if (from[0] == '%' && (high = hex_digit(from[1])) >= 0 && (low = hex_digit(from[2])) >= 0) {
            *to++ = (char)(high << 4 | low);
            from += 2;
        } else {
            *to++ = *from;
        }
    }
    *to = 0;
}

// Takes "/WORD" and, if `value` is given, "/NUMBER" from the front of the path.
static bool take_word(char *path, const char *word, long *value, long otherwise)
{
    size_t length = strlen(word);
    if (path[0] != '/' || strncmp(path + 1, word, length) != 0 || path[1 + length] != '/')
        return false;
    char *rest = path + 1 + length;
    if (value != NULL) {
        char *end;
        *value = strtol(rest + 1, &end, 10);
        if (end > rest + 1 && *end == '/')
            rest = end;
        else
            *value = otherwise;
    }
    memmove(path, rest, strlen(rest) + 1);
    return true;
}

static void take_words(struct request *request)
{
    char *path = request->path;
    bool took = true;
    while (took) {
        took = take_word(path, "slow", &request->slow, DEFAULT_BYTES) ||
               take_word(path, "stall", &request->stall, DEFAULT_BYTES) ||
               take_word(path, "cut", &request->cut, DEFAULT_BYTES) ||
               take_word(path, "status", &request->status, 404) ||
               take_word(path, "redirect", &request->redirect, 302) ||
               (take_word(path, "norange", NULL, 0) && (request->ignores_range = true)) ||
               (take_word(path, "nolength", NULL, 0) && (request->hides_length = true)) ||
               (take_word(path, "headers", NULL, 0) && (request->prints_headers = true));
        // What follows a redirection belongs to the request that comes after it.
        took = took && request->redirect < 0;
    }
}

// Reads a request's head, which ends at `end`.
static bool parse(const char *head, const char *end, struct request *request)
{
    char method[16];
    *request = (struct request){.to = -1, .slow = -1, .stall = -1, .cut = -1, .status = -1, .redirect = -1};
    _Static_assert(PATH_LIMIT == 4096, "the width below follows the limit");
    if (sscanf(head, "%15s %4095s", method, request->path) != 2 || request->path[0] != '/')
        return false;
    request->is_head = strcmp(method, "HEAD") == 0;
    take_words(request);
    // A redirection names the path as it was asked for.
    if (request->redirect < 0)
        decode(request->path);
    char *range = strcasestr(head, "\r\nrange: bytes=");
    if (range != NULL && range < end && !request->ignores_range) {
        request->has_range = true;
        request->from = strtoll(range + 15, &range, 10);
        if (range[0] == '-' && range[1] >= '0' && range[1] <= '9')
            request->to = strtoll(range + 1, NULL, 10);
    }
    return true;
}

static void print_head(const char *head, const char *end)
{
    flockfile(stdout);
    for (const char *line = strstr(head, "\r\n"); line != NULL && line < end; line = strstr(line + 2, "\r\n")) {
        const char *stop = strstr(line + 2, "\r\n");
        printf("header: %.*s\n", (int)(stop - line - 2), line + 2);
    }
    fflush(stdout);
    funlockfile(stdout);
}

static const char *type_of(const char *path)
{
    static const char *const types[][2] = {
        {"mp3", "audio/mpeg"},   {"flac", "audio/flac"},  {"wav", "audio/x-wav"},
        {"m4a", "audio/mp4"},    {"aac", "audio/aac"},    {"opus", "audio/ogg"},
        {"ogg", "audio/ogg"},    {"mp4", "video/mp4"},    {"m4s", "video/iso.segment"},
        {"webm", "video/webm"},  {"ts", "video/mp2t"},    {"mkv", "video/x-matroska"},
        {"png", "image/png"},    {"m3u8", "application/vnd.apple.mpegurl"},
        {"mpd", "application/dash+xml"},
    };
    const char *ending = strrchr(path, '.');
    for (size_t n = 0; ending != NULL && n < sizeof types / sizeof *types; n++)
        if (strcasecmp(ending + 1, types[n][0]) == 0)
            return types[n][1];
    return "application/octet-stream";
}

// Answers without a file. `extra` is whole header lines.
static bool send_status(int client, long status, const char *extra)
{
    char head[PATH_LIMIT * 2];
    int length = snprintf(head, sizeof head, "HTTP/1.1 %ld Status\r\n%sContent-Length: 0\r\n\r\n", status, extra);
    return length < (int)sizeof head && send_all(client, head, (size_t)length, 0);
}

// Sends `count` bytes of the file from `from` on, in the manner asked for. False: the connection is over.
static bool send_body(int client, int file, off_t from, off_t count, const struct request *request)
{
    off_t limit = count, sent = 0;
    if (request->stall >= 0 && request->stall < limit)
        limit = request->stall;
    if (request->cut >= 0 && request->cut < limit)
        limit = request->cut;
    double started = now();
    while (sent < limit) {
        off_t step = limit - sent < 262144 ? limit - sent : 262144;
        if (request->slow > 0) {
            // Twenty steps a second, each sent when its first byte is due.
            off_t portion = request->slow / 20 > 0 ? request->slow / 20 : 1;
            step = step < portion ? step : portion;
            double wait = started + (double)sent / (double)request->slow - now();
            struct pollfd gone = {.fd = client, .events = POLLRDHUP};
            if (wait > 0 && poll(&gone, 1, (int)(wait * 1e3)) > 0)
                return false;
        }
        ssize_t moved = sendfile(client, file, &from, (size_t)step);
        if (moved <= 0)
            return false;
        sent += moved;
    }
    if (request->stall >= 0 && limit < count) {
        struct pollfd gone = {.fd = client, .events = POLLRDHUP};
        poll(&gone, 1, -1);
        return false;
    }
    return limit == count && !request->hides_length;
}

static bool send_file(int client, const struct request *request)
{
    char path[PATH_LIMIT * 2];
    struct stat facts;
    snprintf(path, sizeof path, "%s%s", directory, request->path);
    int file = strstr(request->path, "..") != NULL ? -1 : open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0 || fstat(file, &facts) < 0 || !S_ISREG(facts.st_mode)) {
        if (file >= 0)
            close(file);
        return send_status(client, 404, "");
    }
    off_t last = request->to < 0 || request->to >= facts.st_size ? facts.st_size - 1 : request->to;
    char head[1024];
    if (request->has_range && (request->from < 0 || request->from > last)) {
        close(file);
        snprintf(head, sizeof head, "Content-Range: bytes */%lld\r\n", (long long)facts.st_size);
        return send_status(client, 416, head);
    }
    off_t count = last - request->from + 1;
    int length = snprintf(head, sizeof head, "HTTP/1.1 %s\r\nContent-Type: %s\r\n",
                          request->has_range ? "206 Partial Content" : "200 OK", type_of(request->path));
    if (request->hides_length)
        length += snprintf(head + length, sizeof head - length, "Connection: close\r\n");
    else
        length += snprintf(head + length, sizeof head - length, "Content-Length: %lld\r\n", (long long)count);
    if (!request->ignores_range && !request->hides_length)
        length += snprintf(head + length, sizeof head - length, "Accept-Ranges: bytes\r\n");
    if (request->has_range)
        length += snprintf(head + length, sizeof head - length, "Content-Range: bytes %lld-%lld/%lld\r\n",
                           (long long)request->from, (long long)last, (long long)facts.st_size);
    length += snprintf(head + length, sizeof head - length, "\r\n");
    bool goes_on = send_all(client, head, (size_t)length, request->is_head ? 0 : MSG_MORE);
    if (goes_on && !request->is_head)
        goes_on = send_body(client, file, request->from, count, request);
    close(file);
    return goes_on;
}

static bool answer(int client, const char *head, const char *end)
{
    struct request request;
    if (!parse(head, end, &request))
        return false;
    if (is_verbose) {
        printf("%.6f %s %s %lld-%lld\n", now(), request.is_head ? "HEAD" : "GET", request.path,
               request.has_range ? (long long)request.from : -1LL, (long long)request.to);
        fflush(stdout);
    }
    if (request.prints_headers)
        print_head(head, end);
    if (request.status >= 0)
        return send_status(client, request.status, "");
    if (request.redirect >= 0) {
        char location[PATH_LIMIT + 16];
        snprintf(location, sizeof location, "Location: %s\r\n", request.path);
        return send_status(client, request.redirect, location);
    }
    return send_file(client, &request);
}

static void *serve(void *argument)
{
    int client = (int)(long)argument, one = 1;
    char head[HEAD_LIMIT];
    size_t filled = 0;
    bool goes_on = true;
    setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    while (goes_on) {
        char *end;
        head[filled] = 0;
        while ((end = strstr(head, "\r\n\r\n")) == NULL) {
            ssize_t got = filled < sizeof head - 1 ? read(client, head + filled, sizeof head - 1 - filled) : 0;
            if (got <= 0) {
                close(client);
                return NULL;
            }
            filled += (size_t)got;
            head[filled] = 0;
        }
        goes_on = answer(client, head, end);
        size_t used = (size_t)(end + 4 - head);
        memmove(head, head + used, filled - used);
        filled -= used;
    }
    close(client);
    return NULL;
}

static int listen_on(const char *address, int port)
{
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    socklen_t size = sizeof name;
    if (inet_pton(AF_INET, address, &name.sin_addr) != 1) {
        fprintf(stderr, "quickhttpd: %s is not an IPv4 address\n", address);
        exit(2);
    }
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(listener, (struct sockaddr *)&name, sizeof name) < 0 || listen(listener, 64) < 0 ||
        getsockname(listener, (struct sockaddr *)&name, &size) < 0) {
        perror("quickhttpd");
        exit(1);
    }
    printf("quickhttpd: port %d\n", ntohs(name.sin_port));
    fflush(stdout);
    return listener;
}

int main(int count, char **arguments)
{
    const char *address = "127.0.0.1";
    int option;
    while ((option = getopt(count, arguments, "a:v")) != -1) {
        if (option == 'a')
            address = optarg;
        else if (option == 'v')
            is_verbose = true;
        else
            return 2;
    }
    if (count - optind != 2) {
        fprintf(stderr, "usage: quickhttpd [-a ADDRESS] [-v] PORT DIR\n");
        return 2;
    }
    signal(SIGPIPE, SIG_IGN);
    directory = arguments[optind + 1];
    int listener = listen_on(address, atoi(arguments[optind]));
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 262144);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    for (;;) {
        int client = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        pthread_t thread;
        if (client >= 0 && pthread_create(&thread, &attributes, serve, (void *)(long)client) != 0)
            close(client);
    }
}
