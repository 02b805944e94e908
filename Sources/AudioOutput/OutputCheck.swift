// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

package import MediaModel

extension AudioOutput {
    /// Opens the output as a receiver would, for a self-test, and says what came of it. Blocks for as long as the driver
    /// takes.
    package static func check(device: String) -> OutputStatus {
        let configuration = AudioOutputConfiguration(device: device)
        let keeper = DeviceKeeper(configuration: configuration, facts: DeviceFacts()) { _ in }
        keeper.look()
        return keeper.status
    }
}
