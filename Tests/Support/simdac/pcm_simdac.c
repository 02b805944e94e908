// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0
//
// ALSA plugin "simdac": a sound card for tests that exists only as arithmetic on CLOCK_MONOTONIC.
//
// Frame n of a running stream is "heard" at start + n / (rate * (1 + ppm / 10^6)). Every frame that the program
// hands over is appended to PATH.raw; PATH.seg gets a line each time the mapping from frames to time changes.
// There is no server, thread or kernel module; a program that is late gets a real underrun, as from hardware.
// The format of the configuration, of both files and of the faults is in README.md beside this file.

#include <alsa/asoundlib.h>
#include <alsa/pcm_external.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "intruder.h"

enum { PATH_LIMIT = 512, LIST_LIMIT = 8 };

// Looking for the file that unplugs the card costs a system call, so it is done at most once in this time;
// short against the period of any stream, so that a program learns of it at its next wake-up.
static const int64_t fault_check_ns = 1000000;

struct card {
    snd_pcm_ioplug_t io;
    char path[PATH_LIMIT];
    double ppm;
    long granularity;  // the reported pointer moves in steps of this many frames
    long latency;      // frames between the pointer and the ear
    int raw_fd;
    int timer_fd;
    FILE *segments;
    bool is_running;
    bool is_unplugged;
    int64_t fault_checked_at;
    int64_t started_at;    // when frame 0 since prepare would have been at the pointer
    double true_rate;      // frames per second of CLOCK_MONOTONIC
    int64_t written;       // frames handed over since prepare
    int64_t stopped_at;    // the pointer while not running
    int64_t base;          // place in the recording of frame 0 since prepare
    bool narrows;          // samples of 32 bits are recorded by their upper 16
};

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

// Writes one line of PATH.seg; a reader sees whole lines only.
__attribute__((format(printf, 2, 3))) static void note(struct card *card, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vfprintf(card->segments, format, arguments);
    va_end(arguments);
    fflush(card->segments);
}

static bool fault_is_set(const char *path, const char *fault)
{
    char name[PATH_LIMIT + 8];
    snprintf(name, sizeof name, "%s.%s", path, fault);
    return access(name, F_OK) == 0;
}

// The pointer: frames since prepare that have left the buffer, however many were written.
static int64_t frames_played(const struct card *card)
{
    if (!card->is_running)
        return card->stopped_at;
    int64_t frames = (int64_t)((double)(now_ns() - card->started_at) * 1e-9 * card->true_rate);
    if (frames < 0)
        frames = 0;
    if (card->granularity > 1)
        frames -= frames % card->granularity;
    return frames;
}

// Wakes the program at each period's end; while the stream stands, often enough to be no delay of its own.
static void arm_timer(struct card *card)
{
    struct itimerspec wake = {.it_value = {0, 1}};
    if (card->is_running && !card->is_unplugged) {
        double period_ns = (double)card->io.period_size / card->true_rate * 1e9;
        int64_t done = (int64_t)((double)(now_ns() - card->started_at) / period_ns);
        int64_t next = card->started_at + (int64_t)(period_ns * (double)(done + 1));
        wake.it_value.tv_sec = next / 1000000000;
        wake.it_value.tv_nsec = next % 1000000000;
        wake.it_interval.tv_sec = (int64_t)period_ns / 1000000000;
        wake.it_interval.tv_nsec = (int64_t)period_ns % 1000000000;
        timerfd_settime(card->timer_fd, TFD_TIMER_ABSTIME, &wake, NULL);
    } else {
        wake.it_interval.tv_nsec = 1000000;
        timerfd_settime(card->timer_fd, 0, &wake, NULL);
    }
}

// Follows a program that has taken frames back to write others in their place.
static void follow_rewind(struct card *card)
{
    int64_t place = (int64_t)card->io.appl_ptr;
    if (place >= card->written)
        return;
    note(card, "R %" PRId64 " %" PRId64 "\n", card->base + place, now_ns());
    card->written = place;
}

static int start(snd_pcm_ioplug_t *io)
{
    struct card *card = io->private_data;
    if (card->is_unplugged)
        return -ENODEV;
    card->started_at = now_ns() - (int64_t)((double)card->stopped_at / card->true_rate * 1e9);
    card->is_running = true;
    int64_t heard = card->stopped_at + card->latency;
    note(card, "S %" PRId64 " %" PRId64 " %.9f\n", card->base + card->stopped_at,
         card->started_at + (int64_t)((double)heard / card->true_rate * 1e9), card->true_rate);
    arm_timer(card);
    return 0;
}

static int stop(snd_pcm_ioplug_t *io)
{
    struct card *card = io->private_data;
    if (!card->is_running)
        return 0;
    int64_t played = frames_played(card);
    bool ran_out = played >= card->written;
    if (ran_out)
        played = card->written;
    card->is_running = false;
    card->stopped_at = played;
    note(card, "E %" PRId64 " %" PRId64 " written=%" PRId64 "%s\n", card->base + played, now_ns(), card->written,
         ran_out ? " ranout" : "");
    arm_timer(card);
    return 0;
}

static int pause_or_resume(snd_pcm_ioplug_t *io, int enable)
{
    return enable ? stop(io) : start(io);
}

// Tells whether the card is gone, and the first time makes it so: sound ends, the state says disconnected.
static bool is_unplugged(struct card *card)
{
    if (card->is_unplugged)
        return true;
    int64_t now = now_ns();
    if (now - card->fault_checked_at < fault_check_ns)
        return false;
    card->fault_checked_at = now;
    if (fault_is_set(card->path, "attack"))
        intrude(card->path);
    if (!fault_is_set(card->path, "fail"))
        return false;
    stop(&card->io);
    card->is_unplugged = true;
    note(card, "F %" PRId64 "\n", now_ns());
    arm_timer(card);
    return true;
}

// Tells, once for each file, that the card is to run dry though the program is in time.
static bool is_dry(const struct card *card)
{
    char name[PATH_LIMIT + 8];
    snprintf(name, sizeof name, "%s.dry", card->path);
    return unlink(name) == 0;
}

static snd_pcm_sframes_t pointer(snd_pcm_ioplug_t *io)
{
    struct card *card = io->private_data;
    if (is_unplugged(card)) {
        // A failure returned here would become an underrun; the state makes reads of it -ENODEV.
        snd_pcm_ioplug_set_state(io, SND_PCM_STATE_DISCONNECTED);
        return (snd_pcm_sframes_t)((uint64_t)frames_played(card) % io->buffer_size);
    }
    int64_t played = frames_played(card);
    if (card->is_running && (played > card->written || is_dry(card))) {
        bool is_drained = io->state == SND_PCM_STATE_DRAINING;
        stop(io);
        note(card, "%c %" PRId64 "\n", is_drained ? 'D' : 'X', now_ns());
        return -EPIPE;
    }
    return (snd_pcm_sframes_t)((uint64_t)played % io->buffer_size);
}

// Appends frames of 32-bit samples by their upper halves.
static int record_narrowed(struct card *card, const char *from, size_t samples, off_t at)
{
    int16_t narrow[2048];
    while (samples > 0) {
        size_t count = samples < 2048 ? samples : 2048;
        for (size_t n = 0; n < count; n++)
            memcpy(&narrow[n], from + 4 * n + 2, 2);
        if (pwrite(card->raw_fd, narrow, count * 2, at) < 0)
            return -errno;
        from += 4 * count;
        at += (off_t)(2 * count);
        samples -= count;
    }
    return 0;
}

static snd_pcm_sframes_t transfer(snd_pcm_ioplug_t *io, const snd_pcm_channel_area_t *areas, snd_pcm_uframes_t offset,
                                  snd_pcm_uframes_t size)
{
    struct card *card = io->private_data;
    if (is_unplugged(card)) {
        snd_pcm_ioplug_set_state(io, SND_PCM_STATE_DISCONNECTED);
        return -ENODEV;
    }
    const char *from = (const char *)areas->addr + (areas->first + areas->step * offset) / 8;
    follow_rewind(card);
    off_t at = (off_t)(card->base + card->written) * io->channels * 2;
    if (!card->narrows)
        crash_if_poisoned((const int16_t *)from, size * io->channels);
    if (card->narrows) {
        int status = record_narrowed(card, from, size * io->channels, at);
        if (status < 0)
            return status;
    } else if (pwrite(card->raw_fd, from, size * io->channels * 2, at) < 0) {
        return -errno;
    }
    card->written += (int64_t)size;
    return (snd_pcm_sframes_t)size;
}

static int prepare(snd_pcm_ioplug_t *io)
{
    struct card *card = io->private_data;
    if (is_unplugged(card))
        return -ENODEV;
    card->base += card->written;
    card->written = 0;
    card->stopped_at = 0;
    card->is_running = false;
    card->true_rate = io->rate * (1 + card->ppm * 1e-6);
    arm_timer(card);
    return 0;
}

static int hw_params(snd_pcm_ioplug_t *io, snd_pcm_hw_params_t *params)
{
    (void)params;
    struct card *card = io->private_data;
    if (is_unplugged(card))
        return -ENODEV;
    card->narrows = io->format == SND_PCM_FORMAT_S32_LE;
    note(card, "P %" PRId64 " rate=%u ch=%u fmt=%s buffer=%lu period=%lu\n", now_ns(), io->rate, io->channels,
         snd_pcm_format_name(io->format), io->buffer_size, io->period_size);
    return 0;
}

static int delay(snd_pcm_ioplug_t *io, snd_pcm_sframes_t *frames)
{
    struct card *card = io->private_data;
    if (is_unplugged(card))
        return -ENODEV;
    *frames = (snd_pcm_sframes_t)(card->written - frames_played(card) + card->latency);
    return 0;
}

static int poll_revents(snd_pcm_ioplug_t *io, struct pollfd *fds, unsigned int count, unsigned short *revents)
{
    struct card *card = io->private_data;
    *revents = 0;
    if (is_unplugged(card)) {
        snd_pcm_ioplug_set_state(io, SND_PCM_STATE_DISCONNECTED);
        *revents = POLLERR | POLLOUT;
        return 0;
    }
    if (count != 1 || !(fds[0].revents & POLLIN))
        return 0;
    uint64_t expirations;
    if (read(card->timer_fd, &expirations, sizeof expirations) < 0 && errno != EAGAIN)
        return -errno;
    int64_t played = frames_played(card);
    int64_t room = (int64_t)io->buffer_size - (card->written - played);
    if (room >= (int64_t)io->period_size || !card->is_running || played > card->written)
        *revents = POLLOUT;
    return 0;
}

static int close_card(snd_pcm_ioplug_t *io)
{
    struct card *card = io->private_data;
    stop(io);
    note(card, "C %" PRId64 "\n", now_ns());
    fclose(card->segments);
    close(card->raw_fd);
    close(card->timer_fd);
    free(card);
    return 0;
}

#define COMMON_CALLBACKS                                                                                     \
    .start = start, .stop = stop, .pointer = pointer, .transfer = transfer, .prepare = prepare,              \
    .hw_params = hw_params, .delay = delay, .poll_revents = poll_revents, .close = close_card

static const snd_pcm_ioplug_callback_t callbacks = {COMMON_CALLBACKS, .pause = pause_or_resume};
static const snd_pcm_ioplug_callback_t callbacks_without_pause = {COMMON_CALLBACKS};

// What the configuration says about a card.
struct settings {
    const char *path;
    long rate, granularity, latency, channels, pausable, exclusive;
    double ppm;
    const char *formats, *rates;
};

// Takes a number written as integer, real or text.
static int take_real(snd_config_t *node, double *value)
{
    long integer;
    const char *text;
    if (snd_config_get_integer(node, &integer) == 0) {
        *value = (double)integer;
        return 0;
    }
    if (snd_config_get_real(node, value) == 0)
        return 0;
    if (snd_config_get_string(node, &text) < 0)
        return -EINVAL;
    *value = atof(text);
    return 0;
}

// Takes one member of the configuration.
static int take(struct settings *settings, snd_config_t *node, const char *id)
{
    const struct { const char *id; long *value; } integers[] = {
        {"rate", &settings->rate},         {"channels", &settings->channels}, {"granularity", &settings->granularity},
        {"latency", &settings->latency},   {"pausable", &settings->pausable}, {"exclusive", &settings->exclusive},
    };
    const struct { const char *id; const char **value; } texts[] = {
        {"path", &settings->path}, {"formats", &settings->formats}, {"rates", &settings->rates},
    };
    for (size_t n = 0; n < sizeof integers / sizeof *integers; n++)
        if (strcmp(id, integers[n].id) == 0)
            return snd_config_get_integer(node, integers[n].value);
    for (size_t n = 0; n < sizeof texts / sizeof *texts; n++)
        if (strcmp(id, texts[n].id) == 0)
            return snd_config_get_string(node, texts[n].value);
    if (strcmp(id, "ppm") == 0)
        return take_real(node, &settings->ppm);
    return -EINVAL;
}

static int read_settings(struct settings *settings, snd_config_t *conf)
{
    snd_config_iterator_t position, next;
    snd_config_for_each(position, next, conf) {
        snd_config_t *node = snd_config_iterator_entry(position);
        const char *id;
        if (snd_config_get_id(node, &id) < 0 || !strcmp(id, "comment") || !strcmp(id, "type") || !strcmp(id, "hint"))
            continue;
        int status = take(settings, node, id);
        if (status < 0) {
            SNDERR("simdac: wrong or unknown setting %s", id);
            return status;
        }
    }
    if (settings->path == NULL || strlen(settings->path) >= PATH_LIMIT) {
        SNDERR("simdac: no path, or too long a path");
        return -EINVAL;
    }
    if (settings->channels < 1 || settings->channels > 8 || settings->rate < 1) {
        SNDERR("simdac: channels are 1 to 8, the rate is positive");
        return -EINVAL;
    }
    return 0;
}

// Opens the recording. Like hardware, a card has one user at a time unless the configuration says otherwise.
static int open_files(struct card *card, const struct settings *settings)
{
    char name[PATH_LIMIT + 8];
    snprintf(name, sizeof name, "%s.raw", card->path);
    card->raw_fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (card->raw_fd < 0)
        return -errno;
    int status = -EBUSY;
    if (settings->exclusive && flock(card->raw_fd, LOCK_EX | LOCK_NB) < 0)
        goto close_raw;
    card->base = lseek(card->raw_fd, 0, SEEK_END) / (2 * settings->channels);
    snprintf(name, sizeof name, "%s.seg", card->path);
    card->segments = fopen(name, "ae");
    status = -errno;
    if (card->segments == NULL)
        goto close_raw;
    card->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    status = -errno;
    if (card->timer_fd < 0)
        goto close_segments;
    note(card, "O %" PRId64 " pid=%d rate=%ld ch=%ld ppm=%g\n", now_ns(), getpid(), settings->rate,
         settings->channels, settings->ppm);
    return 0;

close_segments:
    fclose(card->segments);
close_raw:
    close(card->raw_fd);
    return status;
}

// Reads a list of words, each turned into a number by `number`, which answers below zero for a wrong one.
static int read_list(const char *text, int (*number)(const char *), unsigned *list)
{
    char copy[256];
    char *rest = NULL;
    int count = 0;
    snprintf(copy, sizeof copy, "%s", text);
    for (char *word = strtok_r(copy, " ,", &rest); word != NULL; word = strtok_r(NULL, " ,", &rest)) {
        int value = number(word);
        if (value < 0 || count == LIST_LIMIT) {
            SNDERR("simdac: wrong list '%s'", text);
            return -EINVAL;
        }
        list[count++] = (unsigned)value;
    }
    return count > 0 ? count : -EINVAL;
}

static int format_number(const char *word)
{
    snd_pcm_format_t format = snd_pcm_format_value(word);
    return format == SND_PCM_FORMAT_S16_LE || format == SND_PCM_FORMAT_S32_LE ? (int)format : -1;
}

static int rate_number(const char *word)
{
    int rate = atoi(word);
    return rate > 0 ? rate : -1;
}

// Says what the card can do.
static int declare_parameters(snd_pcm_ioplug_t *io, const struct settings *settings)
{
    static const unsigned access[] = {SND_PCM_ACCESS_RW_INTERLEAVED, SND_PCM_ACCESS_MMAP_INTERLEAVED};
    unsigned formats[LIST_LIMIT], rates[LIST_LIMIT];
    unsigned rate = (unsigned)settings->rate, channels = (unsigned)settings->channels;
    int format_count = read_list(settings->formats, format_number, formats);
    if (format_count < 0)
        return format_count;
    snd_pcm_ioplug_set_param_list(io, SND_PCM_IOPLUG_HW_ACCESS, 2, access);
    snd_pcm_ioplug_set_param_list(io, SND_PCM_IOPLUG_HW_FORMAT, (unsigned)format_count, formats);
    if (settings->rates != NULL) {
        int rate_count = read_list(settings->rates, rate_number, rates);
        if (rate_count < 0)
            return rate_count;
        snd_pcm_ioplug_set_param_list(io, SND_PCM_IOPLUG_HW_RATE, (unsigned)rate_count, rates);
    } else {
        snd_pcm_ioplug_set_param_minmax(io, SND_PCM_IOPLUG_HW_RATE, rate, rate);
    }
    snd_pcm_ioplug_set_param_minmax(io, SND_PCM_IOPLUG_HW_CHANNELS, channels, channels);
    snd_pcm_ioplug_set_param_minmax(io, SND_PCM_IOPLUG_HW_BUFFER_BYTES, 512, 4 << 20);
    snd_pcm_ioplug_set_param_minmax(io, SND_PCM_IOPLUG_HW_PERIOD_BYTES, 128, 1 << 20);
    snd_pcm_ioplug_set_param_minmax(io, SND_PCM_IOPLUG_HW_PERIODS, 2, 1024);
    return 0;
}

SND_PCM_PLUGIN_DEFINE_FUNC(simdac)
{
    (void)root;
    struct settings settings = {
        .rate = 48000, .channels = 2, .pausable = 1, .exclusive = 1, .formats = "S16_LE",
    };
    if (stream != SND_PCM_STREAM_PLAYBACK)
        return -EINVAL;
    int status = read_settings(&settings, conf);
    if (status < 0)
        return status;
    if (fault_is_set(settings.path, "fail"))
        return -ENODEV;
    if (fault_is_set(settings.path, "busy"))
        return -EBUSY;
    struct card *card = calloc(1, sizeof *card);
    if (card == NULL)
        return -ENOMEM;
    snprintf(card->path, sizeof card->path, "%s", settings.path);
    card->ppm = settings.ppm;
    card->granularity = settings.granularity;
    card->latency = settings.latency;
    status = open_files(card, &settings);
    if (status < 0) {
        free(card);
        return status;
    }
    card->io.version = SND_PCM_IOPLUG_VERSION;
    card->io.name = "simulated card";
    card->io.callback = settings.pausable ? &callbacks : &callbacks_without_pause;
    card->io.private_data = card;
    card->io.poll_fd = card->timer_fd;
    card->io.poll_events = POLLIN;
    status = snd_pcm_ioplug_create(&card->io, name, stream, mode);
    if (status < 0) {
        close_card(&card->io);
        return status;
    }
    status = declare_parameters(&card->io, &settings);
    if (status < 0) {
        snd_pcm_ioplug_delete(&card->io);  // calls close_card
        return status;
    }
    *pcmp = card->io.pcm;
    return 0;
}
SND_PCM_PLUGIN_SYMBOL(simdac);
