// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import SystemProbe

/// A network of namespaces with a hub between them that delays and loses, and the bench once more in the first of them.
enum SyncLink {
    /// Says to the bench that it is the one in the namespace; the other, that the hub delays and loses nothing.
    static let option = "--behind-link"
    static let quietOption = "--behind-hub"

    /// The bench with the servers and the group's host, and two behind the link.
    static let places = Array(allPlaces.prefix(3))
    /// A machine for each of 64 members besides: a provider of the group's clock answers one address only so often.
    static let allPlaces = (1...65).map { number in
        NetworkPlace(
            prefix: ["ip", "netns", "exec", "linnet-sync-\(number)"], address: "10.77.0.\(number)")
    }

    /// Measures there what `sync` measures here: 5 ms away, 3 more or less, with 0.5 % of the frames lost, on each way of each of the two;
    /// or with nothing of that. False if something could not be measured.
    static func run(_ bench: Workspace, _ words: [String], isQuiet: Bool = false) throws -> Bool {
        let places = isQuiet ? allPlaces : places
        let kind = isQuiet ? ["0", "0", "0"] : ["5", "3", "0.005"]
        let output = "\(bench.folder)/hub\(isQuiet ? "-quiet" : "").log"
        let ends = places.map { "\($0.prefix[3])=\($0.address)" }
        let hub = try ChildProcess(["\(bench.support)/lossy-hub"] + ends + ["--"] + kind, output: output)
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
            places[0].prefix + ["\(bench.programs)/linnet-bench", isQuiet ? quietOption : option] + words,
            output: told)
        // Ten runs of a minute and a half, twice, take most of an hour.
        let code = inner.wait(milliseconds: 7_200_000)
        print(readText(told), terminator: "")
        return code == 0
    }
}
