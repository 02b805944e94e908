// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

package import RouteKit

/// How the program ends, for scripts.
package enum ExitCode: Int32, Sendable, CaseIterable {
    case success = 0
    case failure = 1
    case usage = 2
    case receiverNotFound = 3
    case refused = 4
    case mediaFailed = 5
    case applicationFailed = 6
    case interrupted = 130

    package var help: String {
        switch self {
        case .success: "all went well"
        case .failure: "something failed: the connection, a file, discovery"
        case .usage: "the command line makes no sense"
        case .receiverNotFound: "no receiver was found, or several and none was named"
        case .refused: "the receiver said no"
        case .mediaFailed: "the media could not be played"
        case .applicationFailed: "the application could not be started, or failed"
        case .interrupted: "interrupted by Ctrl-C"
        }
    }
}

/// A failure in words: what failed, and what to try.
package struct CommandFailure: Error, Equatable, Sendable, CustomStringConvertible {
    package let code: ExitCode
    package let message: String
    package let advice: String?

    package init(_ code: ExitCode, _ message: String, advice: String? = nil) {
        (self.code, self.message, self.advice) = (code, message, advice)
    }

    package var description: String { message + (advice.map { "\n  \($0)" } ?? "") }

    /// Any error, told of the receiver it happened at.
    package init(_ error: any Error, at receiver: String?) {
        if let failure = error as? CommandFailure {
            self = failure
            return
        }
        guard let error = error as? RoutingError else {
            self.init(.failure, String(describing: error))
            return
        }
        let place = receiver.map { "\($0): " } ?? ""
        let code: ExitCode =
            switch error.code {
            case .applicationFailed: .applicationFailed
            case .noSession: .refused
            default: error.isRefusal ? .refused : .failure
            }
        // An application's failure has what it printed last, line by line.
        let lines = error.message.split(separator: "\n" as Character).map { TerminalText.clean(String($0)) }
        self.init(
            code, "\(place)\(lines.joined(separator: "\n  "))", advice: Self.advice(for: error.code))
    }

    /// What a person can do about an error.
    package static func advice(for code: RoutingError.Code) -> String? {
        switch code {
        case .connectionFailed, .timeout, .connectionLost:
            "Is the receiver switched on and in the same network? `linnet doctor` looks closer."
        case .discoveryFailed:
            "Start avahi-daemon, or name the receiver's address: --on HOST[:PORT]."
        case .noSession: "Start something: linnet play URL|FILE."
        case .sessionBusy: "Somebody plays there, and the receiver lets nobody take over. Try again later."
        case .unsupportedScheme: "Receivers fetch http:// and https://. A local file is given by its path."
        case .linearPlayback: "Wait until this part is over."
        case .notSeekable: "A live stream without a window can only be played at its edge."
        case .trackUnknown: "`linnet tracks` lists what there is."
        case .volumeUnsupported: "The receiver's volume cannot be set; use its amplifier."
        case .versionUnsupported: "Update this program or the receiver: they speak different versions."
        case .groupBusy: "It is in another group. Take it out first: linnet group leave --on RECEIVER."
        case .groupUnknown: "Make a group: linnet group create NAME RECEIVER…"
        case .groupUnavailable: "Try again in a moment; `linnet doctor` looks closer."
        case .authorizationRequired: "The receiver wants a code; this version cannot give one."
        default: nil
        }
    }
}
