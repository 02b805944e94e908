// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import SystemProbe

/// A player that is measured beside ours: started once, told to play, seek, pause and stop.
///
/// What is timed answers with the moment of the request: when the thread that talks with the player began to ask.
protocol Player: AnyObject {
    var name: String { get }
    /// The processes whose memory and load count.
    var pids: [Int32] { get }
    /// Where this player reaches the bench's HTTP server.
    var baseURL: String { get }
    @discardableResult func play(_ url: String) async throws -> Int64
    func stop() async throws
    func seek(seconds: Int) async throws -> Int64
    func pause() async throws
    func resume() async throws -> Int64
    func shutDown() async
}

extension StreamSocket {
    /// Sends a line and says when; what was heard until then is forgotten.
    fileprivate func command(_ line: String) throws -> Int64 {
        discard()
        let start = monotonicNanoseconds()
        try write(line + "\n")
        return start
    }
}

/// mpv with its JSON IPC.
final class MPV: Player {
    let name = "mpv"
    let baseURL: String
    private let process: ChildProcess
    private let socket: StreamSocket
    var pids: [Int32] { ProcessTable.family(of: process.pid) }

    init(_ bench: Workspace, device: String) throws {
        baseURL = bench.loopbackURL
        let path = "\(bench.folder)/mpv.sock"
        process = try ChildProcess(
            [
                "mpv", "--no-config", "--no-video", "--idle", "--keep-open=no", "--input-ipc-server=\(path)",
                "--ao=alsa", "--audio-device=alsa/\(device)",
            ], environment: bench.cardEnvironment, output: "\(bench.folder)/mpv.log")
        socket = try retry(seconds: 10) { try StreamSocket(path: path) }
    }

    @discardableResult private func command(_ words: String) throws -> Int64 {
        try socket.command("{\"command\": [\(words)]}")
    }
    func play(_ url: String) throws -> Int64 { try command("\"loadfile\", \"\(url)\"") }
    func stop() throws { try command("\"stop\"") }
    func seek(seconds: Int) throws -> Int64 { try command("\"seek\", \(seconds), \"absolute\"") }
    func pause() throws { try command("\"set_property\", \"pause\", true") }
    func resume() throws -> Int64 { try command("\"set_property\", \"pause\", false") }
    func shutDown() { process.end() }
}

/// mpd with its own protocol.
final class MPD: Player {
    let name = "mpd"
    let baseURL: String
    private let process: ChildProcess
    private let socket: StreamSocket
    var pids: [Int32] { ProcessTable.family(of: process.pid) }

    init(_ bench: Workspace, device: String) throws {
        baseURL = bench.loopbackURL
        let configuration = "\(bench.folder)/mpd.conf"
        try writeText(
            """
            music_directory "\(bench.folder)"
            db_file "\(bench.folder)/mpd.db"
            bind_to_address "127.0.0.1"
            port "\(bench.mpdPort)"
            zeroconf_enabled "no"
            audio_output {
              type "alsa"
              name "card"
              device "\(device)"
              mixer_type "none"
            }

            """, to: configuration)
        process = try ChildProcess(
            ["mpd", "--no-daemon", "--stderr", configuration], environment: bench.cardEnvironment,
            output: "\(bench.folder)/mpd.log")
        socket = try retry(seconds: 10) { try StreamSocket(host: "127.0.0.1", port: bench.mpdPort) }
        _ = socket.read(milliseconds: 2_000)
    }

    @discardableResult private func command(_ line: String) throws -> Int64 { try socket.command(line) }
    func play(_ url: String) throws -> Int64 {
        try command("command_list_begin\nclear\nadd \(url)\nplay\ncommand_list_end")
    }
    func stop() throws { try command("stop") }
    func seek(seconds: Int) throws -> Int64 { try command("seekcur \(seconds)") }
    func pause() throws { try command("pause 1") }
    func resume() throws -> Int64 { try command("pause 0") }
    func shutDown() { process.end() }
}

/// gmediarender over UPnP. It refuses the loopback interface, so it lives in a network namespace of the bench's own.
final class GMediaRender: Player {
    let name = "gmediarender"
    let baseURL: String
    private let process: ChildProcess
    private let host: String
    private let port: UInt16 = 49_494
    var pids: [Int32] { ProcessTable.family(of: process.pid) }

    init(_ bench: Workspace, device: String) throws {
        let network = try bench.peerNetwork()
        host = network.inside
        baseURL = network.serverURL
        process = try ChildProcess(
            [
                "ip", "netns", "exec", network.name, "gmediarender", "-f", "bench", "--port", "\(port)", "-I",
                network.interface, "--gstout-audiosink=alsasink", "--gstout-audiodevice=\(device)",
                "--logfile=stdout",
            ], environment: bench.cardEnvironment, output: "\(bench.folder)/gmediarender.log")
        _ = try retry(seconds: 15) { try StreamSocket(host: host, port: port) }
    }

    @discardableResult private func act(_ name: String, _ arguments: String = "") throws -> Int64 {
        let start = monotonicNanoseconds()
        let service = "urn:schemas-upnp-org:service:AVTransport:1"
        let body =
            "<?xml version=\"1.0\"?><s:Envelope xmlns:s=\"http://schemas.xmlsoap.org/soap/envelope/\" "
            + "s:encodingStyle=\"http://schemas.xmlsoap.org/soap/encoding/\"><s:Body><u:\(name) xmlns:u=\"\(service)\">"
            + "<InstanceID>0</InstanceID>\(arguments)</u:\(name)></s:Body></s:Envelope>"
        let answer = try StreamSocket.post(
            host: host, port: port, path: "/upnp/control/rendertransport1",
            headers: ["Content-Type: text/xml; charset=\"utf-8\"", "SOAPACTION: \"\(service)#\(name)\""],
            body: body)
        if answer == nil { throw ProbeFailure("gmediarender refused \(name)", 0) }
        return start
    }
    func play(_ url: String) throws -> Int64 {
        let start = try act(
            "SetAVTransportURI",
            "<CurrentURI>\(url)</CurrentURI><CurrentURIMetaData></CurrentURIMetaData>")
        try act("Play", "<Speed>1</Speed>")
        return start
    }
    func stop() throws { try act("Stop") }
    func seek(seconds: Int) throws -> Int64 {
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let target = "0:\(two(seconds / 60)):\(two(seconds % 60))"
        return try act("Seek", "<Unit>REL_TIME</Unit><Target>\(target)</Target>")
    }
    func pause() throws { try act("Pause") }
    func resume() throws -> Int64 { try act("Play", "<Speed>1</Speed>") }
    func shutDown() { process.kill() }
}

/// Tries again until it works or the time is up.
func retry<Value>(seconds: Int, _ body: () throws -> Value) throws -> Value {
    let limit = monotonicNanoseconds() + Int64(seconds) * 1_000_000_000
    while true {
        do { return try body() } catch {
            guard monotonicNanoseconds() < limit else { throw error }
            pause(milliseconds: 50)
        }
    }
}
