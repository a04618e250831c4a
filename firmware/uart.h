/* The serial line: bytes in through an interrupt and a ring buffer, bytes out one at a time. */
#ifndef UART_H
#define UART_H

#include "interrupt_cycles.h"

#include <stdint.h>

/* Bytes received, modulo the ring's size; the other fields belong to the interrupt that receives
 * them. */
extern volatile uint8_t uart_head;
extern volatile uint8_t uart_tail;
extern volatile uint8_t uart_ring[];
extern volatile uint16_t uart_lost;

#define UART_RING_BYTES 64u /* a power of two, so that an index wraps with a mask; holds one less */

/* Bytes that may arrive unread: the capacity of the ring, minus a reserve for bytes that a bad line
 * doubles. */
#define UART_WINDOW_BYTES (UART_RING_BYTES - 8u)

/* Cycles that receiving a byte takes from a computation: the chip's response, the jump in the
 * vector table, the handler. */
#define UART_INTERRUPT_CYCLES (57u + INTERRUPT_CYCLES_MORE)

/* Called around a computation, with interrupts disabled: the cycles that receiving bytes took from
 * it. */
static inline uint8_t uart_before_computing(void) { return uart_head; }
static inline uint16_t uart_cycles_since(uint8_t before)
{
    return UART_INTERRUPT_CYCLES * ((uint8_t)(uart_head - before) % UART_RING_BYTES);
}

/* 115,200 baud unless the board's build flags set another rate; 8 data bits, no parity, one stop
 * bit. */
void uart_start(void);

/* Return the next byte received; sleep (idle mode) until there is one. Interrupts must be
 * enabled. */
uint8_t uart_receive(void);

/* Send one byte; waits until the transmitter can take it. */
void uart_send(uint8_t byte);

/* How often bytes were lost because they were not read in time; stops at 65,535. */
uint16_t uart_overruns(void);

#endif
