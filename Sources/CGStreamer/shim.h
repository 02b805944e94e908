/* SPDX-FileCopyrightText: 2026 The Linnet contributors
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <gst/gst.h>
#include <gst/app/gstappsink.h>
#include <gst/audio/audio.h>
#include <gst/pbutils/pbutils.h>
