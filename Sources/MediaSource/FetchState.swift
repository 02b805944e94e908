// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import Soup

/// How one resource of HTTP is read, as a value: what is here, what is on its way, what to ask the server for next. It
/// knows no clock, no socket and no thread.
///
/// A reader says where it reads; the connection's owner asks for the `next()` step whenever something has changed, and
/// tells what came of it. Both sides may be wrong about each other's pace: a step is always made for what is known now.
struct FetchState {
    /// What one resource may cost.
    struct Limits: Equatable, Sendable {
        /// Bytes that are kept.
        var capacity = 4 << 20
        /// Bytes that are fetched ahead of the reader.
        var readAhead = 512 << 10
        /// Bytes that are fetched ahead where reading has just begun: what is needed first is not to wait for what is not.
        var firstAhead = 128 << 10
        /// A resource up to this size is fetched at once, whole.
        var small = 1 << 20
        /// So much is read past rather than asked for again: about what a round trip brings.
        var skip: Int64 = 256 << 10
        var redirections = 10
        /// Answers without a new byte before the server is given up.
        var attempts = 3
        /// How long a server that cannot be reached, or is busy, is tried for.
        var patience = Duration.seconds(120)
        /// The longest pause that a server may ask for.
        var longestPause = Duration.seconds(5)
        /// A station whose connections end sooner is asked again with growing pauses.
        var shortConnection = Duration.seconds(5)
    }

    /// What is to be done about the connection.
    enum Step: Equatable, Sendable {
        /// Ask for `uri` from `offset` on; `guarding` names the version of the resource that is meant.
        case open(uri: String, offset: Int64, guarding: String?)
        case read
        /// Give up the connection, and ask for the next step.
        case drop
        /// Come back with `rested()` after this time.
        case rest(Duration)
    }

    private enum Connection: Equatable {
        case none
        /// Asked for; the answer is awaited.
        case opening(offset: Int64)
        /// The next byte that it gives stands at `at`.
        case open(at: Int64, isReading: Bool)
        /// After a fault, until it is tried again.
        case resting(Duration, isTold: Bool)
    }

    let limits: Limits
    private(set) var facts: ResourceFacts?
    private(set) var failure: MediaFailure?
    private(set) var isClosed = false
    private(set) var cache: ByteCache
    private let uri: String
    /// Where redirections led; later requests begin here.
    private var address: String
    private var visited: [String: Int]
    private var redirections = 0
    private var connection = Connection.none
    /// Where the reader stands.
    private var position: Int64 = 0
    /// Where it reads on if it does not move, and how much it has read since it last moved.
    private var expected: Int64 = 0
    private var stretch = 0
    private var isFull = false
    private var ranges = Ranges.unknown
    /// What is wrong with the server since the last byte; nil while all is well.
    private(set) var trouble: MediaFailure?
    private var troubleSince: Int64 = 0
    /// Faults since the last byte, and those of them for which the server was there.
    private var faults = 0
    private var attempts = 0
    /// The first bytes, of a resource without a length.
    private var firstBytes: [UInt8] = []
    private var newBeginning: NewBeginning?
    /// Takes the texts out of what a station sends on the current connection, and when that began.
    private var division: StationStream?
    private var connected: Int64 = 0
    private var titles = TitleShelf()

    private enum Ranges { case unknown, answered, refused }

    init(uri: String, limits: Limits = Limits()) {
        (self.uri, address, self.limits) = (uri, uri, limits)
        visited = [uri: 1]
        cache = ByteCache(capacity: limits.capacity)
    }

    /// Where the resource ends; nil while that is not known.
    var length: Int64? { facts?.length }

    /// True if any place can be read from.
    var isSeekable: Bool {
        guard let length = facts?.length else { return false }
        return ranges != .refused && facts?.refusesRanges == false || length <= Int64(limits.capacity)
    }

    /// True if any place costs no more than a request: the server has given parts, or says that it does, or the resource is
    /// fetched at once anyhow.
    var givesPlaces: Bool {
        guard isSeekable, let length = facts?.length else { return false }
        return length <= Int64(limits.small) || ranges == .answered || facts?.offersRanges == true
    }

    /// The address that the last redirection led to.
    var finalURI: String { address }

    /// True while enough lies ahead of the reader in a resource whose places are asked for one by one: another request may
    /// come at any time, and nothing else does.
    var awaitsMove: Bool {
        guard case .open(_, isReading: false) = connection else { return false }
        return isFull && !isBeginning && ranges != .refused && facts?.refusesRanges == false
            && facts?.length != nil
    }

    // MARK: The reader's side

    /// What is at `offset`; nil if nothing is here yet.
    mutating func read(at offset: Int64, maximum: Int) -> MediaSource.Reading? {
        position = min(max(0, offset), ResourceFacts.longest)
        if position != expected { stretch = 0 }
        expected = position
        // No piece reaches over the place where a title begins.
        let room = titles.next(after: position).map { Int(clamping: $0 - position) } ?? maximum
        if let bytes = cache.bytes(at: position, maximum: min(maximum, room)) {
            position += Int64(bytes.count)
            expected = position
            stretch = min(stretch + bytes.count, limits.readAhead)
            return .bytes(bytes)
        }
        if let length, position >= length { return .end }
        if let failure { return .failed(failure) }
        return isClosed ? .end : nil
    }

    /// The title that a station tells right before the byte at `offset`; empty if it says that it plays nothing.
    func title(at offset: Int64) -> String? { titles.title(at: offset) }
    /// The first bytes, as far as they are here.
    mutating func beginning(_ count: Int) -> [UInt8] { cache.bytes(at: 0, maximum: count) ?? [] }

    /// Ends it all; what is here is let go.
    mutating func close() {
        isClosed = true
        cache.removeAll()
    }

    // MARK: The connection's side

    /// What to do now; nil is to wait for what is under way, or for the reader.
    mutating func next() -> Step? {
        guard !isClosed, failure == nil else {
            defer { connection = .none }
            return connection == .none ? nil : .drop
        }
        let target = target()
        switch connection {
        case .resting(let delay, let isTold):
            connection = .resting(delay, isTold: true)
            return isTold ? nil : .rest(delay)
        case .none:
            guard let target else { return nil }
            let offset = facts != nil && ranges == .refused ? 0 : target
            connection = .opening(offset: offset)
            // A station sends what it sends now.
            if facts?.isEndless == true { return .open(uri: address, offset: 0, guarding: nil) }
            return .open(uri: address, offset: offset, guarding: offset > 0 ? facts?.validator : nil)
        case .opening(let offset):
            // Before the first answer nothing is known that could make another request better.
            guard facts != nil, let target, !leads(offset, to: target) else { return nil }
            connection = .none
            return .drop
        case .open(let place, let isReading):
            guard let target else { return nil }
            guard leads(place, to: target) else {
                connection = .none
                return .drop
            }
            connection = .open(at: place, isReading: true)
            return isReading ? nil : .read
        }
    }

    /// True if `next()` would give a step. Nothing is done about it.
    mutating func isDue() -> Bool {
        let before = connection
        defer { connection = before }
        return next() != nil
    }

    /// True if a connection that gives the byte at `place` next will soon give that at `target`.
    private func leads(_ place: Int64, to target: Int64) -> Bool {
        let isSequential = ranges == .refused || facts?.refusesRanges == true || facts?.length == nil
        return place <= target && (isSequential || target - place <= limits.skip)
    }

    private var isBeginning: Bool { stretch < limits.firstAhead / 2 }

    /// The place whose byte is wanted next; nil if enough is here.
    private mutating func target() -> Int64? {
        let edge = cache.firstGap(from: position)
        let isSmall = length.map { $0 <= Int64(limits.small) } ?? false
        if let length, edge >= length {
            let hole = isSmall ? cache.firstGap(from: 0) : length
            return hole < length ? hole : nil
        }
        let ahead = edge - position
        let wanted = Int64(
            isBeginning ? limits.firstAhead : isSmall ? limits.small : min(limits.readAhead, 2 * stretch))
        if ahead >= wanted { isFull = true }
        if ahead < wanted * 3 / 4 { isFull = false }
        return isFull ? nil : edge
    }

    /// The server has answered the request.
    mutating func answered(_ answer: HTTPAnswer, now: Int64) {
        guard case .opening(let offset) = connection, failure == nil else { return }
        switch answer.status {
        case 204, 205: refused(answer, now: now)
        case 200..<300: opened(answer, at: offset, now: now)
        case 301, 302, 303, 307, 308:
            connection = .none
            redirected(answer)
        case 416 where facts != nil && (length == nil || answer.endsBefore(offset)):
            // Less is there than was announced.
            connection = .none
            let end = min(length ?? offset, offset)
            facts?.length = end
        default: refused(answer, now: now)
        }
    }

    private mutating func refused(_ answer: HTTPAnswer, now: Int64) {
        connection = .none
        let refusal = MediaFailure(httpStatus: answer.status)
        let isBusy = [408, 425, 429, 500, 502, 503, 504].contains(answer.status)
        guard facts != nil || isBusy else {
            failure = refusal
            return
        }
        // Who begins wants to know soon.
        retry(
            now: now, isAnswered: !isBusy || facts == nil, or: refusal,
            pause: answer["Retry-After"].flatMap { Int($0) }.map { .seconds(min(max(0, $0), 3600)) } ?? .zero)
    }

    private mutating func opened(_ answer: HTTPAnswer, at offset: Int64, now: Int64) {
        var new = ResourceFacts(answer)
        var start = new.start ?? 0
        if let old = facts {
            if !old.isSame(as: new) {
                connection = .none
                failure = MediaFailure(.network, "The media changed on its server while it was read.")
                return
            }
            if start != offset {
                if old.isEndless {
                    // A station goes on with what it brings now.
                    start = offset
                } else if old.length == nil, old.validator == nil, start == 0 {
                    newBeginning = NewBeginning(after: offset, expecting: firstBytes)
                } else {
                    ranges = .refused
                }
            }
            new.length = old.length ?? new.length
        } else if start != offset {
            connection = .none
            failure = MediaFailure(.network, "The server sends another part of the media than was asked for.")
            return
        }
        if answer.status == 206, start == offset, offset > 0 { ranges = .answered }
        if facts == nil { facts = new } else { facts?.length = new.length }
        connection = .open(at: start, isReading: false)
        // Each connection counts anew from its own beginning.
        (division, connected) = (new.textInterval.map { StationStream(interval: $0) }, now)
    }

    private mutating func redirected(_ answer: HTTPAnswer) {
        guard let location = answer.location else {
            failure = MediaFailure(.network, "The server redirects without saying where to.")
            return
        }
        guard location.hasPrefix("http://") || location.hasPrefix("https://") else {
            failure = MediaFailure(.unsupportedScheme, "The server redirects to what is no address of HTTP.")
            return
        }
        redirections += 1
        visited[location, default: 0] += 1
        // Once more may be for a cookie that was set.
        if visited[location, default: 0] > 2 {
            failure = MediaFailure(.network, "The server redirects in a circle.")
        } else if redirections > limits.redirections {
            failure = MediaFailure(.network, "The server redirects more than \(limits.redirections) times.")
        } else {
            address = location
        }
    }

    /// The next piece of the body has come.
    mutating func received(_ bytes: [UInt8], now: Int64) {
        guard case .open(var place, _) = connection, !isClosed else { return }
        var bytes = bytes
        if let found = division?.take(bytes) {
            bytes = found.sound
            for (count, title) in found.titles { titles.add(title, at: place + Int64(count)) }
        }
        if var comparison = newBeginning {
            let finding = comparison.add(bytes)
            newBeginning = comparison
            switch finding {
            case .undecided:
                connection = .open(at: 0, isReading: false)
                return
            case .same(let all): (bytes, ranges) = (all, .refused)
            case .live(let all): (bytes, place) = (all, comparison.edge)
            }
            newBeginning = nil
        }
        if !bytes.isEmpty, cache.firstGap(from: position) < place + Int64(bytes.count) {
            let isShort = now - connected < Int64(limits.shortConnection / .nanoseconds(1))
            if facts?.isEndless != true || !isShort { (faults, attempts, trouble) = (0, 0, nil) }
        }
        if facts?.length == nil, place == Int64(firstBytes.count) {
            firstBytes += bytes.prefix(NewBeginning.length - firstBytes.count)
        }
        cache.insert(bytes, at: place)
        connection = .open(at: place + Int64(bytes.count), isReading: false)
    }

    /// The body is over.
    mutating func bodyEnded(now: Int64) {
        guard case .open(let place, _) = connection else { return }
        connection = .none
        if let length {
            if place < length { retry(now: now, isAnswered: true, or: Self.cut) }
        } else if newBeginning != nil || facts?.isEndless == true {
            newBeginning = nil
            retry(now: now, isAnswered: true, or: Self.cut)
        } else {
            facts?.length = place
        }
    }

    private static let cut = MediaFailure(
        .network, "The server ends the connection before the media is over.")

    /// The connection could not be made, or is lost.
    mutating func broke(_ fault: HTTPFault, now: Int64) {
        // A server that is there, but gives nothing, is another matter than one that is gone.
        let isAnswered: Bool
        if case .open = connection {
            isAnswered = fault.kind == .broken
        } else {
            isAnswered = fault.kind == .secrecy || fault.kind == .address
        }
        (connection, newBeginning) = (.none, nil)
        let reason = MediaFailure(fault)
        guard facts != nil else {
            failure = reason
            return
        }
        retry(now: now, isAnswered: isAnswered, or: reason)
    }

    private mutating func retry(
        now: Int64, isAnswered: Bool, or reason: MediaFailure, pause: Duration = .zero
    ) {
        if trouble == nil { troubleSince = now }
        trouble = reason
        faults += 1
        // A station whose sender is away answers, and comes back.
        let isAnswered = isAnswered && facts?.isEndless != true
        if isAnswered { attempts += 1 }
        let isOver =
            isAnswered
            ? attempts > limits.attempts
            : now - troubleSince >= Int64(limits.patience / .nanoseconds(1))
        guard !isOver else {
            failure = isAnswered || reason.httpStatus != nil ? reason : gone
            return
        }
        // Where a redirection led may be good for a while only.
        if reason.httpStatus != nil { (address, redirections, visited) = (uri, 0, [uri: 1]) }
        // At once, then after 0.5, 1, 2, 4, 4 … seconds; a server that has answered is given the time.
        let turn = min(reason.httpStatus == nil ? faults - 1 : faults, 4)
        let delay = turn == 0 ? Duration.zero : .milliseconds(250 << turn)
        connection = .resting(max(delay, min(pause, limits.longestPause)), isTold: false)
    }

    private var gone: MediaFailure {
        let seconds = limits.patience.components.seconds
        return MediaFailure(.timeout, "The media's server did not come back within \(seconds) seconds.")
    }

    /// The time of a `rest` is over.
    mutating func rested() {
        if case .resting = connection { connection = .none }
    }
}
