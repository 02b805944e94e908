// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GLibLoop
import LoopTestKit
import ReceiverRuntime
import ReceiverTestKit
import Soup
import SoupListener
import Testing

/// The WebSocket that the page of an application opens.
@Suite(.timeLimit(.minutes(1))) struct PageSocketTests {
    /// Notes how clients come, and sends their messages back.
    private final class Service: ListenerService {
        let opened: Mailbox<String>
        init(_ opened: Mailbox<String>) { self.opened = opened }

        func page(at path: String) -> Page? { nil }
        func clientOpened(_ client: any Client) { opened.put("route") }
        func clientOpened(_ client: any Client, token: String) {
            opened.put("token \(token)")
            if token.isEmpty { client.close(code: 1008, reason: "no token") }
        }
        func clientReceived(text: String, from client: any Client) { client.send(text: text) }
        func clientReceived(binary: [UInt8], from client: any Client) { client.send(binary: binary) }
        func clientDrained(_ client: any Client) {}
        func clientClosed(_ client: any Client) {}
    }

    @Test(arguments: [
        ("application?token=aB3_-z", "token aB3_-z"), ("application?x=1&token=t", "token t"),
        ("application", "token "), ("application?token", "token "), ("route?token=t", "route"),
    ])
    func `a socket is handed over with the token of its address`(_ path: String, _ expected: String)
        async throws
    {
        let here = OnLoop()
        let opened = Mailbox<String>()
        let answers = Mailbox<WebSocket.Message>()
        try await here.run { here in
            let listener = SoupListener(log: RecordingLog())
            let service = Service(opened)
            let port = try listener.start(
                ListenerConfiguration(port: 0, hostNames: []), service: service)
            let client = HTTPClient()
            let socket = try await client.connect("ws://127.0.0.1:\(port)/v1/\(path)") { socket in
                socket.onMessage = { answers.put($0) }
            }
            for object in [listener, service, client, socket] as [AnyObject] { here.keep(object) }
            if expected != "token " { socket.send(.binary([1, 2])) }
        }
        #expect(await opened.next() == expected)
        if expected != "token " { #expect(await answers.next() == .binary([1, 2])) }
    }
}
