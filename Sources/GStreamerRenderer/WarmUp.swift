// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import AudioOutput
import GStreamer

extension GStreamerRenderer {
    /// Elements of every format that is played with the usual plugins.
    private static let usualElements = [
        "uridecodebin3", ByteSourceElement.factory, "typefind", "queue2", "multiqueue", "audioconvert",
        "scaletempo",
        "audioresample", "appsink", "flacparse", "flacdec", "id3demux", "mpegaudioparse", "mpg123audiodec",
        "wavparse", "qtdemux", "aacparse", "faad",
    ]

    func warmUp() {
        let files = configuration.warmFiles
        SerialWorker().perform {
            for element in Self.usualElements { Library.load(element) }
            for name in ["warm.flac", "warm.mp3", "warm.m4a", "warm.wav"] {
                guard let files else { break }
                _ = Library.run(
                    "uridecodebin3 uri=\"file://\(files)/\(name)\" ! audioconvert ! scaletempo ! audioresample"
                        + " ! fakesink sync=false", timeout: .seconds(2))
            }
            finishWarmUp()
        }
    }
}
