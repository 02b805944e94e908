// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0
//
// ALSA plugin "simdac" for controls: the mixer of the simulated card, with a volume in decibels and maybe a mute switch.
//
// The values are kept in PATH.mixer as "VALUE SWITCH", so that a test moves the mixer by writing the file, as somebody at
// the card's knob would, and programs that have the mixer open get an event. PATH.fail unplugs it with the card. With the setting `jack`
// there is a jack, too, which is plugged while PATH.jack begins with 1.

#include <alsa/asoundlib.h>
#include <alsa/control_external.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

enum { PATH_LIMIT = 512, VOLUME = 0, SWITCH = 1, JACK = 2 };

struct mixer {
    snd_ctl_ext_t ext;
    char path[PATH_LIMIT];
    long steps;
    bool has_switch, has_jack;
    int file;
    unsigned pending;  // bits of the elements whose event nobody has read
    unsigned scale[4];
};

static bool is_unplugged(const struct mixer *mixer)
{
    char name[PATH_LIMIT + 8];
    snprintf(name, sizeof name, "%s.fail", mixer->path);
    return access(name, F_OK) == 0;
}

// Tells whether something is plugged into the jack.
static long is_plugged(const struct mixer *mixer)
{
    char name[PATH_LIMIT + 8], digit = '0';
    snprintf(name, sizeof name, "%s.jack", mixer->path);
    int file = open(name, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return 0;
    if (read(file, &digit, 1) < 1)
        digit = '0';
    close(file);
    return digit == '1';
}

static int load(const struct mixer *mixer, long *value, long *is_on)
{
    char text[32] = "";
    if (is_unplugged(mixer))
        return -ENODEV;
    if (pread(mixer->file, text, sizeof text - 1, 0) < 0)
        return -errno;
    return sscanf(text, "%ld %ld", value, is_on) == 2 ? 0 : -EIO;
}

static int store(const struct mixer *mixer, long value, long is_on)
{
    char text[32];
    int length = snprintf(text, sizeof text, "%5ld %ld\n", value, is_on);
    if (is_unplugged(mixer))
        return -ENODEV;
    return pwrite(mixer->file, text, (size_t)length, 0) == length ? 0 : -EIO;
}

static int elem_count(snd_ctl_ext_t *ext)
{
    const struct mixer *mixer = ext->private_data;
    return (mixer->has_switch ? 2 : 1) + (mixer->has_jack ? 1 : 0);
}

// What the element of this place is: without a switch the jack has its place.
static int kind_of(const struct mixer *mixer, unsigned int offset)
{
    return offset == SWITCH && !mixer->has_switch ? JACK : (int)offset;
}

static int elem_list(snd_ctl_ext_t *ext, unsigned int offset, snd_ctl_elem_id_t *id)
{
    if (kind_of(ext->private_data, offset) == JACK) {
        snd_ctl_elem_id_set_interface(id, SND_CTL_ELEM_IFACE_CARD);
        snd_ctl_elem_id_set_name(id, "Headphone Jack");
        return 0;
    }
    snd_ctl_elem_id_set_interface(id, SND_CTL_ELEM_IFACE_MIXER);
    snd_ctl_elem_id_set_name(id, offset == VOLUME ? "Master Playback Volume" : "Master Playback Switch");
    return 0;
}

static snd_ctl_ext_key_t find_elem(snd_ctl_ext_t *ext, const snd_ctl_elem_id_t *id)
{
    const struct mixer *mixer = ext->private_data;
    const char *name = snd_ctl_elem_id_get_name(id);
    unsigned int number = snd_ctl_elem_id_get_numid(id);
    if (number > 0)
        return number <= (unsigned)elem_count(ext) ? (snd_ctl_ext_key_t)kind_of(mixer, number - 1) : SND_CTL_EXT_KEY_NOT_FOUND;
    if (strcmp(name, "Master Playback Volume") == 0)
        return VOLUME;
    if (mixer->has_switch && strcmp(name, "Master Playback Switch") == 0)
        return SWITCH;
    if (mixer->has_jack && strcmp(name, "Headphone Jack") == 0)
        return JACK;
    return SND_CTL_EXT_KEY_NOT_FOUND;
}

static int get_attribute(snd_ctl_ext_t *ext, snd_ctl_ext_key_t key, int *type, unsigned int *acc, unsigned int *count)
{
    (void)ext;
    *type = key == VOLUME ? SND_CTL_ELEM_TYPE_INTEGER : SND_CTL_ELEM_TYPE_BOOLEAN;
    *acc = key == JACK ? SND_CTL_EXT_ACCESS_READ : SND_CTL_EXT_ACCESS_READWRITE;
    if (key == VOLUME)
        *acc |= SND_CTL_EXT_ACCESS_TLV_READ;
    *count = 1;
    return 0;
}

static int get_integer_info(snd_ctl_ext_t *ext, snd_ctl_ext_key_t key, long *imin, long *imax, long *istep)
{
    const struct mixer *mixer = ext->private_data;
    *imin = 0;
    *imax = key == VOLUME ? mixer->steps : 1;
    *istep = 1;
    return 0;
}

static int read_integer(snd_ctl_ext_t *ext, snd_ctl_ext_key_t key, long *value)
{
    long volume, is_on;
    int status = load(ext->private_data, &volume, &is_on);
    if (status == 0 && key == JACK) {
        *value = is_plugged(ext->private_data);
        return 0;
    }
    if (status == 0)
        *value = key == VOLUME ? volume : is_on;
    return status;
}

// Answers 1 if something changed, as the kernel's drivers do.
static int write_integer(snd_ctl_ext_t *ext, snd_ctl_ext_key_t key, long *value)
{
    long volume, is_on;
    int status = load(ext->private_data, &volume, &is_on);
    if (status < 0)
        return status;
    long *changed = key == VOLUME ? &volume : &is_on;
    if (*changed == *value)
        return 0;
    *changed = *value;
    status = store(ext->private_data, volume, is_on);
    return status < 0 ? status : 1;
}

static int read_event(snd_ctl_ext_t *ext, snd_ctl_elem_id_t *id, unsigned int *event_mask)
{
    struct mixer *mixer = ext->private_data;
    char events[4096] __attribute__((aligned(8)));
    if (is_unplugged(mixer))
        return -ENODEV;
    while (read(ext->poll_fd, events, sizeof events) > 0)
        mixer->pending = (1u << elem_count(ext)) - 1;
    if (mixer->pending == 0)
        return -EAGAIN;
    unsigned int offset = 0;
    while ((mixer->pending >> offset & 1) == 0)
        offset++;
    mixer->pending &= ~(1u << offset);
    elem_list(ext, offset, id);
    snd_ctl_elem_id_set_numid(id, offset + 1);
    *event_mask = SND_CTL_EVENT_MASK_VALUE;
    return 1;
}

static void close_mixer(snd_ctl_ext_t *ext)
{
    struct mixer *mixer = ext->private_data;
    if (mixer->ext.poll_fd >= 0)
        close(mixer->ext.poll_fd);
    if (mixer->file >= 0)
        close(mixer->file);
    free(mixer);
}

static const snd_ctl_ext_callback_t callbacks = {
    .close = close_mixer,
    .elem_count = elem_count,
    .elem_list = elem_list,
    .find_elem = find_elem,
    .get_attribute = get_attribute,
    .get_integer_info = get_integer_info,
    .read_integer = read_integer,
    .write_integer = write_integer,
    .read_event = read_event,
};

// Opens the values, which begin at full volume, and begins to watch them.
static int open_files(struct mixer *mixer)
{
    char name[PATH_LIMIT + 8];
    snprintf(name, sizeof name, "%s.mixer", mixer->path);
    mixer->file = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (mixer->file < 0)
        return -errno;
    if (lseek(mixer->file, 0, SEEK_END) == 0 && store(mixer, mixer->steps, 1) < 0)
        return -EIO;
    mixer->ext.poll_fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (mixer->ext.poll_fd < 0 || inotify_add_watch(mixer->ext.poll_fd, name, IN_MODIFY) < 0)
        return -errno;
    if (!mixer->has_jack)
        return 0;
    snprintf(name, sizeof name, "%s.jack", mixer->path);
    int jack = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (jack < 0)
        return -errno;
    close(jack);
    if (inotify_add_watch(mixer->ext.poll_fd, name, IN_MODIFY) < 0)
        return -errno;
    return 0;
}

static int read_settings(struct mixer *mixer, snd_config_t *conf)
{
    long lowest = -6000, has_switch = 1, has_jack = 0;
    const char *path = NULL;
    snd_config_iterator_t place, next;
    mixer->steps = 120;
    snd_config_for_each(place, next, conf) {
        snd_config_t *setting = snd_config_iterator_entry(place);
        const char *id;
        if (snd_config_get_id(setting, &id) < 0)
            continue;
        if (strcmp(id, "path") == 0)
            snd_config_get_string(setting, &path);
        else if (strcmp(id, "lowest") == 0)
            snd_config_get_integer(setting, &lowest);
        else if (strcmp(id, "steps") == 0)
            snd_config_get_integer(setting, &mixer->steps);
        else if (strcmp(id, "switch") == 0)
            snd_config_get_integer(setting, &has_switch);
        else if (strcmp(id, "jack") == 0)
            snd_config_get_integer(setting, &has_jack);
    }
    if (path == NULL || strlen(path) >= PATH_LIMIT || mixer->steps < 1 || lowest >= 0)
        return -EINVAL;
    strcpy(mixer->path, path);
    mixer->has_switch = has_switch != 0;
    mixer->has_jack = has_jack != 0;
    mixer->scale[0] = SND_CTL_TLVT_DB_SCALE;
    mixer->scale[1] = 2 * sizeof(unsigned);
    mixer->scale[2] = (unsigned)lowest;
    mixer->scale[3] = (unsigned)(-lowest / mixer->steps);
    return 0;
}

SND_CTL_PLUGIN_DEFINE_FUNC(simdac)
{
    (void)root;
    struct mixer *mixer = calloc(1, sizeof *mixer);
    if (mixer == NULL)
        return -ENOMEM;
    mixer->file = mixer->ext.poll_fd = -1;
    mixer->ext.private_data = mixer;
    int status = read_settings(mixer, conf);
    if (status == 0)
        status = is_unplugged(mixer) ? -ENODEV : open_files(mixer);
    if (status == 0) {
        mixer->ext.version = SND_CTL_EXT_VERSION;
        strcpy(mixer->ext.id, "simdac");
        strcpy(mixer->ext.driver, "simdac");
        strcpy(mixer->ext.name, "simulated card");
        strcpy(mixer->ext.longname, "simulated card");
        strcpy(mixer->ext.mixername, "simulated mixer");
        mixer->ext.callback = &callbacks;
        mixer->ext.tlv.p = mixer->scale;
        status = snd_ctl_ext_create(&mixer->ext, name, mode);
    }
    if (status < 0) {
        close_mixer(&mixer->ext);
        return status;
    }
    *handlep = mixer->ext.handle;
    return 0;
}
SND_CTL_PLUGIN_SYMBOL(simdac);
