/* What cycle_counter.h says where the timer has 8 bits: Timer0 of an ATtiny. */
#ifndef CYCLE_COUNTER_8BIT_H
#define CYCLE_COUNTER_8BIT_H

/* A span runs for more than 256 cycles, so an interrupt must count, and no span is short. */
#define CYCLE_COUNTER_SECOND ((uint16_t)(F_CPU / 262u))

#define CYCLE_SPAN_BEGIN(mark)                                                                     \
    "in  %[start], %[timer]\n\t"                                                                   \
    "out " mark ", %[one]\n\t"
#define CYCLE_SPAN_END(mark)                                                                       \
    "out " mark ", __zero_reg__\n\t"                                                               \
    "in  %[end], %[timer]\n\t"

static inline uint8_t cycle_span_begin(void)
{
    uint8_t start;

    __asm__ volatile(
        CYCLE_SPAN_BEGIN("%[mark]")
        : [start] "=&r"(start)
        : [timer] "I"(_SFR_IO_ADDR(TCNT0)), [mark] "I"(_SFR_IO_ADDR(GPIOR0)), [one] "r"((uint8_t)1)
        : "memory");
    return start;
}

static inline uint8_t cycle_span_end(void)
{
    uint8_t end;

    __asm__ volatile(CYCLE_SPAN_END("%[mark]")
                     : [end] "=r"(end)
                     : [timer] "I"(_SFR_IO_ADDR(TCNT0)), [mark] "I"(_SFR_IO_ADDR(GPIOR0))
                     : "memory");
    return end;
}

#endif
