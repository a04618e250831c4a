/* A counter of cycles that the architecture of the core defines; where it has none, COUNTER_MISSING.
 *
 * Include it once, in a source that defines the other functions of harness.h. */
#ifndef COUNTER_H
#define COUNTER_H

#include "harness.h"

#if defined(__ARM_ARCH_7M__) || defined(__ARM_ARCH_7EM__) || defined(__ARM_ARCH_8M_MAIN__)
#define REGISTER(address) (*(volatile uint32_t *)(address))
void counter_start(void)
{
    REGISTER(0xE000EDFC) |= 1u << 24;   /* DEMCR: the DWT gets its clock */
    REGISTER(0xE0001FB0) = 0xC5ACCE55u; /* its lock, which a Cortex-M7 has */
    REGISTER(0xE0001000) |= 1u;
}
uint32_t counter_now(void) { return REGISTER(0xE0001004); }
#elif defined(__AVR__)
#include <avr/interrupt.h>
#include <avr/io.h>
#if defined(TIMSK1) && defined(TCCR1B)
/* Timer1 without prescaler, extended by its overflows. */
static volatile uint16_t overflows;
ISR(TIMER1_OVF_vect) { overflows++; }
void counter_start(void)
{
    TCCR1A = 0;
    TCCR1B = 1;
    TIMSK1 = 1;
}
uint32_t counter_now(void)
{
    uint8_t state = SREG;

    cli();
    uint16_t low = TCNT1;
    uint16_t high = overflows;
    if ((TIFR1 & 1) && low < 0x8000) { /* it has overflowed since cli() */
        high++;
    }
    SREG = state;
    return (uint32_t)high << 16 | low;
}
#else
#define COUNTER_MISSING
#endif
#else
#define COUNTER_MISSING
#endif

#endif
