/* Cycles of a span of code, exact to the cycle, by Timer1 at the CPU's clock.
 *
 * A span runs from one OUT to the I/O register GPIOR0 (value 1) to another (value 0), so that an
 * emulator that watches GPIOR0 counts the very same instructions:
 *
 *     lds start, TCNT1    cycle_span_begin()
 *     out GPIOR0, 1       <- here the emulator starts to count
 *     ...                 what is measured
 *     out GPIOR0, 0       <- here it stops: this OUT is no longer part of the span
 *     lds end, TCNT1      cycle_span_end()
 *
 * The timer counts more than that by a constant, the time from the first reading to the first OUT
 * and from the second OUT to the second reading. cycle_counter_start() measures that constant on an
 * empty span and every span subtracts it. The first OUT (1 cycle) belongs to the span for both: an
 * empty span counts 1.
 */
#ifndef CYCLE_COUNTER_H
#define CYCLE_COUNTER_H

#include "interrupt_cycles.h"

#include <avr/io.h>
#include <stdint.h>

#include "cycle_timer_16bit.h"

/* The overhead is a few cycles and fits in one byte, which saves SRAM. */
extern uint8_t cycle_span_overhead;

/* How often the timer has overflowed since this was set to 0: every 65,536 cycles, also during sleep.
 * Kept across a reset. */
extern volatile uint16_t cycle_counter_overflows;

/* Start the timer and measure the overhead of measuring. Call it before interrupts are enabled. */
void cycle_counter_start(void);

/* The two ends of a span, CYCLE_SPAN_BEGIN and CYCLE_SPAN_END, are one piece of assembly each:
 * always the same instructions, into which the compiler cannot move others. */

/* Names the span that begins next, for programs that read the linked program. */
#define CYCLE_SPAN_IS(name) __asm__ volatile("pnn_span." #name ".%=:\n" : :)

/* The timer where a span begins; interrupts must be disabled. */
static inline cycle_timer_t cycle_span_begin(void)
{
    cycle_timer_t start;

    __asm__ volatile(
        CYCLE_SPAN_BEGIN("%[mark]")
        : [start] "=&r"(start)
        : [timer] CYCLE_TIMER_OPERAND, [mark] "I"(_SFR_IO_ADDR(GPIOR0)), [one] "r"((uint8_t)1)
        : "memory");
    return start;
}

/* The timer where a span ends; interrupts must be disabled. */
static inline cycle_timer_t cycle_span_end(void)
{
    cycle_timer_t end;

    __asm__ volatile(CYCLE_SPAN_END("%[mark]")
                     : [end] "=r"(end)
                     : [timer] CYCLE_TIMER_OPERAND, [mark] "I"(_SFR_IO_ADDR(GPIOR0))
                     : "memory");
    return end;
}

/* A span of any length: an interrupt counts the timer's overflows, so interrupts must be enabled
 * for most of it. Call the first just before cycle_span_begin(), the second just after
 * cycle_span_end(), both with interrupts disabled. */
void cycle_long_span_prepare(void);
uint32_t cycle_long_span(uint16_t start, uint16_t end);

#endif
