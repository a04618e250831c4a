#include "optimize_size.h"

#include "cycle_counter.h"

#include <avr/interrupt.h>

#define TEXT_OF(name) #name
#define VALUE_OF(name) TEXT_OF(name)
#define HANDLER VALUE_OF(CYCLE_TIMER_OVERFLOW_vect)

uint8_t cycle_span_overhead;

volatile uint16_t cycle_counter_overflows __attribute__((section(".noinit")));

void cycle_counter_start(void)
{
    cycle_timer_t start;
    cycle_timer_t end;

    CYCLE_TIMER_START();

    /* An empty span, marked in GPIOR1 so that an emulator does not count it among the real ones. */
    __asm__ volatile(
        CYCLE_SPAN_BEGIN("%[mark]") CYCLE_SPAN_END("%[mark]")
        : [start] "=&r"(start), [end] "=&r"(end)
        : [timer] CYCLE_TIMER_OPERAND, [mark] "I"(_SFR_IO_ADDR(GPIOR1)), [one] "r"((uint8_t)1)
        : "memory");
    cycle_span_overhead = (uint8_t)(end - start - 1u); /* the first OUT belongs to the span */
}

/* The handler of the timer's overflow, in assembly, so that its duration is known to the cycle. */
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
    CYCLE_TIMER = 0; /* so that the first overflow is far from the span's beginning */
    CYCLE_TIMER_FLAGS = CYCLE_TIMER_OVERFLOWED;
}

uint32_t cycle_long_span(uint16_t start, uint16_t end)
{
    const uint16_t handled = cycle_counter_overflows;
    uint16_t high = handled;

    /* An overflow that no interrupt has counted yet happened while interrupts were disabled: before
     * `end` was read if `end` is small, after it if `end` is near the top. */
    if ((CYCLE_TIMER_FLAGS & CYCLE_TIMER_OVERFLOWED) && end < 1u << (CYCLE_TIMER_BITS - 1)) {
        high++;
    }
    return (((uint32_t)high << CYCLE_TIMER_BITS) | end) - start - cycle_span_overhead -
           CYCLE_TIMER_INTERRUPT_CYCLES * handled;
}
