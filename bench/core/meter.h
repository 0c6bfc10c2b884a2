/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * meter: one line on stderr that says what is being measured, where that is a
 * terminal; nothing elsewhere.
 */
#ifndef TLBTUNE_METER_H
#define TLBTUNE_METER_H

/* Show this in place of what was shown. */
__attribute__((format(printf, 1, 2))) void meter_show(const char *format, ...);

/* Take the line away. */
void meter_end(void);

#endif
