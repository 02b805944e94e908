// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import AudioOutput
import GStreamerRenderer
import Settings

/// The process that plays media for the receiver.
@main
struct LinnetRenderer {
    static func main() async {
        let arguments = Swift.CommandLine.arguments
        var configuration = RendererConfiguration()
        configuration.schemes.insert("file")
        if arguments.count > 1 { configuration.output.device = arguments[1] }
        if arguments.count > 2 { configuration.fallbackPlugins = arguments[2] }
        if arguments.count > 3 { configuration.warmFiles = arguments[3] }
        _ = await Console.run(configuration)
    }
}
