// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// Where a `ByteSourceElement` has its bytes from. Calls come on streaming threads.
package protocol ByteSource: AnyObject, Sendable {
    /// What is known of the resource; nil while nothing is.
    var head: ByteSourceHead? { get }
    /// Bytes; nil if unknown.
    var size: Int64? { get }
    /// True if any place can be read from.
    var isSeekable: Bool { get }
    /// Waits for the first bytes, which tell how the rest is to be read.
    func awaitAccess() -> ByteSourceAccess
    /// Waits until `head` is known. False if that will not be, or the wait was interrupted.
    func awaitHead() -> Bool
    /// Waits for bytes at `offset`: at least one, at most `maximum`.
    func read(at offset: Int64, maximum: Int) -> ByteSourceReading
    /// The title that begins with the byte at `offset`; empty if what follows has none. No read reaches over such a place.
    func title(at offset: Int64) -> String?
    /// Ends waits, and lets none begin until `resume`.
    func interrupt()
    func resume()
}

/// How a resource is to be read.
package enum ByteSourceAccess: Sendable {
    /// Who reads it chooses the places, since length and places of the format are found no other way, and the server gives
    /// them.
    case pulled
    /// It is given away piece by piece, from any place that is asked for.
    case pushed
    /// It is given away from its beginning to its end: whoever looks at its end first misunderstands it.
    case onward
}

/// What came of a wish to read.
package enum ByteSourceReading: Sendable {
    case bytes([UInt8])
    case end
    case interrupted
    /// Words for people.
    case failed(String)
}

/// What is known of a resource before its first byte.
package struct ByteSourceHead: Equatable, Sendable {
    /// A name and its text.
    package struct Field: Equatable, Sendable {
        package var name: String
        package var value: String
        package init(name: String, value: String) { (self.name, self.value) = (name, value) }
    }

    /// Where the bytes come from in the end, after redirections.
    package var uri: String
    package var contentType: String?
    /// Who sends it, and what kind of sound that is: a station of web radio.
    package var station: String?
    package var genre: String?
    package var requestHeaders: [Field] = []
    package var responseHeaders: [Field] = []

    package init(uri: String) { self.uri = uri }
}
