// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GLibLoop
import RouteWire
import Soup

/// What one connection is given to send, in order: small data frames of one turn of the loop leave together.
@RouteActor final class FrameOutlet {
    /// True once the receiver agreed on ``JoinedFrames``.
    var joinsFrames = false
    private weak var transport: (any LinkTransport)?
    private var gathered: [[UInt8]] = []
    private var gatheredBytes = 0
    private var isFlushAwaited = false

    init(_ transport: any LinkTransport) { self.transport = transport }

    func send(text: String) {
        flush()
        transport?.send(.text(text))
    }

    func send(_ frame: DataFrame) {
        guard let bytes = frame.bytes else { return }
        guard bytes.count <= JoinedFrames.frameLimit else {
            flush()
            transport?.send(.binary(bytes))
            return
        }
        gathered.append(bytes)
        gatheredBytes += bytes.count
        if gathered.count == JoinedFrames.countLimit || gatheredBytes > JoinedFrames.bytesLimit / 2 {
            return flush()
        }
        guard !isFlushAwaited else { return }
        isFlushAwaited = true
        RouteActor.shared.loop.atEndOfTurn { [weak self] in
            self?.isFlushAwaited = false
            self?.flush()
        }
    }

    /// Sends what was gathered.
    func flush() {
        guard !gathered.isEmpty else { return }
        let frames = gathered
        (gathered, gatheredBytes) = ([], 0)
        transport?.send(frames: frames, areJoined: joinsFrames)
    }
}
