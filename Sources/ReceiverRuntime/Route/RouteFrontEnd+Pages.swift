// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import RouteWire
import SessionCore

extension RouteFrontEnd {
    /// Below it are the files of the receiver's own page.
    private static let webPath = "/web/"

    func page(at path: String) -> Page? {
        switch path {
        case "/": return shell.ports.page?.page(named: "index.html")
        case "/v1/receiver":
            var facts = shell.description
            facts.clock = ClockInfo(id: shell.identity.clock, now: shell.ports.clock.now)
            return Page(
                type: "application/json", body: Array(JSONText.encode(facts.json).utf8),
                headers: ["Cache-Control": "no-store"])
        case "/healthz": return Page(type: "text/plain; charset=utf-8", body: Array("ok\n".utf8))
        case "/metrics": return Page(type: OpenMetricsText.type, body: Array(metrics().utf8))
        case ReceiverShell.scriptPath: return shell.ports.applications?.script
        default:
            if path.hasPrefix(ReceiverShell.applicationPath) { return shell.applicationPage(at: path) }
            if path.hasPrefix(Self.webPath) {
                return shell.ports.page?.page(named: String(path.dropFirst(Self.webPath.count)))
            }
            guard path.hasPrefix(ArtworkShelf.path),
                let picture = shell.artwork.picture(named: String(path.dropFirst(ArtworkShelf.path.count)))
            else { return nil }
            return Page(
                type: picture.type, body: picture.artwork.bytes,
                headers: [
                    "ETag": "\"\(picture.name)\"", "Cache-Control": "public, max-age=31536000, immutable",
                    "X-Content-Type-Options": "nosniff",
                ])
        }
    }

    private func metrics() -> String {
        let counts = shell.metrics
        let state = shell.state
        var text = OpenMetricsText()
        text.info(
            "linnet_receiver", "The receiver.",
            [
                ("software", shell.configuration.software), ("model", shell.configuration.model),
                ("id", shell.identity.device),
            ])
        text.gauge("linnet_connections", "Open connections.", connections.count { $0.instance == nil })
        text.counter(
            "linnet_connections_opened", "Connections that were taken.", counts.connectionsOpened)
        text.counter(
            "linnet_connections_cut", "Connections whose peer broke a limit.", counts.connectionsCut)
        text.gauge("linnet_routes", "Routes, attached or in their grace time.", state.routes.count)
        text.gauge("linnet_sessions", "Sessions.", state.sessions.count)
        text.counters(
            "linnet_requests", "Requests by method and outcome.",
            counts.requests.map {
                (labels: [("method", $0.key.method), ("outcome", $0.key.outcome)], value: $0.value)
            }
            .sorted { ($0.labels[0].1, $0.labels[1].1) < ($1.labels[0].1, $1.labels[1].1) })
        text.counter("linnet_state_pushes", "Changes that were sent to a connection.", counts.statePushes)
        text.counter(
            "linnet_states_skipped", "Changes that a connection got joined with later ones.",
            counts.skippedStates)
        text.gauge(
            "linnet_application_instances", "Applications that run.", state.applications.instances.count)
        text.gauge(
            "linnet_application_sessions", "Sessions with applications.", state.applications.sessions.count)
        text.counter(
            "linnet_application_launches", "Starts of applications.", counts.applicationLaunches)
        text.counter("linnet_application_exits", "Ends of applications.", counts.applicationExits)
        text.counters(
            "linnet_relayed_messages", "Data messages between senders and applications.",
            [
                (labels: [("to", "application")], value: counts.messagesToApplications),
                (labels: [("to", "sender")], value: counts.messagesToSenders),
            ])
        text.counter(
            "linnet_relay_refusals", "Messages that the receiver refused to pass on.",
            counts.messagesRefused)
        text.counter("linnet_data_messages", "Data messages from senders.", counts.dataMessages)
        text.counter(
            "linnet_renderer_restarts", "Times that the renderer ended and began again.",
            counts.rendererRestarts)
        text.states(
            "linnet_output_state", "What the sound output is in.",
            OutputStatus.State.allCases.map(\.rawValue), current: state.device.output.state.rawValue)
        if let group = shell.group {
            text.gauge("linnet_group_members", "Members of the group.", group.document?.members.count ?? 0)
            text.gauge(
                "linnet_group_sync_error_nanoseconds", "How late frames are heard in the group.",
                Int(clamping: group.lastSync?.error ?? 0))
            text.gauge(
                "linnet_group_clock_drift_ppb", "How much faster the group's clock runs.",
                Int((group.lastSync?.clockDrift ?? 0) * 1_000))
            text.gauge(
                "linnet_group_resyncs", "Jumps since the item began.", Int(group.lastSync?.resyncs ?? 0))
            text.counter("linnet_group_host_changes", "Hosts that were lost.", group.hostChanges)
        }
        text.gauge("linnet_artwork_bytes", "Bytes of pictures held.", shell.artwork.bytes)
        return text.finished()
    }
}

extension ReceiverShell {
    /// What the receiver says of itself in the advertisement and at `/v1/receiver`.
    var description: ReceiverDescription {
        var description = ReceiverDescription(
            id: identity.device, name: state.device.name, model: configuration.model,
            software: configuration.software, type: configuration.deviceType, httpPort: port)
        if let group {
            description.canGroup = true
            let wanted = configuration.clockPort
            description.clockPort = group.clockPort ?? (wanted == 0 ? nil : wanted)
        }
        if !state.applications.catalog.isEmpty { description.capabilities.append("app") }
        return description
    }

    func advertised(name: String) -> AdvertisedService {
        AdvertisedService(name: name, port: port, text: description.textEntries)
    }
}
