// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GLibLoop
package import MediaModel
import Soup
import Synchronization

/// What is asked of a server.
package struct SourceRequest: Equatable, Sendable {
    package var uri: String
    package var headers: [HeaderField]
    package var userAgent: String
    /// True if the host of `uri` may show any certificate.
    package var allowsInvalidCertificate: Bool

    package init(
        uri: String, headers: [HeaderField] = [], userAgent: String = "Linnet",
        allowsInvalidCertificate: Bool = false
    ) {
        (self.uri, self.headers, self.userAgent) = (uri, headers, userAgent)
        self.allowsInvalidCertificate = allowsInvalidCertificate
    }
}

/// The bytes of one resource of HTTP, for a thread that waits for them. Fetching begins when it is opened.
///
/// Every call may come from any thread. It is read by a `SourceReader`, one at a time.
package final class MediaSource: Sendable {
    /// What came of a wish to read.
    package enum Reading: Equatable, Sendable {
        case bytes([UInt8])
        /// The resource ends here.
        case end
        case failed(MediaFailure)
        /// The reader was told to stop waiting.
        case interrupted
    }

    package let request: SourceRequest
    let state: Mutex<FetchState>
    private let isTold = Atomic<Bool>(false)
    fileprivate let gate = Gate()
    private let tell: @Sendable (MediaSource) -> Void

    /// `tell` has the source's connection looked at on the thread that it belongs to.
    init(_ request: SourceRequest, limits: FetchState.Limits, tell: @escaping @Sendable (MediaSource) -> Void)
    {
        (self.request, self.tell) = (request, tell)
        state = Mutex(FetchState(uri: request.uri, limits: limits))
    }

    /// What the server says of the resource; nil before it answered.
    package var facts: ResourceFacts? { state.withLock { $0.facts } }
    /// What is wrong with the server, which is asked again; nil while all is well.
    package var trouble: MediaFailure? { state.withLock { $0.trouble } }
    package var failure: MediaFailure? { state.withLock { $0.failure } }
    /// True if any place can be read from.
    package var isSeekable: Bool { state.withLock { $0.isSeekable } }
    /// True if it is known that places far apart cost little.
    package var givesPlaces: Bool { state.withLock { $0.givesPlaces } }
    /// Where the last redirection led.
    package var finalURI: String { state.withLock { $0.finalURI } }
    /// The title that a station tells right before the byte at `offset`; empty if it says that it plays nothing.
    package func title(at offset: Int64) -> String? { state.withLock { $0.title(at: offset) } }
    /// Bytes that are kept now.
    package var held: Int { state.withLock { $0.cache.count } }

    /// The first bytes, as far as they are here.
    package func beginning(_ count: Int) -> [UInt8] { state.withLock { $0.beginning(count) } }

    /// Gives up the connection and what was read, for good.
    package func close() {
        state.withLock { $0.close() }
        gate.open()
        look()
    }

    /// Has the connection looked at, if that has not been asked for already.
    func look() {
        guard !isTold.exchange(true, ordering: .acquiringAndReleasing) else { return }
        tell(self)
    }

    // MARK: For the connection's thread

    /// To be called before the state is looked at.
    func isLooking() { isTold.store(false, ordering: .releasing) }

    /// Changes the state by what has come, and lets those go on who wait for it.
    func apply(_ change: (inout FetchState) -> Void) {
        state.withLock { change(&$0) }
        gate.open()
    }
}

/// Reads a source for one thread, which it holds back until there is something to read. Another reader may follow on the
/// same source, when this one has retired.
package final class SourceReader: Sendable {
    package let source: MediaSource
    /// Where the first byte stands that it gives; what lies before does not exist to who reads.
    package let origin: Int64
    private let isInterrupted = Atomic<Bool>(false)
    private let isRetired = Atomic<Bool>(false)
    private let count = Atomic<Int>(0)
    private let waits = Atomic<Bool>(false)

    /// Waits end by being told; this is how long one lasts that was not.
    private static let turn = Duration.seconds(60)

    package init(_ source: MediaSource, from origin: Int64 = 0) {
        (self.source, self.origin) = (source, origin)
    }

    /// Bytes from the origin to the end; nil while that is not known.
    package var length: Int64? { source.facts?.length.map { max(0, $0 - origin) } }

    /// Waits for the first answer of the server. Nil if it fails, or the wait is interrupted.
    package func awaitFacts() -> ResourceFacts? {
        while true {
            let ticket = source.gate.ticket
            let (facts, isOver) = source.state.withLock { ($0.facts, $0.failure != nil || $0.isClosed) }
            if let facts { return facts }
            if isOver || mustLeave { return nil }
            source.gate.pass(ticket, timeout: Self.turn)
        }
    }

    /// Reads that were begun.
    package var reads: Int { count.load(ordering: .acquiring) }
    /// True while a read waits for the server.
    package var isWaiting: Bool { waits.load(ordering: .acquiring) }

    /// Waits for bytes at `offset`, and gives at least one and at most `maximum`.
    package func read(at offset: Int64, maximum: Int) -> MediaSource.Reading {
        count.wrappingAdd(1, ordering: .acquiringAndReleasing)
        let place = origin + min(max(0, offset), ResourceFacts.longest)
        while true {
            let ticket = source.gate.ticket
            if mustLeave { return .interrupted }
            let (reading, isDue) = source.state.withLock { state in
                (state.read(at: place, maximum: maximum), state.isDue())
            }
            if isDue { source.look() }
            if let reading { return reading }
            waits.store(true, ordering: .releasing)
            source.gate.pass(ticket, timeout: Self.turn)
            waits.store(false, ordering: .releasing)
        }
    }

    private var mustLeave: Bool {
        isInterrupted.load(ordering: .acquiring) || isRetired.load(ordering: .acquiring)
    }

    /// Ends waits, and lets none begin until `resume`.
    package func interrupt() {
        isInterrupted.store(true, ordering: .releasing)
        source.gate.open()
    }

    package func resume() { isInterrupted.store(false, ordering: .releasing) }

    /// Ends waits for good.
    package func retire() {
        isRetired.store(true, ordering: .releasing)
        source.gate.open()
    }
}
