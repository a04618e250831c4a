/* Restarts a program that hangs, and reports how often and why it started.
 *
 * The bootloader of an Uno clears MCUSR, the chip's register for the reset cause. So the cause is
 * derived from what the SRAM has kept: nothing after a power-on; after a reset, the time since the
 * program last fed the watchdog, which is more than a second if the watchdog caused it.
 */
#ifndef WATCHDOG_H
#define WATCHDOG_H

#include "cycle_counter.h"

#include <avr/wdt.h>
#include <stdint.h>

/* Determine the cause, and start the watchdog with a timeout of two seconds. */
void watchdog_start(void);

/* Why the program started, as bits of MCUSR: 1 power-on, 2 external, 4 brown-out, 8 watchdog. */
extern uint8_t watchdog_cause;

/* Resets since power-on; stops at 65,535. */
uint16_t watchdog_resets(void);

/* Feed the watchdog. Call it only from code that a working program passes again and again. */
static inline void watchdog_feed(void)
{
    wdt_reset();
    cycle_counter_overflows = 0;
}

#endif
