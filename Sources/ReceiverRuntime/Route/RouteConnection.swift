// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import RouteWire
import SessionCore

/// One connection of a sender: what it was sent, what it still has to be sent, what it waits for.
///
/// Nothing here grows with a peer that does not read: states are joined, answers and data have limits.
final class RouteConnection {
    /// Answers and announcements that may wait for a reader that does not read.
    static let answerLimit = 256 * 1024
    static let requestLimit = 32
    /// Messages in a row that may be no requests.
    static let nonsenseLimit = 8

    let id: ConnectionID
    let client: any Client
    /// The route that is active here.
    var route: RouteID?
    /// The state that the sender knows; nil unless subscribed.
    var seen: Snapshot?
    /// The newest version that could not be sent at once.
    var missed: Int64 = 0
    /// True while the requests of a batch are handled: their answers come first.
    var isInBatch = false
    var isClosing = false
    /// Messages since the last one that held a request.
    var nonsense = 0
    var channel = DataChannel()
    /// The application whose client this is.
    let instance: InstanceID?
    /// What applications see of this route's own channel, by their names.
    var routeChannels: [String: RelayChannel] = [:]
    /// Messages of applications on the route's own channel, by their numbers there.
    var forwarded: [UInt64: Forwarded] = [:]
    /// Channels with frames that wait for this peer to read, each once, in the order of their turns.
    private var waitingChannels: [RelayChannel] = []
    private var waiting: [UInt64: WaitingRequest] = [:]
    private var requestsMade: UInt64 = 0
    /// Bytes of answers sent since the client last read everything.
    private var unreadAnswers = 0
    /// True once peer and receiver agreed on ``JoinedFrames``.
    var joinsFrames = false
    /// Frames that leave at the end of the turn, together.
    private var gathered: [[UInt8]] = []
    private var gatheredBytes = 0
    private let turn: FrameTurn

    init(id: ConnectionID, client: any Client, instance: InstanceID? = nil, turn: FrameTurn) {
        (self.id, self.client, self.instance, self.turn) = (id, client, instance, turn)
    }

    struct Forwarded {
        let channel: RelayChannel
        let message: UInt64
    }

    var isFull: Bool { waiting.count >= Self.requestLimit }

    func expectAnswer(_ request: WaitingRequest) -> RequestID {
        requestsMade += 1
        waiting[requestsMade] = request
        return RequestID(connection: id, number: requestsMade)
    }

    func takeWaiting(_ request: RequestID) -> WaitingRequest? { waiting.removeValue(forKey: request.number) }

    /// Sends text that must not be left out. False: the sender reads nothing and is over its limit.
    func send(answer text: String) -> Bool {
        guard admit(text.utf8.count) else { return false }
        flush()
        client.send(text: text)
        return true
    }

    /// The same for a data frame that answers one.
    func send(answer frame: [UInt8]) -> Bool {
        guard admit(frame.count) else { return false }
        send(frame)
        return true
    }

    /// One answer of any size may wait, more only up to the limit.
    private func admit(_ bytes: Int) -> Bool {
        guard !gathered.isEmpty || client.isBehind else {
            unreadAnswers = bytes
            return true
        }
        guard unreadAnswers + bytes <= Self.answerLimit else { return false }
        unreadAnswers += bytes
        return true
    }

    // MARK: Relayed messages

    /// True if so many bytes more may be on their way. One message of any size always may.
    func takes(_ bytes: Int) -> Bool {
        // What is gathered waits for nobody: without it, room is made known by the client.
        if gatheredBytes > 0, pendingBytes + bytes > RelayChannel.congestion { flush() }
        let pending = pendingBytes
        return !isClosing && (pending == 0 || pending + bytes <= RelayChannel.congestion)
    }

    func send(data frame: [UInt8]) { send(frame) }

    // MARK: Leaving together

    /// True while something that was sent is not in the network's hands.
    var isCongested: Bool { !gathered.isEmpty || client.isCongested }
    var pendingBytes: Int { client.pendingBytes + gatheredBytes }

    /// Sends a data frame behind what was sent before: now, or with others at the end of the turn.
    func send(_ frame: [UInt8]) {
        guard turn.isOpen, frame.count <= JoinedFrames.frameLimit else {
            flush()
            return client.send(binary: frame)
        }
        if gathered.isEmpty { turn.add(self) }
        gathered.append(frame)
        gatheredBytes += frame.count
        if gathered.count == JoinedFrames.countLimit || gatheredBytes > JoinedFrames.bytesLimit / 2 {
            flush()
        }
    }

    func flush() {
        guard !gathered.isEmpty else { return }
        let frames = gathered
        (gathered, gatheredBytes) = ([], 0)
        client.send(frames: frames, areJoined: joinsFrames)
    }

    func wait(_ channel: RelayChannel) {
        if !waitingChannels.contains(where: { $0 === channel }) { waitingChannels.append(channel) }
    }

    func waitFirst(_ channel: RelayChannel) { waitingChannels.insert(channel, at: 0) }

    func nextWaiting() -> RelayChannel? { waitingChannels.isEmpty ? nil : waitingChannels.removeFirst() }

    func forgetChannels() { (waitingChannels, routeChannels, forwarded) = ([], [:], [:]) }

    func drained() {
        unreadAnswers = 0
        channel.drained()
    }
}

/// A request on its way through the core.
struct WaitingRequest {
    /// Nil for a notification, which is not answered.
    let id: RequestIdentifier?
    let method: String
    let answers: AnswerCollector
}

/// Brings the answers of one message together: of a batch they leave as one.
final class AnswerCollector {
    private let isBatch: Bool
    private var outstanding: Int
    private var responses: [JSONValue] = []

    init(requests: Int, isBatch: Bool) { (outstanding, self.isBatch) = (requests, isBatch) }

    /// Takes the answer of one request, nil for none; returns the text that is to be sent now.
    func add(_ response: JSONValue?) -> String? {
        outstanding -= 1
        if let response { responses.append(response) }
        guard outstanding <= 0, let first = responses.first else { return nil }
        return JSONText.encode(isBatch ? .array(responses) : first)
    }
}
