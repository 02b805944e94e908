/* SPDX-FileCopyrightText: 2026 The Linnet contributors */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LINNET_CINPUT_H
#define LINNET_CINPUT_H
#include <linux/input.h>
#endif
