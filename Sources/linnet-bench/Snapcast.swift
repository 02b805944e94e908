// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import SystemProbe

/// snapserver and two of its clients, with the settings that they come with, but for the ports and the uncompressed stream.
final class SnapcastPair {
    private let folder: String
    private var processes: [ChildProcess] = []

    /// The server runs with the bench, and the clients, with a device each, in `places`, which reach it at `server`.
    init(_ bench: Workspace, devices: [String], in places: [NetworkPlace], server: String) throws {
        for name in ["snapserver", "snapclient"] where findProgram(name) == nil {
            throw ProbeFailure("\(name) is not installed", 0)
        }
        folder = "\(bench.folder)/snapcast"
        try run(["rm", "-rf", folder])
        try run(["mkdir", "-p", folder])
        try run(["mkfifo", "\(folder)/fifo"])
        try writeText(
            """
            [server]
            datadir = \(folder)
            [http]
            enabled = false
            [tcp]
            enabled = true
            bind_to_address = 0.0.0.0
            port = 17705
            [stream]
            bind_to_address = 0.0.0.0
            port = 17704
            source = pipe://\(folder)/fifo?name=default&sampleformat=48000:16:2&codec=pcm
            [logging]
            sink = stdout

            """, to: "\(folder)/snapserver.conf")
        let environment = bench.cardEnvironment
        processes.append(
            try ChildProcess(
                ["snapserver", "-c", "\(folder)/snapserver.conf"], environment: environment,
                output: "\(folder)/server.log"))
        _ = try retry(seconds: 10) { try StreamSocket(host: "127.0.0.1", port: 17_704) }
        for (number, (device, place)) in zip(devices, places).enumerated() {
            processes.append(
                try ChildProcess(
                    place.prefix + [
                        "snapclient", "-h", server, "-p", "17704", "-s", device, "--hostID",
                        "bench\(number)", "--logsink", "stdout",
                    ], environment: environment, output: "\(folder)/client\(number).log"))
        }
    }

    /// Plays a WAV file of 48 kHz, 16 bits, stereo.
    func feed(_ path: String) throws {
        processes.append(
            try ChildProcess(["sh", "-c", "exec tail -c +45 '\(path)' > '\(folder)/fifo'"]))
    }

    func end() {
        for process in processes.reversed() { process.end() }
        processes = []
    }

    deinit { end() }
}
