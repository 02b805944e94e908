// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0
//
// Checks what simdac promises. usage: simdac-check DIR, with ALSA_CONFIG_PATH of DIR/asound.conf whose cards have
// formats "S16_LE S32_LE" and rates "44100 48000". Prints one line for each promise; exits with 1 when one fails.

#include <alsa/asoundlib.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int failures;

static void expect(bool holds, const char *promise)
{
    printf("%s  %s\n", holds ? "ok  " : "FAIL", promise);
    failures += !holds;
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static const char *dir;

static void set_fault(const char *fault, bool present)
{
    char name[600];
    snprintf(name, sizeof name, "%s/sim0.%s", dir, fault);
    if (present)
        close(open(name, O_CREAT | O_WRONLY | O_CLOEXEC, 0644));
    else
        unlink(name);
}

static snd_pcm_t *opened(int *status)
{
    snd_pcm_t *pcm = NULL;
    *status = snd_pcm_open(&pcm, "sim0", SND_PCM_STREAM_PLAYBACK, SND_PCM_NONBLOCK);
    return *status < 0 ? NULL : pcm;
}

static bool configure(snd_pcm_t *pcm, snd_pcm_format_t format, unsigned rate, snd_pcm_uframes_t buffer)
{
    snd_pcm_hw_params_t *hw;
    snd_pcm_hw_params_alloca(&hw);
    snd_pcm_uframes_t period = buffer / 4;
    int direction = 0;
    return snd_pcm_hw_params_any(pcm, hw) >= 0 &&
           snd_pcm_hw_params_set_access(pcm, hw, SND_PCM_ACCESS_RW_INTERLEAVED) == 0 &&
           snd_pcm_hw_params_set_format(pcm, hw, format) == 0 && snd_pcm_hw_params_set_channels(pcm, hw, 2) == 0 &&
           snd_pcm_hw_params_set_rate(pcm, hw, rate, 0) == 0 &&
           snd_pcm_hw_params_set_period_size_near(pcm, hw, &period, &direction) == 0 &&
           snd_pcm_hw_params_set_buffer_size_near(pcm, hw, &buffer) == 0 && snd_pcm_hw_params(pcm, hw) == 0;
}

static int32_t frames[2 * 48000];

static void check_formats(void)
{
    int status;
    snd_pcm_t *pcm = opened(&status);
    expect(pcm != NULL, "the card opens");
    if (pcm == NULL)
        return;
    snd_pcm_t *second = opened(&status);
    expect(second == NULL && status == -EBUSY, "a card in use is busy");
    expect(configure(pcm, SND_PCM_FORMAT_S32_LE, 44100, 4096), "32 bits at 44.1 kHz are taken");
    for (int n = 0; n < 2000; n++)
        frames[n] = (n % 100) << 16 | 0x7fff;
    expect(snd_pcm_writei(pcm, frames, 1000) == 1000, "frames are taken");
    expect(snd_pcm_state(pcm) == SND_PCM_STATE_RUNNING && snd_pcm_wait(pcm, 1000) == 1, "the stream runs");
    snd_pcm_hw_params_t *hw;
    snd_pcm_hw_params_alloca(&hw);
    snd_pcm_hw_params_current(pcm, hw);
    expect(snd_pcm_hw_params_can_pause(hw) == 1, "a pausable card says so");
    snd_pcm_nonblock(pcm, 0);
    double started = now();
    int drained = snd_pcm_drain(pcm);
    double took = now() - started;
    expect(drained == 0 && took < 0.2, "a drain ends when the last frame was heard");
    snd_pcm_close(pcm);
    char name[600];
    int16_t recorded[2000] = {0};
    snprintf(name, sizeof name, "%s/sim0.raw", dir);
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    ssize_t got = read(fd, recorded, sizeof recorded);
    close(fd);
    expect(got == sizeof recorded && recorded[150] == 50, "32-bit samples are recorded by their upper halves");
}

static void check_underrun(void)
{
    int status;
    snd_pcm_t *pcm = opened(&status);
    if (pcm == NULL || !configure(pcm, SND_PCM_FORMAT_S16_LE, 48000, 4096)) {
        expect(false, "16 bits at 48 kHz are taken");
        return;
    }
    snd_pcm_writei(pcm, frames, 240);
    double started = now();
    snd_pcm_start(pcm);
    while (snd_pcm_avail(pcm) >= 0 && now() - started < 1)
        snd_pcm_wait(pcm, 100);
    expect(snd_pcm_state(pcm) == SND_PCM_STATE_XRUN && snd_pcm_writei(pcm, frames, 10) == -EPIPE,
           "a late program has an underrun");
    expect(now() - started >= 0.005, "not before the last frame was heard");
    expect(snd_pcm_prepare(pcm) == 0 && snd_pcm_writei(pcm, frames, 240) == 240, "and can go on after it");
    snd_pcm_close(pcm);
}

static void check_unplugging(void)
{
    int status;
    snd_pcm_t *pcm = opened(&status);
    if (pcm == NULL || !configure(pcm, SND_PCM_FORMAT_S16_LE, 48000, 48000)) {
        expect(false, "the card opens again");
        return;
    }
    snd_pcm_writei(pcm, frames, 48000);
    snd_pcm_start(pcm);
    set_fault("fail", true);
    double started = now();
    status = 0;
    while (status >= 0 && now() - started < 2)
        status = snd_pcm_wait(pcm, 1000);
    expect(status == -ENODEV, "a wait ends with ENODEV when the card is unplugged");
    expect(now() - started < 0.6, "within a period");
    expect(snd_pcm_writei(pcm, frames, 10) == -ENODEV, "so does a write");
    snd_pcm_sframes_t unheard;
    expect(snd_pcm_delay(pcm, &unheard) == -ENODEV, "and a question for the delay");
    expect(snd_pcm_state(pcm) == SND_PCM_STATE_DISCONNECTED, "the state says disconnected");
    expect(snd_pcm_prepare(pcm) == -ENODEV, "it cannot be prepared");
    set_fault("fail", false);
    expect(snd_pcm_writei(pcm, frames, 10) == -ENODEV, "the old handle stays dead when the card is back");
    set_fault("fail", true);
    snd_pcm_close(pcm);
    pcm = opened(&status);
    expect(pcm == NULL && status == -ENODEV, "an unplugged card does not open");
    set_fault("fail", false);
    pcm = opened(&status);
    expect(pcm != NULL, "a card that is back opens");
    if (pcm != NULL)
        snd_pcm_close(pcm);
    set_fault("busy", true);
    expect(opened(&status) == NULL && status == -EBUSY, "a busy card does not open");
    set_fault("busy", false);
}

int main(int count, char **arguments)
{
    if (count != 2)
        return 2;
    dir = arguments[1];
    check_formats();
    check_underrun();
    check_unplugging();
    return failures > 0;
}
