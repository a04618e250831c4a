/* Cycles, by the core's timer SysTick, which counts down 24 bits at the CPU's clock. */
#ifndef CYCLE_COUNTER_H
#define CYCLE_COUNTER_H

#include "chip.h"

#include <stdint.h>

#define CYCLE_COUNTER_BITS 24

/* How often the timer has reached 0. */
extern volatile uint32_t cycle_counter_wraps;

/* Start the timer. */
void cycle_counter_start(void);

/* The handler of its exception. */
void cycle_counter_wrapped(void);

/* Start to count. No exception falls into spans of up to 2^24 cycles; each further 2^24 cycles take
 * those of a handler more. */
static inline void cycle_counter_restart(void)
{
    SYST_CVR = 0; /* any value clears it */
    cycle_counter_wraps = 0;
}

/* The cycles since the counter began, modulo 2^32, less a constant. */
static inline uint32_t cycle_counter_now(void)
{
    uint32_t wraps;
    uint32_t left;

    do {
        wraps = cycle_counter_wraps;
        left = SYST_CVR;
    } while (wraps != cycle_counter_wraps);
    return (wraps << CYCLE_COUNTER_BITS) - left;
}

#endif
