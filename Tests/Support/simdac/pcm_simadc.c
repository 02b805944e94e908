// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0
//
// ALSA plugin "simadc": a capture device for tests that exists only as arithmetic on CLOCK_MONOTONIC, as simdac is a sound card.
//
// Frame n since the start is captured at start + n / (rate * (1 + ppm / 10^6)) and is that of a sine, or of silence while PATH.quiet is
// there. A program that reads too late has a real overrun. The settings and faults are in README.md beside this file.

#include <alsa/asoundlib.h>
#include <alsa/pcm_external.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { PATH_LIMIT = 512 };

struct microphone {
    snd_pcm_ioplug_t io;
    char path[PATH_LIMIT];
    long rate, channels, offset, amplitude;
    double ppm, tone;
    int lock_fd, timer_fd;
    bool is_running;
    int64_t started_at;
    int64_t taken;  // frames that the program has read since prepare
};

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static bool is_set(const char *path, const char *fault)
{
    char name[PATH_LIMIT + 8];
    snprintf(name, sizeof name, "%s.%s", path, fault);
    return access(name, F_OK) == 0;
}

static double true_rate(const struct microphone *mic) { return mic->io.rate * (1 + mic->ppm * 1e-6); }

static int64_t captured(const struct microphone *mic)
{
    return mic->is_running ? (int64_t)((double)(now_ns() - mic->started_at) * 1e-9 * true_rate(mic)) : mic->taken;
}

static void arm_timer(struct microphone *mic)
{
    int64_t period = mic->is_running ? (int64_t)((double)mic->io.period_size / true_rate(mic) * 1e9) : 100000000;
    struct itimerspec wake = {
        .it_value = {period / 1000000000, period % 1000000000}, .it_interval = {period / 1000000000, period % 1000000000}};
    timerfd_settime(mic->timer_fd, 0, &wake, NULL);
}

static int start(snd_pcm_ioplug_t *io)
{
    struct microphone *mic = io->private_data;
    if (is_set(mic->path, "fail"))
        return -ENODEV;
    mic->started_at = now_ns() - (int64_t)((double)mic->taken / true_rate(mic) * 1e9);
    mic->is_running = true;
    arm_timer(mic);
    return 0;
}

static int stop(snd_pcm_ioplug_t *io)
{
    struct microphone *mic = io->private_data;
    mic->is_running = false;
    arm_timer(mic);
    return 0;
}

static snd_pcm_sframes_t pointer(snd_pcm_ioplug_t *io)
{
    struct microphone *mic = io->private_data;
    if (is_set(mic->path, "fail"))
        snd_pcm_ioplug_set_state(io, SND_PCM_STATE_DISCONNECTED);
    int64_t frames = captured(mic);
    if (mic->is_running && frames - mic->taken > (int64_t)io->buffer_size) {
        stop(io);
        return -EPIPE;
    }
    return (snd_pcm_sframes_t)((uint64_t)frames % io->buffer_size);
}

static snd_pcm_sframes_t transfer(snd_pcm_ioplug_t *io, const snd_pcm_channel_area_t *areas, snd_pcm_uframes_t offset,
                                  snd_pcm_uframes_t size)
{
    struct microphone *mic = io->private_data;
    if (is_set(mic->path, "fail")) {
        snd_pcm_ioplug_set_state(io, SND_PCM_STATE_DISCONNECTED);
        return -ENODEV;
    }
    int16_t *to = (int16_t *)((char *)areas->addr + (areas->first + areas->step * offset) / 8);
    bool is_quiet = is_set(mic->path, "quiet");
    for (snd_pcm_uframes_t frame = 0; frame < size; frame++) {
        double turns = mic->tone * (double)(mic->taken + (int64_t)frame) / io->rate;
        double value = is_quiet ? 0 : (double)mic->amplitude * sin(2 * M_PI * (turns - floor(turns)));
        for (unsigned channel = 0; channel < io->channels; channel++)
            to[frame * io->channels + channel] = (int16_t)lrint(value + (double)mic->offset);
    }
    mic->taken += (int64_t)size;
    return (snd_pcm_sframes_t)size;
}

static int prepare(snd_pcm_ioplug_t *io)
{
    struct microphone *mic = io->private_data;
    mic->taken = 0;
    mic->is_running = false;
    arm_timer(mic);
    return is_set(mic->path, "fail") ? -ENODEV : 0;
}

static int poll_revents(snd_pcm_ioplug_t *io, struct pollfd *fds, unsigned int count, unsigned short *revents)
{
    struct microphone *mic = io->private_data;
    uint64_t expirations;
    *revents = 0;
    if (is_set(mic->path, "fail")) {
        snd_pcm_ioplug_set_state(io, SND_PCM_STATE_DISCONNECTED);
        *revents = POLLERR | POLLIN;
    } else if (count == 1 && (fds[0].revents & POLLIN)) {
        if (read(mic->timer_fd, &expirations, sizeof expirations) < 0 && errno != EAGAIN)
            return -errno;
        if (captured(mic) - mic->taken >= (int64_t)io->period_size)
            *revents = POLLIN;
    }
    return 0;
}

static int close_microphone(snd_pcm_ioplug_t *io)
{
    struct microphone *mic = io->private_data;
    close(mic->lock_fd);
    close(mic->timer_fd);
    free(mic);
    return 0;
}

static const snd_pcm_ioplug_callback_t callbacks = {
    .start = start, .stop = stop, .pointer = pointer, .transfer = transfer, .prepare = prepare,
    .poll_revents = poll_revents, .close = close_microphone,
};

static int take_real(snd_config_t *node, double *value)
{
    long integer;
    if (snd_config_get_integer(node, &integer) == 0) {
        *value = (double)integer;
        return 0;
    }
    return snd_config_get_real(node, value);
}

static int read_settings(struct microphone *mic, snd_config_t *conf)
{
    const char *path = NULL;
    snd_config_iterator_t position, next;
    snd_config_for_each(position, next, conf) {
        snd_config_t *node = snd_config_iterator_entry(position);
        const char *id;
        if (snd_config_get_id(node, &id) < 0)
            continue;
        int status = 0;
        if (strcmp(id, "path") == 0)
            status = snd_config_get_string(node, &path);
        else if (strcmp(id, "rate") == 0)
            status = snd_config_get_integer(node, &mic->rate);
        else if (strcmp(id, "channels") == 0)
            status = snd_config_get_integer(node, &mic->channels);
        else if (strcmp(id, "offset") == 0)
            status = snd_config_get_integer(node, &mic->offset);
        else if (strcmp(id, "amplitude") == 0)
            status = snd_config_get_integer(node, &mic->amplitude);
        else if (strcmp(id, "ppm") == 0)
            status = take_real(node, &mic->ppm);
        else if (strcmp(id, "tone") == 0)
            status = take_real(node, &mic->tone);
        if (status < 0)
            return status;
    }
    if (path == NULL || strlen(path) >= PATH_LIMIT || mic->rate < 1 || mic->channels < 1 || mic->channels > 8)
        return -EINVAL;
    strcpy(mic->path, path);
    return 0;
}

// Like hardware, it has one user at a time.
static int open_files(struct microphone *mic)
{
    char name[PATH_LIMIT + 8];
    if (is_set(mic->path, "fail"))
        return -ENODEV;
    if (is_set(mic->path, "busy"))
        return -EBUSY;
    snprintf(name, sizeof name, "%s.lock", mic->path);
    mic->lock_fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (mic->lock_fd < 0)
        return -errno;
    if (flock(mic->lock_fd, LOCK_EX | LOCK_NB) < 0)
        return -EBUSY;
    mic->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    return mic->timer_fd < 0 ? -errno : 0;
}

SND_PCM_PLUGIN_DEFINE_FUNC(simadc)
{
    (void)root;
    static const unsigned access[] = {SND_PCM_ACCESS_RW_INTERLEAVED};
    static const unsigned formats[] = {SND_PCM_FORMAT_S16_LE};
    if (stream != SND_PCM_STREAM_CAPTURE)
        return -EINVAL;
    struct microphone *mic = calloc(1, sizeof *mic);
    if (mic == NULL)
        return -ENOMEM;
    mic->io.private_data = mic;
    mic->rate = 48000;
    mic->channels = 2;
    mic->amplitude = 8000;
    mic->tone = 1000;
    mic->lock_fd = mic->timer_fd = -1;
    int status = read_settings(mic, conf);
    if (status == 0)
        status = open_files(mic);
    if (status == 0) {
        mic->io.version = SND_PCM_IOPLUG_VERSION;
        mic->io.name = "simulated input";
        mic->io.callback = &callbacks;
        mic->io.poll_fd = mic->timer_fd;
        mic->io.poll_events = POLLIN;
        status = snd_pcm_ioplug_create(&mic->io, name, stream, mode);
    }
    if (status < 0) {
        close_microphone(&mic->io);
        return status;
    }
    unsigned rate = (unsigned)mic->rate, channels = (unsigned)mic->channels;
    snd_pcm_ioplug_set_param_list(&mic->io, SND_PCM_IOPLUG_HW_ACCESS, 1, access);
    snd_pcm_ioplug_set_param_list(&mic->io, SND_PCM_IOPLUG_HW_FORMAT, 1, formats);
    snd_pcm_ioplug_set_param_minmax(&mic->io, SND_PCM_IOPLUG_HW_RATE, rate, rate);
    snd_pcm_ioplug_set_param_minmax(&mic->io, SND_PCM_IOPLUG_HW_CHANNELS, channels, channels);
    snd_pcm_ioplug_set_param_minmax(&mic->io, SND_PCM_IOPLUG_HW_BUFFER_BYTES, 512, 4 << 20);
    snd_pcm_ioplug_set_param_minmax(&mic->io, SND_PCM_IOPLUG_HW_PERIOD_BYTES, 128, 1 << 20);
    snd_pcm_ioplug_set_param_minmax(&mic->io, SND_PCM_IOPLUG_HW_PERIODS, 2, 1024);
    *pcmp = mic->io.pcm;
    return 0;
}
SND_PCM_PLUGIN_SYMBOL(simadc);
