// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
package import ReceiverRuntime
package import SwitchingCore

/// A phone that plays a tone on the right channel, as fast as it is heard, through a pipe: what a Bluetooth stack hands over. It
/// obeys at once.
package final class TonePhones: ExternalSources {
    package static let format = CaptureFormat(sampleRate: 48_000, channels: 2)
    package let address: SourceAddress
    private let later: (@escaping () -> Void) -> Void
    private let step: Double
    private let amplitude: Double
    private var reporter: ((ExternalSourceEvent) -> Void)?
    private var feed: Task<Void, Never>?
    package private(set) var isStreaming = false

    /// `later` runs what it is given in a later turn of the loop. `step` is the angle between two frames.
    package init(
        address: SourceAddress, step: Double = 0.0576, amplitude: Double = 0.3,
        later: @escaping (@escaping () -> Void) -> Void
    ) {
        (self.address, self.step, self.amplitude, self.later) = (address, step, amplitude, later)
        _ = signal(SIGPIPE, SIG_IGN)
    }

    /// The largest difference between two samples.
    package var largestStep: Int { Int((amplitude * 32_767 * step).rounded(.up)) }

    package func start(report: @escaping (ExternalSourceEvent) -> Void) {
        reporter = report
        tell(.availabilityChanged(.ready))
        tell(.connected(address, name: "Phone"))
    }

    private func tell(_ event: ExternalSourceEvent) { later { [weak self] in self?.reporter?(event) } }

    /// Somebody presses play or pause at the phone.
    package func setStreaming(_ isStreaming: Bool) {
        guard isStreaming != self.isStreaming else { return }
        self.isStreaming = isStreaming
        tell(.streaming(address, isStreaming ? Self.format : nil))
    }

    package func send(_ command: ExternalSourceCommand) {
        switch command {
        case .open:
            var ends: [Int32] = [-1, -1]
            guard unsafe pipe(&ends) == 0 else { return tell(.openFailed(address, reason: "no pipe")) }
            for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
            _ = fcntl(ends[1], F_SETFL, O_NONBLOCK)
            feed?.cancel()
            let tone = Tone(end: ends[1], step: step, amplitude: amplitude)
            feed = Task.detached { await tone.play() }
            tell(.opened(address, descriptor: ends[0], Self.format))
        case .close:
            feed?.cancel()
            feed = nil
        case .play: setStreaming(true)
        case .pause: setStreaming(false)
        case .setVolume, .openPairing, .closePairing, .confirmPairing, .forget, .disconnect: break
        }
    }

    package func shutDown() {
        feed?.cancel()
        reporter = nil
    }
}

/// What a phone sends into a pipe.
private struct Tone: Sendable {
    let end: Int32
    let step: Double
    let amplitude: Double

    /// Writes a hundredth of a second at a time, until nobody reads; what finds no room is lost, as over the air.
    func play() async {
        defer { close(end) }
        let (cosine, sine) = (Glibc.cos(step), Glibc.sin(step))
        var (x, y) = (1.0, 0.0)
        var due = ContinuousClock.now
        while !Task.isCancelled {
            var bytes: [UInt8] = []
            for _ in 0..<480 {
                (x, y) = (x * cosine - y * sine, x * sine + y * cosine)
                let sample = UInt16(bitPattern: Int16(amplitude * y * 32_767))
                bytes += [0, 0, UInt8(truncatingIfNeeded: sample), UInt8(truncatingIfNeeded: sample >> 8)]
            }
            let written = unsafe bytes.withUnsafeBytes { unsafe write(end, $0.baseAddress, $0.count) }
            if written < 0, errno != EAGAIN { return }
            due += .milliseconds(10)
            try? await Task.sleep(until: due)
        }
    }
}
