// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ApplicationModel
import RouteWire
import SessionCore

/// Applications, their instances and their sessions as the JSON that senders see.
struct ComposedApplications {
    let value: Applications
    let catalog: [String: JSONValue]
    let instances: [String: JSONValue]
    let sessions: [String: JSONValue]

    init(_ value: Applications) {
        self.value = value
        catalog = Dictionary(value.catalog.map { ($0.id.text, Self.json($0)) }) { first, _ in first }
        instances = Dictionary(value.instances.map { ($0.key.text, Self.json($0.value)) }) { first, _ in first
        }
        sessions = Dictionary(
            value.sessions.map { id, session in
                (id.text, Self.json(session, media: value.instances[session.instance]?.media))
            }
        ) { first, _ in first }
    }

    private static func json(_ manifest: ApplicationManifest) -> JSONValue {
        .compact(
            ApplicationDocument(
                name: manifest.name, version: manifest.version, icon: ReceiverShell.iconPath(manifest),
                urls: manifest.patterns.map(\.text), instance: manifest.instance.rawValue
            ).json.objectValue ?? [:])
    }

    private static func json(_ instance: ApplicationInstance) -> JSONValue {
        .compact(
            InstanceDocument(
                application: instance.manifest.id.text, phase: instance.phase.rawValue,
                media: instance.media?.text, restarts: Int64(instance.restarts),
                confinement: instance.confinement
            ).json.objectValue ?? [:])
    }

    private static func json(_ session: ApplicationSession, media: SessionID?) -> JSONValue {
        .compact(
            ApplicationSessionDocument(
                application: session.application.text, instance: session.instance.text,
                isActive: session.phase == .active, route: session.route?.text, url: session.url,
                channel: session.channel, media: media?.text
            ).json.objectValue ?? [:])
    }
}
