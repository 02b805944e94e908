// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// An error as it stands on the wire (`Docs/protocols/route.md`, section 4.2).
package struct RouteError: Error, Equatable, Sendable, CustomStringConvertible {
    package enum Family: String, Sendable, CaseIterable {
        case connection, authorization, session, discovery, playback
    }

    /// The stable reasons; `number` is the JSON-RPC code.
    package enum Code: String, Sendable, CaseIterable {
        case parseError, invalidRequest, methodNotFound, invalidParams, internalError
        case tooManyRequests, limitReached, versionUnsupported
        case authorizationRequired, authorizationFailed
        case routeRequired, routeUnknown, sessionUnknown, sessionBusy, applicationUnknown, modeUnsupported,
            noSession, notPermitted
        case invalidURL, unsupportedScheme, linearPlayback, notSeekable, trackUnknown, unsupported
        case itemUnknown, volumeUnsupported
        case groupBusy, groupUnknown, groupUnavailable, groupMoved, memberUnknown
        case accessoryNotCapable, invalidated, sourceUnknown, sourcesUnavailable

        package var number: Int64 {
            switch self {
            case .parseError: -32_700
            case .invalidRequest: -32_600
            case .methodNotFound: -32_601
            case .invalidParams: -32_602
            case .internalError: -32_603
            case .tooManyRequests: 1
            case .limitReached: 2
            case .versionUnsupported: 3
            case .authorizationRequired: 10
            case .authorizationFailed: 11
            case .routeRequired: 20
            case .routeUnknown: 21
            case .sessionUnknown: 22
            case .sessionBusy: 23
            case .applicationUnknown: 24
            case .modeUnsupported: 25
            case .noSession: 26
            case .notPermitted: 27
            case .invalidURL: 30
            case .unsupportedScheme: 31
            case .linearPlayback: 32
            case .notSeekable: 33
            case .trackUnknown: 34
            case .unsupported: 35
            case .itemUnknown: 36
            case .volumeUnsupported: 40
            case .groupBusy: 50
            case .groupUnknown: 51
            case .groupUnavailable: 52
            case .groupMoved: 53
            case .memberUnknown: 54
            case .accessoryNotCapable: 60
            case .invalidated: 61
            case .sourceUnknown: 62
            case .sourcesUnavailable: 63
            }
        }

        package var family: Family {
            switch number {
            case 10..<20: .authorization
            case 20..<30, 50..<70: .session
            case 30..<50: .playback
            default: .connection
            }
        }

        package init?(number: Int64) {
            guard let code = Self.allCases.first(where: { $0.number == number }) else { return nil }
            self = code
        }
    }

    package let code: Code
    /// A sentence for people.
    package let message: String
    /// More members of `data`, such as `path`.
    package let details: [String: JSONValue]

    package init(_ code: Code, _ message: String, details: [String: JSONValue] = [:]) {
        (self.code, self.message, self.details) = (code, message, details)
    }

    package var description: String { "\(code.rawValue): \(message)" }

    package var json: JSONValue {
        var data = details
        data["reason"] = .text(code.rawValue)
        data["family"] = .text(code.family.rawValue)
        return ["code": .integer(code.number), "message": .text(message), "data": .object(data)]
    }

    /// Reads an error that a receiver sent; an unknown number becomes `internalError` with its words kept.
    package init(json: JSONValue) {
        let number = json["code"]?.integerValue ?? 0
        var details = json["data"]?.objectValue ?? [:]
        let reason = details.removeValue(forKey: "reason")?.textValue
        details["family"] = nil
        let code = Code(number: number) ?? reason.flatMap { Code(rawValue: $0) } ?? .internalError
        self.init(code, json["message"]?.textValue ?? "the receiver gave no reason", details: details)
    }
}
