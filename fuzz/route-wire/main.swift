// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import RendererWire
import RouteWire

// One input goes through every decoder that reads bytes of others. A trap is a finding; so is a value that does not come
// back as it was when it is written and read again.

private func checkText(_ text: String) {
    guard let value = try? JSONText.decode(text, limit: WireLimits.textFrame) else { return }
    // Whole numbers lose their fraction the first time; after that nothing changes.
    guard let written = try? JSONText.decode(JSONText.encode(value), limit: .max),
        (try? JSONText.decode(JSONText.encode(written), limit: .max)) == written
    else { preconditionFailure("JSON") }

    let requests: [IncomingRequest]
    switch IncomingText.decode(text) {
    case .single(let one): requests = [one]
    case .batch(let several): requests = several
    }
    for case .success(let request) in requests.map(\.request) {
        guard case .single(let again) = IncomingText.decode(request.text(id: 1)),
            case .success(request) = again.request
        else { preconditionFailure("request") }
    }
    for case .stateChanged(let change) in (try? ServerMessage.decode(text)) ?? [] {
        _ = MergePatch.apply(change.patch, to: value)
    }
    if let document = try? StateDocument(json: value) {
        precondition((try? StateDocument(json: document.json)) == document, "state")
    }
    _ = try? ReceiverDescription(json: value)
    _ = ReceiverDescription(
        textEntries: text.split(separator: "\n").map(String.init), name: "", port: 1)

    // The value taken as patch and as target, against a member of its own.
    let other = value.objectValue?.values.first ?? value.arrayValue?.first ?? .object(["a": .null])
    let patched = MergePatch.apply(other, to: value)
    if let patch = MergePatch.diff(from: value, to: patched) {
        precondition(MergePatch.diff(from: MergePatch.apply(patch, to: value), to: patched) == nil, "patch")
    }
}

private func checkFrames(_ bytes: [UInt8]) {
    if let frame = try? DataFrame(decoding: bytes) { precondition(frame.bytes == bytes, "data frame") }
    var decoder = FrameDecoder()
    decoder.push(bytes)
    while let message = try? decoder.next() {
        var again = FrameDecoder()
        // A picture may be within the frame's limit and beyond its own: then it is not sent on.
        guard let frame = message.frame else { continue }
        again.push(frame)
        precondition((try? again.next())??.frame == frame, "renderer frame")
    }
}

@_cdecl("LLVMFuzzerTestOneInput")
func fuzz(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    checkText(String(decoding: bytes, as: UTF8.self))
    checkFrames(bytes)
    return 0
}
