/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * interrupt: SIGINT, SIGTERM and SIGHUP end the measuring, not the program, so
 * that it prints what it has.
 */
#ifndef TLBTUNE_INTERRUPT_H
#define TLBTUNE_INTERRUPT_H

/* Catch the signals from now on. */
void interrupt_catch(void);

/* Becomes the number of the signal that came. */
const volatile int *interrupt_flag(void);

/* Die of the signal that came, as the shell expects; returns if none came. */
void interrupt_die(void);

#endif
