// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

package import AudioOutput

/// How the renderer is set up.
package struct RendererConfiguration: Equatable, Sendable {
    /// Where pictures go. Without a place for them they are not decoded.
    package enum VideoSink: String, Sendable, CaseIterable {
        case none
        /// Whichever of the others works.
        case auto
        case kms
        case x11
        case wayland
    }

    package var output: AudioOutputConfiguration
    package var video: VideoSink
    /// Sent with requests of items that name no other.
    package var userAgent: String
    /// Addresses of other schemes are refused.
    package var schemes: Set<String>
    /// A folder of plugins that are loaded when the usual ones do not do; nil for none.
    package var fallbackPlugins: String?
    /// How long a stream whose server is gone is waited for.
    package var outageLimit = Duration.seconds(120)
    /// A folder of tiny files, one of each format, that are decoded while warming up; nil for none.
    package var warmFiles: String?

    package init(
        output: AudioOutputConfiguration = .init(), video: VideoSink = .none, userAgent: String = "Linnet",
        schemes: Set<String> = ["http", "https"], fallbackPlugins: String? = nil, warmFiles: String? = nil
    ) {
        (self.output, self.video, self.userAgent, self.schemes) = (output, video, userAgent, schemes)
        (self.fallbackPlugins, self.warmFiles) = (fallbackPlugins, warmFiles)
    }
}
