// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ApplicationModel

/// Who makes a request, and whom media belongs to.
enum Asker: Equatable, Sendable {
    case route(RouteID)
    case instance(InstanceID)
}

extension Session {
    /// Nil when its sender left and playing goes on.
    var owner: Asker? { application.map { .instance($0) } ?? route.map { .route($0) } }
}

extension ReceiverState {
    /// Who asks: the route that is active on the connection, or the application whose client it is.
    func asker(_ request: RequestID) throws(Refusal) -> Asker {
        if let route = route(of: request.connection) { return .route(route) }
        guard let id = applications.instance(of: request.connection),
            let instance = applications.instances[id]
        else { throw Refusal(.routeRequired, "No route is active on this connection.") }
        guard instance.phase != .launching else {
            throw Refusal(.notPermitted, "The application has not said hello.")
        }
        return .instance(id)
    }

    /// The same for what an application needs a permission for.
    func asker(
        _ request: RequestID, needing permission: ApplicationManifest.Permission
    ) throws(Refusal) -> Asker {
        let asker = try asker(request)
        if case .instance(let id) = asker, applications.instances[id]?.may(permission) != true {
            throw Refusal(.notPermitted, "The application has not the permission \(permission.rawValue).")
        }
        return asker
    }

    func name(of asker: Asker) -> String {
        switch asker {
        case .route(let id): routes[id]?.sender.name ?? ""
        case .instance(let id): applications.instances[id]?.manifest.name ?? ""
        }
    }

    /// The session of media that a request means, which an application may only mean if it is its own.
    func media(_ request: RequestID, _ id: SessionID?) throws(Refusal) -> SessionID {
        switch try asker(request, needing: .player) {
        case .route:
            guard let id else {
                guard let player else { throw Refusal(.noSession, "Nothing is playing.") }
                return player
            }
            if sessions[id] != nil { return id }
            guard let session = applications.sessions[id] else { break }
            guard let media = applications.instances[session.instance]?.media else {
                throw Refusal(.noSession, "The application plays nothing.")
            }
            return media
        case .instance(let instance):
            let own = applications.instances[instance]?.media
            guard let wanted = id ?? own else { throw Refusal(.noSession, "Nothing is playing.") }
            if wanted == own { return wanted }
            guard sessions[wanted] == nil, applications.sessions[wanted] == nil else {
                throw Refusal(.notPermitted, "The session is not the application's.")
            }
        }
        throw Refusal(.sessionUnknown, "There is no such session, or no longer.")
    }
}
