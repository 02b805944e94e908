// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

extension Setting {
    static let name = Setting(
        group: "receiver", key: "name", option: "name", kind: .text(0...63), fallback: "",
        summary: "name that senders show; empty is the host's name",
        detail: """
            Counts until somebody renames the receiver over the network; from then on the name that was given \
            is kept in the state folder and this one is not used.
            """)
    static let model = Setting(
        group: "receiver", key: "model", option: "model", kind: .text(1...63), fallback: "Linnet",
        summary: "model that senders show", detail: "")
    static let deviceType = Setting(
        group: "receiver", key: "type", option: "type", kind: .choice(["speaker", "tv"]), fallback: "speaker",
        summary: "what kind of device senders show", detail: "")

    static let port = Setting(
        group: "network", key: "port", option: "port", kind: .integer(0...65535), fallback: "7380",
        summary: "TCP port of HTTP and WebSocket; 0 takes a free one",
        detail: "The advertisement names the port that was taken.")
    static let clockPort = Setting(
        group: "network", key: "clock-port", option: "clock-port", kind: .integer(0...65535),
        fallback: "7381",
        summary: "UDP port of the clock of groups; 0 takes a free one",
        detail: "Open while the receiver is the host of a group. Where somebody has it, a free one is taken.")
    static let hostNames = Setting(
        group: "network", key: "hostnames", option: "hostnames", kind: .list, fallback: "",
        summary: "further names under which the receiver is reached",
        detail: """
            A request must name the receiver by an IP address, by localhost, by the host's name, with or without .local, \
            or by one of these names. Others are refused, because a web page could have made them up.
            """)
    static let advertise = Setting(
        group: "network", key: "advertise", option: "advertise", kind: .boolean, fallback: "yes",
        summary: "make the receiver known by DNS-SD, through Avahi", detail: "")
    static let webPage = Setting(
        group: "network", key: "web-page", option: "web-page", kind: .boolean, fallback: "yes",
        summary: "show browsers a page to control the receiver",
        detail: "It is at http://HOST:PORT/ and may do what any sender may.")

    static let accessPolicy = Setting(
        group: "access", key: "policy", option: "access-policy", kind: .choice(["open"]), fallback: "open",
        summary: "who may use the receiver", detail: "With open, everybody on the network may.")

    static let takeover = Setting(
        group: "sessions", key: "takeover", option: "takeover", kind: .choice(["takeOver", "refuse"]),
        fallback: "takeOver", summary: "what happens when somebody plays while another one does",
        detail:
            "With takeOver the newcomer plays and the other is told who it was; with refuse the newcomer is refused."
    )
    static let keepPlaying = Setting(
        group: "sessions", key: "keep-playing", option: "keep-playing", kind: .boolean, fallback: "yes",
        summary: "go on playing when the sender stays away", detail: "")
    static let grace = Setting(
        group: "sessions", key: "grace-seconds", option: "grace-seconds", kind: .integer(0...3600),
        fallback: "30", summary: "time in which a lost sender may come back to its route", detail: "")
    static let loadTimeout = Setting(
        group: "sessions", key: "load-timeout-seconds", option: "load-timeout-seconds",
        kind: .integer(1...600), fallback: "30", summary: "longest time for an item to load", detail: "")
    static let outage = Setting(
        group: "sessions", key: "outage-seconds", option: "outage-seconds", kind: .integer(0...3600),
        fallback: "120", summary: "longest time that a server which is gone is waited for",
        detail: """
            What has played is asked for again until then, and goes on where it was, or at the newest moment if it is \
            live. Then it fails.
            """)
    static let stallTimeout = Setting(
        group: "sessions", key: "stall-timeout-seconds", option: "stall-timeout-seconds",
        kind: .number(0.25...600), fallback: "5",
        summary: "longest time that an item stands still while it should play",
        detail: "Then it is pushed, then the renderer is started again, then the session ends with an error.")
    static let allowFile = Setting(
        group: "sessions", key: "allow-file", option: "allow-file", kind: .boolean, fallback: "no",
        summary: "play file: URLs, files of this host",
        detail: "Every sender on the network can then have any file played that the receiver's user can read."
    )

    static let device = Setting(
        group: "output", key: "device", option: "device", kind: .text(1...255), fallback: "auto",
        summary: "ALSA device, by card id or PCM name; auto or null",
        detail: """
            A card id as in /proc/asound/cards (such as Headphones), or the name of an ALSA PCM (such as \
            plughw:CARD=Headphones). With auto a USB card comes first, then a converter at the pins of the board, then HDMI with \
            a display, then a jack, and the default device if none of them opens; none if there is no card. With null \
            nothing is heard and the clock paces what plays.
            """)
    static let jackDevice = Setting(
        group: "output", key: "jack-device", option: "jack-device", kind: .text(0...255), fallback: "",
        summary: "ALSA device that is used while something is plugged into the jack; empty: device is",
        detail: """
            For hardware that does not switch over by itself, such as a headphone amplifier with a converter of its own. What \
            is heard goes on there in its place, and comes back when the jack is pulled. Which jack that is, is said by jack in \
            [accessory].
            """)
    static let mixer = Setting(
        group: "output", key: "mixer", option: "mixer", kind: .text(1...63), fallback: "auto",
        summary: "mixer element that follows the volume; auto or none",
        detail:
            "With auto the usual elements are tried; with none, or if there is none, the volume is made in software."
    )
    static let volume = Setting(
        group: "output", key: "volume", option: "volume", kind: .number(0...1), fallback: "0.5",
        summary: "volume at the very first start",
        detail: "Afterwards the volume that was last set is kept in the state folder.")
    static let volumeCap = Setting(
        group: "output", key: "volume-cap", option: "volume-cap", kind: .number(0...1), fallback: "1",
        summary: "highest volume that anybody can set", detail: "")
    static let closeAfter = Setting(
        group: "output", key: "close-after-seconds", option: "close-after-seconds", kind: .integer(0...3600),
        fallback: "5", summary: "time after which an unused device is given up",
        detail: "Until then other programs find it busy.")
    static let buffer = Setting(
        group: "output", key: "buffer-milliseconds", option: "buffer-milliseconds", kind: .integer(50...2000),
        fallback: "150", summary: "sound that the device has queued at most",
        detail: """
            More of it helps against gaps on a busy machine; a volume that is made in software is heard that much later. \
            A device that has less takes what it has.
            """)

    static let videoSink = Setting(
        group: "video", key: "sink", option: "video-sink",
        kind: .choice(["none", "auto", "kms", "x11", "wayland"]), fallback: "none",
        summary: "where pictures go",
        detail: """
            With none the pictures are not even decoded. With x11 and wayland they are shown on the display that the daemon's \
            environment names (DISPLAY, WAYLAND_DISPLAY), with kms on the kernel's own, which nothing else may hold; auto is \
            the first of wayland, x11 and kms that is there. Without a display the sound is heard all the same, and senders \
            are told why nothing is seen.
            """)

    static let rendererMode = Setting(
        group: "renderer", key: "mode", option: "renderer-mode", kind: .choice(["warm", "on-demand"]),
        fallback: "warm", summary: "when the renderer process runs",
        detail: """
            With warm it is always there, and the first sound comes at once. With on-demand it is started when there is \
            something to play and ends after a minute without: less memory, a later first sound.
            """)
    static let rendererProgram = Setting(
        group: "renderer", key: "program", option: "renderer-program", kind: .path, fallback: "",
        summary: "the renderer's program; empty is the one beside linnetd", detail: "")
    static let pluginFolder = Setting(
        group: "renderer", key: "plugin-folder", option: "plugin-folder", kind: .path, fallback: "",
        summary: "folder of GStreamer plugins made by linnet-renderer --prepare",
        detail: """
            Empty is the folder that was installed with the program; if there is none, all plugins of the system are used, \
            which takes more memory and a longer start.
            """)

    static let confine = Setting(
        group: "renderer", key: "confine", option: "confine", kind: .boolean, fallback: "yes",
        summary: "take from the renderer what playing does not need",
        detail: """
            Files outside of the system's, writing outside of a scratch folder in the state folder, other programs, raw \
            sockets, privileges. What this host's kernel cannot do of it is logged and shown by linnet doctor.
            """)
    static let readable = Setting(
        group: "renderer", key: "readable", option: "renderer-readable", kind: .list, fallback: "",
        summary: "further paths that a confined renderer reads",
        detail: "For sound plugins, certificates or fonts in places of their own.")
    static let writable = Setting(
        group: "renderer", key: "writable", option: "renderer-writable", kind: .list, fallback: "",
        summary: "further paths that a confined renderer writes",
        detail: "For an ALSA device that writes to a file or a pipe, such as /tmp/snapfifo.")
    static let memoryLimit = Setting(
        group: "renderer", key: "memory-limit", option: "memory-limit", kind: .integer(128...65536),
        fallback: "1024", summary: "most memory of a confined renderer in MiB",
        detail: """
            A renderer that wants more ends, and what it played is loaded once more. Where pictures are shown, it has 1024 \
            more.
            """)

    static let applications = Setting(
        group: "applications", key: "enabled", option: "applications", kind: .boolean, fallback: "yes",
        summary: "start companion applications for senders", detail: "")
    static let systemApplications = Setting(
        group: "applications", key: "system-folder", option: "applications-system-folder", kind: .path,
        fallback: "/usr/lib/linnet/applications",
        summary: "folder of the applications that came with the system",
        detail: "What is wrong with an application there is told by --check-config and --self-test.")
    static let localApplications = Setting(
        group: "applications", key: "local-folder", option: "applications-local-folder", kind: .path,
        fallback: "/usr/local/lib/linnet/applications",
        summary: "folder of the applications that an administrator installed",
        detail: "An application there takes the place of one of the system with the same id.")
    static let applicationStorage = Setting(
        group: "applications", key: "storage-folder", option: "applications-storage-folder", kind: .path,
        fallback: "", summary: "folder in which applications keep files, each in one of its own",
        detail: """
            Empty is application-storage in the state folder of whoever starts them: the daemon, or the service of launcher. If \
            that is root, the user of applications must be able to pass through the folders above.
            """)
    static let applicationUser = Setting(
        group: "applications", key: "user", option: "applications-user", kind: .text(1...32),
        fallback: "nobody",
        summary: "user whose rights applications have, if the daemon runs as root",
        detail: """
            Otherwise they run as the user of whoever starts them, the daemon or the service of launcher; the walls around \
            them are the same.
            """)
    static let launcher = Setting(
        group: "applications", key: "launcher", option: "applications-launcher", kind: .path, fallback: "",
        summary: "local socket of the service that starts applications",
        detail: """
            Empty: the daemon starts them itself, and needs the rights to make their walls. The installed unit names \
            /run/linnet-application.socket: for each application a service then runs linnetd --launch-application, as the user \
            linnet-applications.
            """)
    static let applicationConfinement = Setting(
        group: "applications", key: "confinement", option: "applications-confinement",
        kind: .choice(["required", "preferred"]), fallback: "required",
        summary: "whether applications start where they cannot be confined",
        detail: """
            With required an application is refused where bubblewrap is not installed or the kernel allows no user \
            namespaces. With preferred it is started there with limits alone, and has the rights of its user.
            """)
    static let browser = Setting(
        group: "applications", key: "browser", option: "applications-browser", kind: .text(0...255),
        fallback: "",
        summary: "command line that shows the page of an application",
        detail: """
            Words with blanks between; %u is the URL, which else comes last. Such as: chromium --kiosk --app=%u. It is started \
            with DISPLAY, WAYLAND_DISPLAY and what belongs to them from the daemon's environment, and has a home of its own \
            for each application. Empty: applications that are pages are refused.
            """)
    static let pythonFolder = Setting(
        group: "applications", key: "python-folder", option: "applications-python-folder", kind: .path,
        fallback: "",
        summary: "folder of the Python helper for applications",
        detail: "Empty is the one that was installed.")

    static let accessoryCapabilities = Setting(
        group: "accessory", key: "capabilities", option: "accessory-capabilities", kind: .list,
        fallback: "audioSwitching",
        summary: "what the device can do as an accessory",
        detail: """
            Of audioSwitching, placement, audioSpatialization, headTracking. Nothing else is ever reported, so name only what the \
            hardware does; placement needs a placement-sensor. It counts where there is a source besides the network.
            """)
    static let bluetooth = Setting(
        group: "accessory", key: "bluetooth", option: "bluetooth", kind: .boolean, fallback: "no",
        summary: "let phones play over Bluetooth", detail: "Needs BlueZ and bluez-alsa.")
    static let lineIns = Setting(
        group: "accessory", key: "line-in", option: "line-in", kind: .list, fallback: "",
        summary: "ALSA capture devices that are sources while sound comes from them",
        detail: """
            Each is a device, such as plughw:CARD=Line, or a name for people and a device, such as Turntable=plughw:CARD=Line.
            """)
    static let lineInThreshold = Setting(
        group: "accessory", key: "line-in-threshold", option: "line-in-threshold", kind: .number(-90...0),
        fallback: "-50", summary: "level above which a line-in is playing, in decibels below full scale",
        detail: "")
    static let lineInHold = Setting(
        group: "accessory", key: "line-in-hold-seconds", option: "line-in-hold-seconds",
        kind: .number(0.5...600),
        fallback: "10", summary: "time after which a quiet line-in is not playing any more", detail: "")
    static let confirmPairing = Setting(
        group: "accessory", key: "confirm-pairing", option: "confirm-pairing", kind: .boolean,
        fallback: "yes",
        summary: "have somebody say of each phone whether it is the right one",
        detail: "With no, the first phone that comes while pairing is open is taken.")
    static let placementSensor = Setting(
        group: "accessory", key: "placement-sensor", option: "placement-sensor", kind: .text(0...255),
        fallback: "",
        summary: "input device with switches that tell where the device is worn or what is plugged in",
        detail: "A path, or the name that the device has for itself. Empty: there is none.")
    static let placementRules = Setting(
        group: "accessory", key: "placement-rules", option: "placement-rules", kind: .list, fallback: "",
        summary: "what the switches of the sensor mean",
        detail: """
            SW_FRONT_PROXIMITY=onHead: on, the device is worn so (inEar, onHead, overTheEar), off, it is not worn. A ! in front \
            is the other way round. SW_HEADPHONE_INSERT=jack:Headphones: on, something is plugged in.
            """)
    static let jack = Setting(
        group: "accessory", key: "jack", option: "jack", kind: .text(0...63), fallback: "",
        summary: "control of the card that tells whether its jack is used; empty is none",
        detail:
            "Such as Headphone Jack. Senders see it, and unplugged says what happens when the jack is pulled."
    )
    static let unplugged = Setting(
        group: "accessory", key: "unplugged", option: "unplugged", kind: .choice(["continue", "pause"]),
        fallback: "continue", summary: "what happens when the jack is pulled", detail: "")
    static let switchHold = Setting(
        group: "accessory", key: "hold-seconds", option: "switch-hold-seconds", kind: .number(0...3600),
        fallback: "8",
        summary: "how long a source that pauses keeps the output",
        detail: "Then what was heard before goes on.")
    static let switchResume = Setting(
        group: "accessory", key: "resume", option: "switch-resume",
        kind: .choice(["always", "calls", "never"]),
        fallback: "always", summary: "whether what was heard before comes back",
        detail: "With calls only what a call interrupted does.")
    static let switchResumeLimit = Setting(
        group: "accessory", key: "resume-limit-seconds", option: "switch-resume-limit-seconds",
        kind: .integer(1...86400), fallback: "600",
        summary: "how long after it lost the output a source comes back",
        detail: "After a call there is no limit.")
    static let wearLimit = Setting(
        group: "accessory", key: "wear-limit-seconds", option: "wear-limit-seconds",
        kind: .integer(0...86400),
        fallback: "300",
        summary: "how long after the device was taken off what was heard goes on when it is worn again",
        detail: "")

    static let logLevel = Setting(
        group: "log", key: "level", option: "log-level",
        kind: .choice(["error", "warning", "notice", "info", "debug"]), fallback: "info",
        summary: "least important lines that are logged", detail: "")

    static let stateFolder = Setting(
        group: "state", key: "folder", option: "state-dir", kind: .path, fallback: "",
        summary: "folder for what must survive a restart",
        detail: """
            Empty is the folder that the service manager names (STATE_DIRECTORY); else /var/lib/linnet for root, \
            and ~/.local/state/linnet for others.
            """)

    /// Every setting, in the order of the manual.
    static let all: [Setting] = [
        name, model, deviceType, port, clockPort, hostNames, advertise, webPage, accessPolicy, takeover,
        keepPlaying,
        grace,
        loadTimeout, outage, stallTimeout, allowFile, device, jackDevice, mixer, volume, volumeCap,
        closeAfter, buffer,
        videoSink, rendererMode, rendererProgram, pluginFolder, confine, readable, writable, memoryLimit,
        applications, systemApplications, localApplications, applicationStorage, applicationUser, launcher,
        applicationConfinement, browser, pythonFolder, accessoryCapabilities, bluetooth, lineIns,
        lineInThreshold, lineInHold, confirmPairing, placementSensor, placementRules, jack, unplugged,
        switchHold, switchResume,
        switchResumeLimit, wearLimit, logLevel, stateFolder,
    ]

    /// The groups in their order.
    static let groups: [String] = all.reduce(into: []) { groups, setting in
        if groups.last != setting.group { groups.append(setting.group) }
    }
}
