// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GroupCore
package import RouteWire

/// A member's link to its host, from the connection to the proof of both sides, and the requests on it.
package final class HostLink {
    package enum Event {
        /// The host knows the ticket. The link goes on with `prove`.
        case verified(GroupWelcome)
        /// The host knows that this member knows it, too.
        case attached(WireGroupSnapshot)
        case noticed(GroupNotice)
        /// Another member is the host.
        case moved(GroupHost, epoch: Int64)
        /// The last event. Refused: there is no point in trying again.
        case lost(reason: String, isRefused: Bool)
    }

    package let host: GroupHost
    /// The one of its addresses at which it is reached.
    package private(set) var address: String?
    /// True once somebody at the address has said to be in no such group: whoever was there has left it.
    package private(set) var isGroupUnknown = false
    private let attachment: GroupAttachment
    /// The ticket, or what was derived of it for this member.
    private let key: GroupSecret
    private let secrets: any GroupSecrets
    private var link: (any MemberLink)?
    private var report: ((Event) -> Void)?
    private var handshake: GroupHandshake?
    private var isAttached = false
    private var lastRequest: Int64 = 2
    /// Requests of members in the order in which they were made; 32 at most, as any connection has.
    private var waiting: [Int64: (Result<JSONValue, RouteError>) -> Void] = [:]

    private static let attachRequest: Int64 = 1
    private static let proveRequest: Int64 = 2
    private static let requestLimit = 32

    package init(
        to host: GroupHost, as attachment: GroupAttachment, key: GroupSecret, secrets: any GroupSecrets,
        connector: any MemberConnector, report: @escaping (Event) -> Void
    ) {
        (self.host, self.attachment, self.key) = (host, attachment, key)
        (self.secrets, self.report) = (secrets, report)
        link = connector.connect(to: host.addresses, port: host.port) { [weak self] in self?.take($0) }
    }

    /// Ends it without a word.
    package func close() {
        (report, link) = (nil, nil)
        refuseWaiting()
    }

    // MARK: Asking

    /// Says that this side knows the ticket, and what it is doing.
    package func prove(_ presence: GroupPresence) {
        guard let handshake else { return }
        let code = secrets.code(of: handshake.message(of: .member), key: key.bytes)
        guard let proof = GroupSecret(bytes: code) else { return }
        link?.send(text: GroupLinkRequest.prove(proof, presence).text(id: Self.proveRequest))
    }

    package func tell(_ request: GroupLinkRequest) {
        if isAttached { link?.send(text: request.text(id: nil)) }
    }

    package func ask(_ ask: GroupAsk, answer: @escaping (Result<JSONValue, RouteError>) -> Void) {
        guard isAttached, waiting.count < Self.requestLimit, let link else {
            return answer(.failure(GroupRefusal.unavailable.error))
        }
        let text = GroupLinkRequest.ask(ask).text(id: lastRequest + 1)
        // The host would end the link.
        guard text.utf8.count <= WireLimits.textFrame else {
            return answer(
                .failure(RouteError(.limitReached, "That is more than a member can pass on at a time.")))
        }
        lastRequest += 1
        waiting[lastRequest] = answer
        link.send(text: text)
    }

    // MARK: Hearing

    private func take(_ event: MemberLinkEvent) {
        switch event {
        case .opened(let address):
            self.address = address
            link?.send(text: GroupLinkRequest.attach(attachment).text(id: Self.attachRequest))
        case .received(let text):
            guard let messages = try? ServerMessage.decode(text) else {
                return lose("the host sends what is no message", isRefused: true)
            }
            for message in messages { take(message) }
        case .closed(let reason): lose(reason, isRefused: false)
        }
    }

    private func take(_ message: ServerMessage) {
        switch message {
        case .response(Self.attachRequest, let result): welcomed(result)
        case .response(Self.proveRequest, let result): proved(result)
        case .response(let id, let result): waiting.removeValue(forKey: id)?(result)
        case .group(let notice): if isAttached { report?(.noticed(notice)) }
        default: break
        }
    }

    private func welcomed(_ result: Result<JSONValue, RouteError>) {
        guard handshake == nil else { return }
        do throws(RouteError) {
            let welcome = try GroupWelcome(json: try result.get())
            let handshake = GroupHandshake(
                group: attachment.group, member: attachment.participant, host: welcome.host,
                epoch: welcome.epoch, memberNonce: attachment.nonce, hostNonce: welcome.nonce)
            let code = secrets.code(of: handshake.message(of: .host), key: key.bytes)
            guard GroupSecret(bytes: code) == welcome.proof else {
                return lose("the host does not know the ticket", isRefused: true)
            }
            self.handshake = handshake
            report?(.verified(welcome))
        } catch {
            if error.code == .groupMoved, let json = error.details["host"],
                let host = try? GroupHost(json: json)
            {
                let epoch = error.details["epoch"]?.integerValue ?? 0
                let report = report
                close()
                report?(.moved(host, epoch: epoch))
                return
            }
            isGroupUnknown = error.code == .groupUnknown
            // What is not ready yet may be in a moment.
            let isPassing = [.groupUnknown, .groupUnavailable].contains(error.code)
            lose(error.message, isRefused: !isPassing)
        }
    }

    private func proved(_ result: Result<JSONValue, RouteError>) {
        guard handshake != nil, !isAttached else { return }
        do throws(RouteError) {
            let snapshot = try WireGroupSnapshot(json: try result.get())
            isAttached = true
            report?(.attached(snapshot))
        } catch { lose(error.message, isRefused: true) }
    }

    private func lose(_ reason: String, isRefused: Bool) {
        let report = report
        close()
        report?(.lost(reason: reason, isRefused: isRefused))
    }

    private func refuseWaiting() {
        let answers = waiting.sorted { $0.key < $1.key }.map(\.value)
        waiting = [:]
        for answer in answers { answer(.failure(GroupRefusal.unavailable.error)) }
    }
}
