// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import Testing

/// Tests of the whole product on a simulated card. They follow one another: each one listens to sound in real time, and
/// would hear the others' work as its own delay.
@Suite(.serialized, .timeLimit(.minutes(3))) enum Receiving {}
