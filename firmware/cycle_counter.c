#include "small.h"

#include "cycle_counter.h"

#include <avr/interrupt.h>

uint8_t cycle_span_overhead;

volatile uint16_t cycle_counter_overflows __attribute__((section(".noinit")));

void cycle_counter_start(void)
{
    uint16_t start;
    uint16_t end;

    /* A bootloader may have used the timer: nothing is taken for granted. */
    TCCR1A = 0;
    TCCR1B = _BV(CS10);
    TIMSK1 = _BV(TOIE1);

    /* An empty span, marked in GPIOR1 so that an emulator does not count it among the real ones. */
    __asm__ volatile(CYCLE_SPAN_BEGIN("%[mark]") CYCLE_SPAN_END("%[mark]")
                     : [start] "=&r"(start), [end] "=&r"(end)
                     : [timer] "n"(_SFR_MEM_ADDR(TCNT1)), [mark] "I"(_SFR_IO_ADDR(GPIOR1)),
                       [one] "r"((uint8_t)1));
    cycle_span_overhead = (uint8_t)(end - start - 1u); /* the first OUT belongs to the span */
}

ISR(TIMER1_OVF_vect) { cycle_counter_overflows++; }

void cycle_long_span_prepare(void)
{
    cycle_counter_overflows = 0;
    TCNT1 = 0; /* so that the first overflow is far away from the span's beginning */
    TIFR1 = _BV(TOV1);
}

uint32_t cycle_long_span(uint16_t start, uint16_t end)
{
    uint16_t high = cycle_counter_overflows;

    /* An overflow that no interrupt has counted yet happened while interrupts were disabled: before
     * `end` was read if `end` is small, after it if `end` is near the top. */
    if ((TIFR1 & _BV(TOV1)) && end < 0x8000u) {
        high++;
    }
    return (((uint32_t)high << 16) | end) - start - cycle_span_overhead;
}
