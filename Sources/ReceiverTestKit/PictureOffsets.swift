// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

extension CardRecording {
    /// Milliseconds by which each of the pictures came after its sound on this card, sorted. The video is `beeps.mkv`: a beep
    /// at each second tells when its sound was heard, and picture number n stands at n · 40 ms.
    package func offsets(of sightings: [VirtualDisplay.Sighting], speed: Double = 1) -> [Double] {
        let beeps: [(second: Double, time: Int64)] = sightings.filter { $0.number % 25 == 0 }.compactMap {
            // Before the beep there is silence, of more than this at each speed.
            guard let time = firstSound(from: $0.time - 200_000_000, threshold: 4000) else { return nil }
            return (Double($0.number) / 25, time)
        }
        return sightings.compactMap { sighting in
            let place = Double(sighting.number) / 25
            guard let beep = beeps.min(by: { abs($0.second - place) < abs($1.second - place) }) else {
                return nil
            }
            return Double(sighting.time - beep.time) / 1e6 - (place - beep.second) / speed * 1e3
        }.sorted()
    }
}
