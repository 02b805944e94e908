// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// How the samples of a source come that is captured live.
package struct CaptureFormat: Hashable, Sendable {
    /// The raw value is the stable name.
    package enum Sample: String, Sendable, CaseIterable { case s16le, s24le, s32le }

    package var sampleRate: Int32
    package var channels: Int32
    package var sample: Sample
    /// How old a sample is when it arrives here.
    package var latencyNanoseconds: Int64

    package init(
        sampleRate: Int32, channels: Int32, sample: Sample = .s16le, latencyNanoseconds: Int64 = 0
    ) {
        (self.sampleRate, self.channels, self.sample) = (sampleRate, channels, sample)
        self.latencyNanoseconds = latencyNanoseconds
    }
}
