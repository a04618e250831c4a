/* The cycles that an interrupt takes in addition to those on an ATmega328P, for its response, the
 * jump in the vector table and the RETI together: chips with more than 128 kB of flash push three
 * bytes, and small chips have shorter jumps.
 */
#ifndef INTERRUPT_CYCLES_H
#define INTERRUPT_CYCLES_H

#if defined(__AVR_3_BYTE_PC__)
#define INTERRUPT_CYCLES_MORE 2
#elif defined(__AVR_HAVE_JMP_CALL__)
#define INTERRUPT_CYCLES_MORE 0
#else
#define INTERRUPT_CYCLES_MORE (-1)
#endif

#endif
