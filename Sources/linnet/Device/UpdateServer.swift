// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ApplianceCore
import RouteKit
import RouteWire
import Settings
import Soup

/// Asks a server what there is for this board. What it says is a hint and no more: a bundle is installed for its signature.
struct UpdateServer: Sendable {
    /// The folder of all boards, without a slash at its end.
    let url: String
    /// How often it is asked by itself.
    let hours: Int
    init(url: String, hours: Int = 24) {
        self.url = url.last == "/" ? String(url.dropLast()) : url
        self.hours = hours
    }

    struct Offer: Equatable, Sendable {
        var version: String
        var place: String
        init(version: String, place: String) { (self.version, self.place) = (version, place) }
    }

    /// The server that was chosen on the card, or by an administrator; nil if none.
    static func chosen(in paths: [String]) -> UpdateServer? {
        for path in paths where FileSystem.exists(path) {
            guard let file = try? KeyFile(path: path), let url = try? file.string("update", "url"),
                !url.isEmpty
            else { continue }
            let hours = (try? file.integer("update", "interval-hours", in: 1...720)) ?? nil
            return UpdateServer(url: url, hours: hours ?? 24)
        }
        return nil
    }

    @RouteActor func newest(for board: String) async throws -> Offer {
        let index = "\(url)/\(board)/latest.json"
        let answer: HTTPClient.Answer
        do {
            answer = try await HTTPClient().get(
                index, maximum: 16_384, timeout: .seconds(30), isolation: RouteActor.shared)
        } catch {
            throw CommandFailure(
                .failure, "\(url) does not answer: \(CommandFailure(error, at: nil).message)")
        }
        guard answer.status == 200 else {
            throw CommandFailure(.failure, "\(index) is not there: the server says \(answer.status)")
        }
        guard let offer = Self.offer(in: answer.body, base: "\(url)/\(board)") else {
            throw CommandFailure(.failure, "\(index) is no index of updates")
        }
        return offer
    }

    /// `{"version": …, "bundle": …}`, the bundle a name in the index's own folder.
    static func offer(in bytes: [UInt8], base: String) -> Offer? {
        guard let value = try? RouteWire.JSONText.decode(utf8: bytes, limit: 16_384),
            let version = value["version"]?.textValue, isName(version),
            let bundle = value["bundle"]?.textValue, isName(bundle)
        else { return nil }
        return Offer(version: version, place: "\(base)/\(bundle)")
    }

    private static func isName(_ text: String) -> Bool {
        let others: [UInt8] = Array("._+~-".utf8)
        return (1...200).contains(text.utf8.count) && text.utf8.first != UInt8(ascii: ".")
            && text.utf8.allSatisfy { byte in
                (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte)
                    || others.contains(byte)
            }
    }
}

/// What the look at the server found, handed by who may speak with the network to who may install: two lines, version and place.
extension UpdateServer.Offer {
    var text: String { "\(version)\n\(place)\n" }

    init?(text bytes: [UInt8]) {
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n" as Character)
        guard bytes.count <= 4096, lines.count == 2,
            lines[1].hasPrefix("https://") || lines[1].hasPrefix("http://"),
            lines[1].utf8.allSatisfy({ (33...126).contains($0) })
        else { return nil }
        self.init(version: String(lines[0]), place: String(lines[1]))
    }
}
