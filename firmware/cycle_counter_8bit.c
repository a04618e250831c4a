#include "small.h"

#include "cycle_counter.h"

#ifndef TCNT1L

#include <avr/interrupt.h>

/* What an overflow takes: the chip's response, the jump in the vector table, the handler. */
#define INTERRUPT_CYCLES (35u + INTERRUPT_CYCLES_MORE)

#define TEXT_OF(name) #name
#define VALUE_OF(name) TEXT_OF(name)
#define HANDLER VALUE_OF(TIMER0_OVF_vect)

uint8_t cycle_span_overhead;

volatile uint16_t cycle_counter_overflows __attribute__((section(".noinit")));

void cycle_counter_start(void)
{
    uint8_t start;
    uint8_t end;

    TCCR0A = 0;
    TCCR0B = _BV(CS00);
    TIMSK = _BV(TOIE0);
    __asm__ volatile(CYCLE_SPAN_BEGIN("%[mark]") CYCLE_SPAN_END("%[mark]")
                     : [start] "=&r"(start), [end] "=&r"(end)
                     : [timer] "I"(_SFR_IO_ADDR(TCNT0)), [mark] "I"(_SFR_IO_ADDR(GPIOR1)),
                       [one] "r"((uint8_t)1));
    cycle_span_overhead = (uint8_t)(end - start - 1u); /* the first OUT belongs to the span */
}

/* In assembly, so that what it takes is known to the cycle. */
/* clang-format off */
__asm__(".section .text.cycle_counter_interrupt,\"ax\",@progbits\n"
        ".global " HANDLER "\n"
        ".type " HANDLER ", @function\n"
        HANDLER ":\n"
        "    push r24\n"
        "    in   r24, 0x3F\n" /* SREG */
        "    push r24\n"
        "    push r25\n"
        "    lds  r24, cycle_counter_overflows\n"
        "    lds  r25, cycle_counter_overflows + 1\n"
        "    adiw r24, 1\n"
        "    sts  cycle_counter_overflows + 1, r25\n"
        "    sts  cycle_counter_overflows, r24\n"
        "    pop  r25\n"
        "    pop  r24\n"
        "    out  0x3F, r24\n"
        "    pop  r24\n"
        "    reti\n"
        ".size " HANDLER ", . - " HANDLER "\n"
        ".text\n");
/* clang-format on */

void cycle_long_span_prepare(void)
{
    cycle_counter_overflows = 0;
    TCNT0 = 0; /* so that the first overflow is far away from the span's beginning */
    TIFR = _BV(TOV0);
}

uint32_t cycle_long_span(uint16_t start, uint16_t end)
{
    const uint16_t handled = cycle_counter_overflows;
    uint32_t high = handled;

    /* As in cycle_counter.c. */
    if ((TIFR & _BV(TOV0)) && end < 0x80u) {
        high++;
    }
    return ((high << 8) | end) - start - cycle_span_overhead - (uint32_t)INTERRUPT_CYCLES * handled;
}

#endif
