// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// Why an application's session ended otherwise than it should.
public struct ApplicationFailure: Error, Equatable, Sendable {
    public enum Code: String, Sendable, CaseIterable {
        /// The program could not be started.
        case launchFailed
        /// It said no hello in time.
        case launchTimeout
        /// It ended with a status or by a signal.
        case crashed
        /// It used more memory, storage, processes or messages than it may.
        case limitExceeded
        /// It broke the protocol.
        case protocolViolation
        /// It does not want the session; `message` is its own.
        case refused
    }

    public var code: Code
    /// For people.
    public var message: String
    /// What the process said last, oldest first; at most 20 lines.
    public var log: [String]
    public init(_ code: Code, _ message: String, log: [String] = []) {
        (self.code, self.message, self.log) = (code, message, log)
    }
}

/// How the processes of an application came to their end.
public struct ApplicationExit: Equatable, Sendable {
    public enum Cause: Equatable, Sendable {
        case status(Int32)
        case signal(Int32)
        /// Never ran, for this reason.
        case notStarted(String)
        /// Ended because of what it used.
        case limit(String)
    }

    public var cause: Cause
    /// The last lines of its log, oldest first.
    public var log: [String]
    public init(_ cause: Cause, log: [String] = []) { (self.cause, self.log) = (cause, log) }
}
