/* Timer1 for cycle_counter.h, on chips where it has 16 bits. */
#ifndef CYCLE_TIMER_H
#define CYCLE_TIMER_H

typedef uint16_t cycle_timer_t;

#define CYCLE_TIMER TCNT1
#define CYCLE_TIMER_OPERAND "n"(_SFR_MEM_ADDR(TCNT1))
#define CYCLE_TIMER_BITS 16
#define CYCLE_TIMER_OVERFLOW_vect TIMER1_OVF_vect
#define CYCLE_TIMER_FLAGS TIFR1
#define CYCLE_TIMER_OVERFLOWED _BV(TOV1)

/* A bootloader may have used the timer, so set every register. */
#define CYCLE_TIMER_START()                                                                        \
    do {                                                                                           \
        TCCR1A = 0;                                                                                \
        TCCR1B = _BV(CS10);                                                                        \
        TIMSK1 = _BV(TOIE1);                                                                       \
    } while (0)

/* The number of overflows in about a second. */
#define CYCLE_COUNTER_SECOND ((uint16_t)(F_CPU / 62500u))

/* Cycles of an overflow: the chip's response, the jump in the vector table, the handler. */
#define CYCLE_TIMER_INTERRUPT_CYCLES (35u + INTERRUPT_CYCLES_MORE)

#define CYCLE_SPAN_BEGIN(mark)                                                                     \
    "lds %A[start], %[timer]\n\t"                                                                  \
    "lds %B[start], %[timer] + 1\n\t"                                                              \
    "out " mark ", %[one]\n\t"
#define CYCLE_SPAN_END(mark)                                                                       \
    "out " mark ", __zero_reg__\n\t"                                                               \
    "lds %A[end], %[timer]\n\t"                                                                    \
    "lds %B[end], %[timer] + 1\n\t"

#endif
