/* Restarts a program that hangs, and reports how often and why it started. */
#ifndef WATCHDOG_H
#define WATCHDOG_H

#include "chip.h"

#include <stdint.h>

/* Determine the cause, and start the watchdog with a timeout of two seconds. */
void watchdog_start(void);

/* Why the program started: 1 power-on, 2 external, 8 watchdog. */
extern uint8_t watchdog_cause;

/* Resets since power-on; stops at 65,535. */
uint16_t watchdog_resets(void);

/* Feed the watchdog. Call it only from code that a working program passes again and again. Two
 * counts are a microsecond (erratum RP2040-E1). */
static inline void watchdog_feed(void) { WATCHDOG_LOAD = 2u * 2000000u; }

#endif
