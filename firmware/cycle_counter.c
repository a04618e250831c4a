#include "small.h"

#include "cycle_counter.h"

#ifdef TCNT1L

#include <avr/interrupt.h>

/* What an overflow takes: the chip's response, the jump in the vector table, the handler. */
#define INTERRUPT_CYCLES (35u + INTERRUPT_CYCLES_MORE)

#define TEXT_OF(name) #name
#define VALUE_OF(name) TEXT_OF(name)
#define HANDLER VALUE_OF(TIMER1_OVF_vect)

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

/* The handler of TIMER1_OVF_vect, in assembly, so that what it takes is known to the cycle. */
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
    TCNT1 = 0; /* so that the first overflow is far away from the span's beginning */
    TIFR1 = _BV(TOV1);
}

uint32_t cycle_long_span(uint16_t start, uint16_t end)
{
    const uint16_t handled = cycle_counter_overflows;
    uint16_t high = handled;

    /* An overflow that no interrupt has counted yet happened while interrupts were disabled: before
     * `end` was read if `end` is small, after it if `end` is near the top. */
    if ((TIFR1 & _BV(TOV1)) && end < 0x8000u) {
        high++;
    }
    return (((uint32_t)high << 16) | end) - start - cycle_span_overhead -
           INTERRUPT_CYCLES * handled;
}

#endif
