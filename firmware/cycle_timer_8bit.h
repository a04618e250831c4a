/* Timer0 for cycle_counter.h, on chips whose Timer1 has 8 bits, such as an ATtiny85. */
#ifndef CYCLE_TIMER_H
#define CYCLE_TIMER_H

typedef uint8_t cycle_timer_t;

#define CYCLE_TIMER TCNT0
#define CYCLE_TIMER_OPERAND "I"(_SFR_IO_ADDR(TCNT0))
#define CYCLE_TIMER_BITS 8
#define CYCLE_TIMER_OVERFLOW_vect TIMER0_OVF_vect
#define CYCLE_TIMER_FLAGS TIFR
#define CYCLE_TIMER_OVERFLOWED _BV(TOV0)

#define CYCLE_TIMER_START()                                                                        \
    do {                                                                                           \
        TCCR0A = 0;                                                                                \
        TCCR0B = _BV(CS00);                                                                        \
        TIMSK = _BV(TOIE0);                                                                        \
    } while (0)

/* The number of overflows in about a second. */
#define CYCLE_COUNTER_SECOND ((uint16_t)(F_CPU / 262u))

/* Cycles of an overflow; there are so many that their sum needs 32 bits. */
#define CYCLE_TIMER_INTERRUPT_CYCLES ((uint32_t)(35u + INTERRUPT_CYCLES_MORE))

#define CYCLE_SPAN_BEGIN(mark)                                                                     \
    "in  %[start], %[timer]\n\t"                                                                   \
    "out " mark ", %[one]\n\t"
#define CYCLE_SPAN_END(mark)                                                                       \
    "out " mark ", __zero_reg__\n\t"                                                               \
    "in  %[end], %[timer]\n\t"

#endif
