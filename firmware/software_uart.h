/* The serial line of uart.h in software: two pins of port B and the compare units of Timer0, for
 * chips without a USART. The board's build flags set the pins and the baud rate.
 *
 * The line carries one byte at a time, in one direction: while the program computes or sends,
 * nothing may arrive. So the host must wait for each reply before it sends the next request.
 */
#ifndef SOFTWARE_UART_H
#define SOFTWARE_UART_H

#include <avr/io.h>
#include <stdint.h>

#define UART_RING_BYTES 16u /* a power of two; what arrives while a byte is being decoded */
#define UART_WINDOW_BYTES 0u

/* Around a computation: interrupts of the line would add to the measured cycles. */
static inline uint8_t uart_before_computing(void)
{
    GIMSK &= (uint8_t)~_BV(PCIE);
    TIMSK = _BV(TOIE0);
    return 0;
}

static inline uint16_t uart_cycles_since(uint8_t before)
{
    (void)before;
    GIFR = _BV(PCIF);
    GIMSK |= _BV(PCIE);
    return 0;
}

#endif
