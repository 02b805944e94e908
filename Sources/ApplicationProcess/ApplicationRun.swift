// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ApplicationModel
import GLibLoop
import RouteWire
import Settings

/// One life of an application's processes that this process starts. Made and used on a loop.
final class ApplicationRun: ApplicationLife {
    let plan: LaunchPlan
    private let child: ChildProcess
    private let status: ByteLink
    private let output: ByteLink
    private var lines = OutputLines()
    private var statusText: [UInt8] = []
    /// The first process behind the walls.
    private var inner: Int32?
    private var code: Int32?
    private var ended: ChildProcess.Exit?
    private var cause: ApplicationExit.Cause?
    private var isKilled = false
    private var finishing: EventSource?
    private var holding: EventSource?
    private let onLine: (String) -> Void
    private var onEnd: ((ApplicationExit) -> Void)?

    /// Starts the process, a program with its end of the socket. The end is told once; until then this is kept alive.
    init(
        _ plan: LaunchPlan, socket: SharedDescriptor?, onLine: @escaping (String) -> Void,
        onEnd: @escaping (ApplicationExit) -> Void
    ) throws {
        (self.plan, self.onLine, self.onEnd) = (plan, onLine, onEnd)
        var launched: ChildProcess?
        var reports: ByteLink?
        output = try ByteLink.pipe { writing in
            var inheritance = Inheritance()
            if let socket { try inheritance.add(socket) }
            if let filter = plan.filter { inheritance.add(try Descriptor.holding(filter)) }
            // A noncopyable value moves through one closure at a time.
            var end = Int32(-1)
            reports = try ByteLink.pipe { end = $0.take() }
            inheritance.add(Descriptor(adopting: end))
            launched = try ChildProcess(
                plan.arguments, environment: plan.environment, bounds: plan.bounds, output: writing,
                inheriting: inheritance)
        }
        guard let launched, let reports else {
            throw Failure(domain: "application", code: 0, message: "it was not launched")
        }
        (child, status) = (launched, reports)
        status.onReceive = { [weak self] in self?.tell(status: $0) }
        output.onReceive = { [weak self] in self?.tell(output: $0) }
        // Until the end this keeps the run alive, so that no process goes unobserved.
        child.whenEnded { self.childEnded($0) }
    }

    /// The process that everything of the instance descends from; nil once it has ended.
    var process: Int32? { child.identifier }

    func note(_ text: String) { lines.note(text) }

    func terminate() {
        guard ended == nil else { return }
        if plan.isSandboxed {
            guard let inner else { return kill(nil) }
            for process in ProcessTable.children(of: inner) { ProcessTable.send(signal: 15, to: process) }
        } else if let process {
            ProcessTable.send(signal: 15, toGroup: process)
        }
    }

    func kill(_ limit: String?) {
        guard ended == nil else { return }
        if let limit, cause == nil { cause = .limit(limit) }
        isKilled = true
        if plan.isSandboxed, let inner {
            // With the first process of their world all others end before its end is told.
            ProcessTable.send(signal: 9, to: inner)
            EventSource.once(after: .seconds(1)) { [child] in child.forceExit() }
        } else {
            if let process {
                let all = ProcessTable.descendants(of: process, limit: 4096)
                ProcessTable.send(signal: 9, toGroup: process)
                for process in all { ProcessTable.send(signal: 9, to: process) }
            }
            child.forceExit()
        }
    }

    func drop() {
        onEnd = nil
        kill(nil)
    }

    // MARK: What it says

    /// Bubblewrap writes lines of JSON: the process behind the walls, then how it ended.
    private func tell(status bytes: [UInt8]) {
        guard statusText.count + bytes.count <= 65_536 else { return }
        statusText += bytes
        while let end = statusText.firstIndex(of: 10) {
            let line = Array(statusText[..<end])
            statusText.removeFirst(end + 1)
            guard let value = try? JSONText.decode(utf8: line, limit: 4096) else { continue }
            if let process = value["child-pid"]?.integerValue { inner = Int32(exactly: process) }
            if let number = value["exit-code"]?.integerValue { code = Int32(exactly: number) }
        }
        if isKilled, ended == nil, let inner { ProcessTable.send(signal: 9, to: inner) }
    }

    private func tell(output bytes: [UInt8]) {
        for line in lines.push(bytes, now: MonotonicClock.nanoseconds) { onLine(line) }
        guard lines.isFull, holding == nil else { return }
        output.isReading = false
        holding = EventSource.after(.seconds(1)) { [weak self] in
            self?.holding = nil
            self?.output.isReading = true
        }
    }

    // MARK: Its end

    private func childEnded(_ exit: ChildProcess.Exit) {
        ended = exit
        // What was said before the end is still to be read. A descriptor that went to a process outside must not make
        // this wait for ever.
        finishing = EventSource.after(.milliseconds(20)) { [weak self] in self?.finish() }
    }

    private func finish() {
        finishing = nil
        holding = nil
        output.close()
        status.close()
        for line in lines.finish() { onLine(line) }
        let body = onEnd
        onEnd = nil
        body?(ApplicationExit(cause ?? natural, log: lines.last))
    }

    private var natural: ApplicationExit.Cause {
        switch ended {
        case .signal(let number)?: return .signal(number)
        case .status(let number)? where !plan.isSandboxed: return Self.cause(number)
        default: break
        }
        if let code { return Self.cause(code) }
        if isKilled { return .signal(9) }
        return .notStarted(lines.last.last ?? "bubblewrap ended with \(ended.map { "\($0)" } ?? "nothing")")
    }

    /// Bubblewrap passes on a signal as shells do.
    private static func cause(_ status: Int32) -> ApplicationExit.Cause {
        (129...192).contains(status) ? .signal(status - 128) : .status(status)
    }
}
