// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GStreamer

/// The kinds of displays: which elements show pictures on them, and what is said when there is none.
enum Display {
    /// Where the kernel shows its displays.
    private static let cards = "/dev/dri"

    /// The factories of the sinks to try, in this order.
    static func sinks(for choice: RendererConfiguration.VideoSink) -> [String] {
        switch choice {
        case .none: []
        case .kms: ["kmssink"]
        // The second one where the server does not scale by itself.
        case .x11: ["xvimagesink", "ximagesink"]
        case .wayland: ["waylandsink"]
        case .auto:
            (hasWayland ? sinks(for: .wayland) : []) + (hasX11 ? sinks(for: .x11) : [])
                + (hasCards ? sinks(for: .kms) : [])
        }
    }

    /// What is said where there is nothing to try.
    static var absence: String {
        "There is no display: neither WAYLAND_DISPLAY nor DISPLAY is set, and there is no \(cards)."
    }

    /// Why `choice` cannot work here, as far as that is seen without opening anything; nil if it may.
    static func obstacle(to choice: RendererConfiguration.VideoSink) -> String? {
        switch choice {
        case .none: nil
        case .auto: hasWayland || hasX11 || hasCards ? nil : absence
        case .kms: hasCards ? nil : "There is no \(cards): no display that the kernel drives."
        case .x11: hasX11 ? nil : "DISPLAY is not set: there is no X server."
        case .wayland: hasWayland ? nil : "WAYLAND_DISPLAY is not set: there is no Wayland compositor."
        }
    }

    private static var hasWayland: Bool { isSet("WAYLAND_DISPLAY") }
    private static var hasX11: Bool { isSet("DISPLAY") }
    private static var hasCards: Bool { Library.exists(cards) }
    private static func isSet(_ name: String) -> Bool { Library.environment(name)?.isEmpty == false }

    /// The sentence for an element that is not installed.
    static func missing(_ element: String) -> String { "The GStreamer element \(element) is not installed." }

    /// Makes a sink show what it gets when it gets it: it is given a picture at the right moment.
    static func setUp(_ sink: Element) {
        for name in ["sync", "async", "qos", "enable-last-sample"] { sink.set(name, "false") }
        sink.set("force-aspect-ratio", "true")
        // The window comes with the first picture; GStreamer 1.22 complains that there is none yet, and does it then.
        sink.set("fullscreen", "true")
        // Nobody points at it.
        sink.set("handle-events", "false")
    }

    /// Texts stand at the bottom, in the middle, with an outline that is read on every picture.
    static func setUpText(_ overlay: Element) {
        for (name, value) in [
            ("valignment", "bottom"), ("halignment", "center"), ("line-alignment", "center"),
            ("wait-text", "false"), ("shaded-background", "false"),
        ] { overlay.set(name, value) }
        overlay.set("font-desc", string: "Sans, 18")
        overlay.set("text", string: "")
    }
}
