// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

package import MediaModel

/// What a sender asks to have announced.
package struct AnnouncementRequest: Equatable, Sendable {
    package var url: String
    package var headers: [HeaderField]
    package var userAgent: String?
    /// Within the device's; nil is full.
    package var volume: Double?
    /// Decibels by which what plays is lowered; nil is the receiver's choice.
    package var ducking: Double?

    package init(
        url: String, headers: [HeaderField] = [], userAgent: String? = nil, volume: Double? = nil,
        ducking: Double? = nil
    ) {
        (self.url, self.headers, self.userAgent) = (url, headers, userAgent)
        (self.volume, self.ducking) = (volume, ducking)
    }

    init(_ reader: ParamReader) throws(RouteError) {
        // What is said of an item is said of any.
        let item = try SessionStart(item: reader)
        self.init(
            url: item.url, headers: item.headers, userAgent: item.userAgent,
            volume: try Self.number(reader, "volume", in: 0...1),
            ducking: try Self.number(reader, "ducking", in: 0...Announcement.fullDucking))
    }

    private static func number(
        _ reader: ParamReader, _ key: String, in range: ClosedRange<Double>
    ) throws(RouteError) -> Double? {
        guard let number = try reader.optionalNumber(key) else { return nil }
        guard range.contains(number) else {
            throw ParamReader.fault(
                "\(reader.path).\(key)",
                "expected a number from \(Int(range.lowerBound)) to \(Int(range.upperBound))")
        }
        return number
    }

    var members: [String: JSONValue] {
        var members = SessionStart(url: url, headers: headers, userAgent: userAgent).itemMembers
        if let volume { members["volume"] = .number(volume) }
        if let ducking { members["ducking"] = .number(ducking) }
        return members
    }
}
