// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import SystemProbe

/// A network of three namespaces with a hub between them that delays and loses, and the bench once more in the first of them.
enum SyncLink {
    /// Says to the bench that it is the one in the namespace.
    static let option = "--behind-link"

    /// The bench with the servers and the group's host, and two behind the link.
    static let places = ["a", "b", "c"].enumerated().map { number, letter in
        NetworkPlace(
            prefix: ["ip", "netns", "exec", "linnet-sync-\(letter)"], address: "10.77.0.\(number + 1)")
    }

    /// 5 ms, 3 more or less, and 0.5 % of the frames lost, on each way of each of the two.
    private static let hub = ["5", "3", "0.005"]

    /// Measures there what `sync` measures here. False if something could not be measured.
    static func run(_ bench: Workspace, _ words: [String]) throws -> Bool {
        let output = "\(bench.folder)/hub.log"
        let ends = places.map { "\($0.prefix[3])=\($0.address)" }
        let hub = try ChildProcess(["\(bench.support)/lossy-hub"] + ends + ["--"] + hub, output: output)
        defer { hub.end() }
        do {
            try retry(seconds: 10) {
                if readLines(output).last != "ready" {
                    throw ProbeFailure("no network of namespaces: \(readText(output))", 0)
                }
            }
        } catch {
            print("sync over a link not measured: \(error)")
            return false
        }
        let told = "\(bench.folder)/behind-link.out"
        let inner = try ChildProcess(
            places[0].prefix + ["\(bench.programs)/linnet-bench", option] + words, output: told)
        let code = inner.wait(milliseconds: 900_000)
        print(readText(told), terminator: "")
        return code == 0
    }
}
