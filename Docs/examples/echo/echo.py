#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Linnet contributors
# SPDX-License-Identifier: Apache-2.0
"""Sends every message of a session back to it."""

from linnet_application import Application


class Echo(Application):
    async def message(self, session, payload):
        await session.post(payload)


Echo().run()
