// swift-tools-version: 6.2
// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
]

/// A Swift target with the house's settings.
func target(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, exclude: ["README.md"], swiftSettings: settings)
}

/// A program with the house's settings.
func program(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(
        name: name, dependencies: dependencies, exclude: ["README.md"], swiftSettings: settings)
}

/// A test target with the house's settings.
func tests(
    _ name: String, _ dependencies: [Target.Dependency], exclude: [String] = [],
    resources: [Resource]? = nil
) -> Target {
    .testTarget(
        name: name, dependencies: dependencies, exclude: exclude, resources: resources,
        swiftSettings: settings)
}

let package = Package(
    name: "linnet",
    products: [
        .library(name: "RouteKit", targets: ["RouteKit"]),
        .library(name: "LinnetApplication", targets: ["LinnetApplication"]),
        .executable(name: "linnetd", targets: ["linnetd"]),
        .executable(name: "linnet-renderer", targets: ["linnet-renderer"]),
        .executable(name: "linnet", targets: ["linnet"]),
        .executable(name: "linnet-bench", targets: ["linnet-bench"]),
        .executable(name: "party-queue", targets: ["party-queue"]),
        .executable(name: "group-player", targets: ["group-player"]),
    ],
    targets: [
        // MARK: C doors
        .systemLibrary(name: "CGLib", pkgConfig: "gio-unix-2.0"),
        .systemLibrary(name: "CSoup", pkgConfig: "libsoup-3.0"),
        .systemLibrary(name: "CAvahi", pkgConfig: "avahi-glib avahi-client"),
        .systemLibrary(name: "CALSA", pkgConfig: "alsa"),
        // The kernel's own calls, which need no library.
        .systemLibrary(name: "CSandbox"),
        .systemLibrary(name: "CInput"),
        .systemLibrary(
            name: "CGStreamer",
            pkgConfig:
                "gstreamer-1.0 gstreamer-base-1.0 gstreamer-app-1.0 gstreamer-audio-1.0 gstreamer-pbutils-1.0 gstreamer-tag-1.0"
        ),

        // MARK: Words
        // What media is: times, ranges, tracks, metadata, failures, and the renderer's vocabulary.
        target("MediaModel"),
        // What a companion application says about itself, and how it fails.
        target("ApplicationModel"),
        // Clock readings and arithmetic on them.
        target("Timing", ["MediaModel"]),

        // MARK: Core
        // Routes, sessions and the ownership of the one player, as a value.
        target("SessionCore", ["MediaModel", "ApplicationModel", "Timing"]),
        // Playing in step: the coordinator at the host, the participant on each member, the election, as values.
        target("GroupCore", ["MediaModel"]),
        // Which of several sources is heard, and why, as a value.
        target("SwitchingCore", ["MediaModel"]),
        // What an appliance decides about itself: settings on its card, updates, slots, as values.
        target("ApplianceCore"),

        // MARK: Wire formats
        // The native protocol: JSON-RPC messages, merge patches, data frames.
        target("RouteWire", ["MediaModel", "ApplicationModel", "Timing"]),
        // Frames between the daemon and its renderer process.
        target("RendererWire", ["MediaModel", "Timing"]),
        // Playlists of other people's making, told from media by their first bytes.
        target("Playlists", ["MediaModel"]),

        // What a member of a group and its host say to each other, in the words of the core.
        target("GroupLink", ["GroupCore", "RouteWire", "MediaModel", "Timing"]),

        // MARK: Runtime
        // Actors, ports and front ends of the receiver.
        target(
            "ReceiverRuntime",
            [
                "MediaModel", "ApplicationModel", "Timing", "SessionCore", "GroupCore", "SwitchingCore",
                "RouteWire", "GroupLink",
            ]),

        // MARK: Fences
        // A thread that runs GLib's main loop, as an executor; signals and asynchronous results.
        target("GLibLoop", ["CGLib"]),
        // HTTP and WebSocket, both sides, by libsoup.
        target("Soup", ["GLibLoop", "CGLib", "CSoup"]),
        // DNS-SD by the Avahi daemon.
        target("Avahi", ["GLibLoop", "CGLib", "CAvahi"]),
        // Command line, key files, journal, readiness, files and processes by GLib.
        target("Settings", ["GLibLoop", "CGLib"]),
        // Playback devices and mixers by alsa-lib.
        target("ALSA", ["CALSA"]),
        // UDP sockets, and the clock that belongs to them.
        target("Datagrams"),
        // Objects, signals and calls of D-Bus by GLib.
        target("DBus", ["GLibLoop", "CGLib"]),
        // Switches and keys of the kernel's input devices.
        target("InputDevices", ["CInput"]),
        // What a process gives up for good: files, system calls, privileges, memory.
        target("Sandbox", ["CSandbox"]),
        // Pipelines, tags and streams by GStreamer.
        target("GStreamer", ["GLibLoop", "CGLib", "CGStreamer"]),

        // MARK: Adapters
        // The receiver's listener on libsoup.
        target("SoupListener", ["ReceiverRuntime", "Soup", "GLibLoop"]),
        // The receiver's advertisement on Avahi.
        target("AvahiAdvertiser", ["ReceiverRuntime", "SessionCore", "Avahi", "GLibLoop"]),
        // A member's link to the host of its group, on libsoup.
        target("MemberLink", ["GroupLink", "Soup", "Settings", "GLibLoop"]),
        // The daemon's end of the renderer process.
        target(
            "RendererProcess", ["ReceiverRuntime", "RendererWire", "MediaModel", "Settings", "GLibLoop"]),
        // Companion applications in processes of their own.
        target(
            "ApplicationProcess",
            [
                "ReceiverRuntime", "SessionCore", "RouteWire", "ApplicationModel", "MediaModel", "Sandbox",
                "Settings", "GLibLoop",
            ]),
        // The clock that a group plays by, provided and followed over UDP.
        target("GroupClock", ["MediaModel", "Timing", "Datagrams", "GLibLoop"]),
        // Phones that play over Bluetooth, by BlueZ and bluez-alsa.
        target(
            "BluetoothSources",
            ["ReceiverRuntime", "SwitchingCore", "MediaModel", "DBus", "Settings", "GLibLoop"]),
        // Where the device is worn and what is plugged in, from switches.
        target(
            "PlacementSensors",
            ["ReceiverRuntime", "SwitchingCore", "MediaModel", "InputDevices", "GLibLoop"]),
        // The stage between decoded samples and the card.
        target("AudioOutput", ["MediaModel", "Timing", "ALSA"]),
        // The bytes of media on servers of HTTP, at hand for a thread that reads.
        target("MediaSource", ["MediaModel", "Soup", "GLibLoop"]),
        // Media played by GStreamer into the output stage.
        target(
            "GStreamerRenderer",
            [
                "MediaModel", "Timing", "GStreamer", "Soup", "AudioOutput", "MediaSource", "Playlists",
                "GLibLoop", "Settings",
            ]),

        // MARK: Public libraries
        // The sender's side of the protocol.
        target(
            "RouteKit",
            [
                "RouteWire", "GroupCore", "GroupLink", "GroupClock", "MemberLink", "MediaModel",
                "ApplicationModel", "Timing", "Soup", "Avahi", "GLibLoop",
            ]),

        // Companion applications in Swift.
        target(
            "LinnetApplication",
            ["RouteKit", "RouteWire", "MediaModel", "ApplicationModel", "Settings", "GLibLoop"]),

        // MARK: Programs
        program(
            "linnetd",
            [
                "ReceiverRuntime", "SoupListener", "AvahiAdvertiser", "MemberLink", "GroupClock",
                "BluetoothSources", "PlacementSensors", "RendererProcess", "RendererWire",
                "ApplicationProcess", "SwitchingCore", "Settings", "GLibLoop", "MediaModel", "Timing",
            ]),
        program(
            "linnet-renderer",
            [
                "GStreamerRenderer", "AudioOutput", "RendererWire", "MediaModel", "Sandbox", "Settings",
                "GLibLoop",
            ]),
        program(
            "linnet",
            [
                "RouteKit", "RouteWire", "Playlists", "ApplianceCore", "InputDevices", "Soup", "Settings",
                "MediaModel", "ApplicationModel", "GLibLoop",
            ]),
        // A sample application.
        program("party-queue", ["LinnetApplication", "RouteKit"]),
        // A sample player with an output of its own that plays in a group.
        program(
            "group-player", ["RouteKit", "GStreamer", "MediaModel", "Timing", "Settings", "GLibLoop"]),
        program(
            "linnet-bench",
            [
                "RouteKit", "LinnetApplication", "MediaModel", "SeededNumbers", "Settings", "SystemProbe",
                "ReceiverTestKit", "Soup", "GLibLoop", "LinkSimulation", "Timing", "SwitchingCore",
                "SessionCore",
                "ReceiverRuntime", "RendererProcess", "RendererWire",
            ]),

        // MARK: Test support
        // Fakes of the runtime's ports, a clock moved by hand, the simulated card's reader.
        target(
            "ReceiverTestKit",
            [
                "ReceiverRuntime", "SessionCore", "SwitchingCore", "GroupLink", "MediaModel",
                "ApplicationModel",
                "Timing",
            ]),

        // Random numbers that come again.
        target("SeededNumbers"),

        // Exchanges with a clock over a network, both simulated.
        target("LinkSimulation", ["SeededNumbers"]),

        // A loop for the tests of what lives on one.
        target("LoopTestKit", ["GLibLoop"]),

        // Blocking processes, sockets and counters of the system, for benches and tests.
        target("SystemProbe"),

        // Publishes or browses one service, run by tests inside other network namespaces.
        program("dns-sd-probe", ["Avahi", "Settings", "GLibLoop"]),

        // Lets a script lead the receiver's Bluetooth, in the guests of Tests/Bluetooth.
        program(
            "bluetooth-probe",
            ["BluetoothSources", "ReceiverRuntime", "SwitchingCore", "MediaModel", "Settings", "GLibLoop"]),

        // Replaces one file until it is killed.
        program("write-probe", ["Settings", "GLibLoop"]),

        // MARK: Tests
        tests("ApplicationModelTests", ["ApplicationModel"]),
        tests("MediaModelTests", ["MediaModel"]),
        tests("TimingTests", ["LinkSimulation", "SeededNumbers", "Timing", "MediaModel"]),
        tests(
            "SessionCoreTests",
            ["SeededNumbers", "SessionCore", "MediaModel", "ApplicationModel", "Timing"]),
        tests("GroupCoreTests", ["SeededNumbers", "GroupCore", "MediaModel"]),
        tests("ApplianceCoreTests", ["ApplianceCore"]),
        tests(
            "ApplianceTests", ["ApplianceCore", "linnet", "RouteKit", "RouteWire", "Settings", "GLibLoop"]),
        tests("SwitchingCoreTests", ["SeededNumbers", "SwitchingCore", "MediaModel"]),
        tests(
            "RouteWireTests", ["SeededNumbers", "RouteWire", "MediaModel", "ApplicationModel"],
            exclude: ["Fixtures"]),
        tests("RendererWireTests", ["SeededNumbers", "RendererWire", "MediaModel"]),
        tests("PlaylistsTests", ["Playlists", "MediaModel"], exclude: ["Fixtures"]),
        tests(
            "ReceiverRuntimeTests",
            [
                "ReceiverRuntime", "ReceiverTestKit", "SeededNumbers", "SessionCore", "SwitchingCore",
                "RouteWire",
                "MediaModel", "ApplicationModel", "GLibLoop",
            ]),
        tests("GLibLoopTests", ["LoopTestKit", "GLibLoop", "Settings"]),
        tests("SoupTests", ["LoopTestKit", "Soup", "GLibLoop", "SeededNumbers"]),
        tests("DatagramsTests", ["Datagrams", "GLibLoop"]),
        tests("MemberLinkTests", ["MemberLink", "GroupLink", "LoopTestKit", "Soup", "GLibLoop"]),
        tests(
            "GroupClockTests",
            ["GroupClock", "Datagrams", "LoopTestKit", "SystemProbe", "Timing", "MediaModel", "GLibLoop"]),
        tests("DBusTests", ["DBus", "LoopTestKit", "GLibLoop", "Settings"]),
        tests(
            "BluetoothSourcesTests",
            [
                "BluetoothSources", "DBus", "ReceiverRuntime", "SwitchingCore", "LoopTestKit", "MediaModel",
                "Settings", "GLibLoop",
            ]),
        tests(
            "PlacementSensorsTests",
            [
                "PlacementSensors", "InputDevices", "ReceiverRuntime", "SwitchingCore", "LoopTestKit",
                "MediaModel",
                "GLibLoop",
            ]),
        tests("AvahiTests", ["LoopTestKit", "Avahi", "GLibLoop", "Settings"]),
        tests("MediaSourceTests", ["MediaSource", "MediaModel", "Soup"], exclude: ["misbehave.py"]),
        tests("AudioOutputTests", ["AudioOutput", "ALSA", "MediaModel", "ReceiverTestKit"]),
        tests(
            "GStreamerRendererTests",
            ["GStreamerRenderer", "GStreamer", "AudioOutput", "MediaModel", "GLibLoop", "ReceiverTestKit"]),
        tests(
            "RouteKitTests",
            [
                "RouteKit", "RouteWire", "GroupCore", "GroupLink", "GroupClock", "MemberLink", "Playlists",
                "MediaModel", "Timing", "Soup", "Settings", "GLibLoop", "linnet",
            ]),
        tests(
            "SoupListenerTests",
            ["SoupListener", "ReceiverRuntime", "ReceiverTestKit", "LoopTestKit", "Soup", "GLibLoop"]),
        tests(
            "RendererProcessTests",
            [
                "RendererProcess", "RendererWire", "ReceiverRuntime", "ReceiverTestKit", "SessionCore",
                "SwitchingCore", "MediaModel", "Settings",
                "GLibLoop",
            ]),
        tests(
            "ApplicationProcessTests",
            [
                "ApplicationProcess", "ApplicationModel", "ReceiverRuntime", "SessionCore", "RouteWire",
                "ReceiverTestKit", "LoopTestKit", "MediaModel", "SeededNumbers", "Settings", "GLibLoop",
            ], exclude: ["Applications"]),
        tests(
            "IntegrationTests",
            [
                "RouteKit", "MediaModel", "ApplicationModel", "ReceiverTestKit", "Settings", "SystemProbe",
                "GLibLoop", "Soup", "RouteWire", "SeededNumbers", "LoopTestKit",
            ]),
    ]
)
