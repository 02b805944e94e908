// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import CALSA

/// A device of alsa-lib, opened without blocking. Moving it moves the handle; dropping it closes it.
@safe package struct PCM: ~Copyable {
    /// A negative status of alsa-lib.
    package struct Failure: Error, Equatable, CustomStringConvertible {
        package let status: Int32
        package init(status: Int32) { self.status = status }
        /// The device is not there, or went away.
        package var isAbsence: Bool {
            [ENODEV, ENOENT, ENXIO, ENOTTY, EBADF, EIO, ESHUTDOWN].contains(-status) || status == -EBADFD
        }
        /// Somebody else holds the device.
        package var isBusy: Bool { status == -EBUSY || status == -EAGAIN }
        package var description: String {
            unsafe snd_strerror(status).map { unsafe String(cString: $0) } ?? ""
        }
    }

    /// The layouts of samples that are written.
    package enum Format: CaseIterable, Sendable {
        case int32
        /// Three bytes for a sample.
        case int24
        case int16

        package var bytesPerSample: Int {
            switch self {
            case .int32: 4
            case .int24: 3
            case .int16: 2
            }
        }
        fileprivate var code: snd_pcm_format_t {
            switch self {
            case .int32: SND_PCM_FORMAT_S32_LE
            case .int24: SND_PCM_FORMAT_S24_3LE
            case .int16: SND_PCM_FORMAT_S16_LE
            }
        }
    }

    /// What a device was set up for.
    package struct Setup: Equatable, Sendable {
        package var rate: Int32
        package var format: Format
        package var channels: Int32
        package var bufferFrames: Int
        package var periodFrames: Int
        package var canPause: Bool

        package init(
            rate: Int32, format: Format, channels: Int32, bufferFrames: Int, periodFrames: Int, canPause: Bool
        ) {
            (self.rate, self.format, self.channels) = (rate, format, channels)
            (self.bufferFrames, self.periodFrames, self.canPause) = (bufferFrames, periodFrames, canPause)
        }

        package var frameBytes: Int { format.bytesPerSample * Int(channels) }
    }

    /// What came of a write or a question for room.
    package enum Outcome: Equatable, Sendable {
        case frames(Int)
        /// The device ran out of frames; it must be prepared again.
        case underrun
    }

    let handle: OpaquePointer
    private var descriptors: [pollfd]

    /// Opens `name`. Nothing is printed on failure.
    package init(opening name: String) throws(Failure) {
        try self.init(name, SND_PCM_STREAM_PLAYBACK)
    }

    /// Opens `name` to read from it.
    package init(capturing name: String) throws(Failure) {
        try self.init(name, SND_PCM_STREAM_CAPTURE)
    }

    private init(_ name: String, _ stream: snd_pcm_stream_t) throws(Failure) {
        alsa_shim_silence()
        var opened: OpaquePointer?
        let status = unsafe snd_pcm_open(&opened, name, stream, Int32(SND_PCM_NONBLOCK))
        guard status == 0, let opened = unsafe opened else { throw Failure(status: status) }
        unsafe handle = opened
        // Not where it is declared: the compiler of Swift 6.2.3 would have it destroyed when nothing was opened.
        descriptors = []
    }

    deinit { _ = unsafe snd_pcm_close(handle) }

    /// The rates among `candidates` that the device plays itself, without conversion inside alsa-lib.
    package func supportedRates(among candidates: [Int32]) throws(Failure) -> [Int32] {
        let parameters = unsafe try allParameters()
        defer { unsafe snd_pcm_hw_params_free(parameters) }
        return candidates.filter {
            unsafe snd_pcm_hw_params_test_rate(handle, parameters, UInt32($0), 0) == 0
        }
    }

    /// Sets the device up and prepares it. `rate` is taken as near as the device can.
    package func configure(
        rate: Int32, bufferTime: Duration, periodTime: Duration
    ) throws(Failure) -> Setup {
        _ = unsafe snd_pcm_drop(handle)
        _ = unsafe snd_pcm_hw_free(handle)
        let parameters = unsafe try allParameters()
        defer { unsafe snd_pcm_hw_params_free(parameters) }
        try Self.check(
            unsafe snd_pcm_hw_params_set_access(handle, parameters, SND_PCM_ACCESS_RW_INTERLEAVED))
        guard
            let format = Format.allCases.first(where: {
                unsafe snd_pcm_hw_params_set_format(handle, parameters, $0.code) == 0
            })
        else { throw Failure(status: -EINVAL) }
        var channels: UInt32 = 2
        if unsafe snd_pcm_hw_params_set_channels(handle, parameters, channels) != 0 {
            try Self.check(unsafe snd_pcm_hw_params_set_channels_near(handle, parameters, &channels))
        }
        var nearRate = UInt32(rate)
        var buffer = UInt32(bufferTime / .microseconds(1))
        var period = UInt32(periodTime / .microseconds(1))
        try Self.check(unsafe snd_pcm_hw_params_set_rate_near(handle, parameters, &nearRate, nil))
        try Self.check(unsafe snd_pcm_hw_params_set_buffer_time_near(handle, parameters, &buffer, nil))
        try Self.check(unsafe snd_pcm_hw_params_set_period_time_near(handle, parameters, &period, nil))
        try Self.check(unsafe snd_pcm_hw_params(handle, parameters))
        var (bufferFrames, periodFrames): (snd_pcm_uframes_t, snd_pcm_uframes_t) = (0, 0)
        try Self.check(unsafe snd_pcm_get_params(handle, &bufferFrames, &periodFrames))
        let canPause = unsafe snd_pcm_hw_params_can_pause(parameters) != 0
        try setThresholds(wakeAt: isCapture ? periodFrames : max(periodFrames, bufferFrames / 4))
        try prepare()
        return Setup(
            rate: Int32(nearRate), format: format, channels: Int32(channels), bufferFrames: Int(bufferFrames),
            periodFrames: Int(periodFrames), canPause: canPause)
    }

    private func allParameters() throws(Failure) -> OpaquePointer {
        var parameters: OpaquePointer?
        try Self.check(unsafe snd_pcm_hw_params_malloc(&parameters))
        guard let parameters = unsafe parameters else { throw Failure(status: -ENOMEM) }
        let status = unsafe snd_pcm_hw_params_any(handle, parameters)
        if status >= 0 { _ = unsafe snd_pcm_hw_params_set_rate_resample(handle, parameters, 0) }
        guard status >= 0 else {
            unsafe snd_pcm_hw_params_free(parameters)
            throw Failure(status: status)
        }
        return unsafe parameters
    }

    /// The device never starts by itself, and wakes us when `wakeAt` frames are free.
    private func setThresholds(wakeAt: snd_pcm_uframes_t) throws(Failure) {
        var parameters: OpaquePointer?
        try Self.check(unsafe snd_pcm_sw_params_malloc(&parameters))
        defer { unsafe snd_pcm_sw_params_free(parameters) }
        try Self.check(unsafe snd_pcm_sw_params_current(handle, parameters))
        var boundary: snd_pcm_uframes_t = 0
        try Self.check(unsafe snd_pcm_sw_params_get_boundary(parameters, &boundary))
        try Self.check(unsafe snd_pcm_sw_params_set_start_threshold(handle, parameters, boundary))
        try Self.check(unsafe snd_pcm_sw_params_set_avail_min(handle, parameters, wakeAt))
        try Self.check(unsafe snd_pcm_sw_params(handle, parameters))
    }

    private var isCapture: Bool { unsafe snd_pcm_stream(handle) == SND_PCM_STREAM_CAPTURE }

    /// Writes the first `count` frames of `bytes`, as many as there is room for.
    package func write(_ bytes: [UInt8], from first: Int, count: Int, frameBytes: Int) throws(Failure)
        -> Outcome
    {
        guard count > 0, first >= 0, (first + count) * frameBytes <= bytes.count else { return .frames(0) }
        let written = unsafe bytes.withUnsafeBytes {
            unsafe snd_pcm_writei(handle, $0.baseAddress! + first * frameBytes, snd_pcm_uframes_t(count))
        }
        return try Self.outcome(written)
    }

    /// Room for frames right now.
    package func room() throws(Failure) -> Outcome { try Self.outcome(unsafe snd_pcm_avail_update(handle)) }

    /// Frames until one that would be written now is heard.
    package func delay() throws(Failure) -> Outcome {
        var delay: snd_pcm_sframes_t = 0
        let status = unsafe snd_pcm_delay(handle, &delay)
        // Some drivers count on before they notice that the program is late.
        if status >= 0, delay < 0 { return .underrun }
        return try Self.outcome(status < 0 ? snd_pcm_sframes_t(status) : delay)
    }

    package func start() throws(Failure) { try Self.check(unsafe snd_pcm_start(handle)) }
    package func prepare() throws(Failure) { try Self.check(unsafe snd_pcm_prepare(handle)) }
    /// Forgets what is queued; the device stands.
    package func drop() throws(Failure) { try Self.check(unsafe snd_pcm_drop(handle)) }
    package func pause(_ paused: Bool) throws(Failure) {
        try Self.check(unsafe snd_pcm_pause(handle, paused ? 1 : 0))
    }

    /// True while the device takes frames away.
    package var isRunning: Bool { unsafe snd_pcm_state(handle) == SND_PCM_STATE_RUNNING }

    /// Waits for room, for `wakeUp` or for `timeout`. True if `wakeUp` came.
    package mutating func wait(or wakeUp: WakeUp, timeout: Duration?) -> Bool {
        let count = max(0, Int(unsafe snd_pcm_poll_descriptors_count(handle)))
        while descriptors.count < count { descriptors.append(pollfd()) }
        descriptors.removeLast(descriptors.count - count)
        _ = unsafe descriptors.withUnsafeMutableBufferPointer {
            unsafe snd_pcm_poll_descriptors(handle, $0.baseAddress, UInt32(count))
        }
        let isWoken = wakeUp.wait(and: &descriptors, timeout: timeout)
        var events: UInt16 = 0
        _ = unsafe descriptors.withUnsafeMutableBufferPointer {
            unsafe snd_pcm_poll_descriptors_revents(handle, $0.baseAddress, UInt32(count), &events)
        }
        return isWoken
    }

    static func check(_ status: Int32) throws(Failure) {
        guard status >= 0 else { throw Failure(status: status) }
    }

    static func outcome(_ result: snd_pcm_sframes_t) throws(Failure) -> Outcome {
        if result >= 0 { return .frames(Int(result)) }
        switch Int32(result) {
        case -EAGAIN: return .frames(0)
        case -EPIPE, -ESTRPIPE: return .underrun
        case let status: throw Failure(status: status)
        }
    }
}

/// Reads alsa-lib's configuration now, so that the first opening need not. Opens no device.
package func readALSAConfiguration() {
    alsa_shim_silence()
    _ = snd_config_update()
}

/// Gives memory that was freed back to the system.
package func returnFreeMemory() { _ = malloc_trim(0) }
