/* A program that hangs is restarted, and reports how often and why it started.
 *
 * The chip's own word for the cause, MCUSR, is cleared by the bootloader of an Uno. What is known
 * then is what the SRAM has kept: nothing after a power-on; how long the program had not fed the
 * watchdog, which is more than a second before a reset by the watchdog.
 */
#ifndef WATCHDOG_H
#define WATCHDOG_H

#include "cycle_counter.h"

#include <avr/wdt.h>
#include <stdint.h>

/* Work out the cause and arm the watchdog, with two seconds. */
void watchdog_start(void);

/* Why the program started, as bits of MCUSR: 1 power-on, 2 external, 4 brown-out, 8 watchdog. */
extern uint8_t watchdog_cause;

/* Resets since power-on; stays at 65,535. */
uint16_t watchdog_resets(void);

/* All is well. Only from where the program comes by again and again. */
static inline void watchdog_feed(void)
{
    wdt_reset();
    cycle_counter_overflows = 0;
}

#endif
