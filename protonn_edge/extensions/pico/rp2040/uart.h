/* The serial line: UART0, on the pins GP0 (output) and GP1 (input). */
#ifndef UART_H
#define UART_H

#include <stdint.h>

/* Bytes that may arrive unread: the capacity of the receiver's FIFO, less one. */
#define UART_WINDOW_BYTES 31u

/* 115,200 baud unless the board's build flags set another rate; 8 data bits, no parity, one stop
 * bit. */
void uart_start(void);

/* Return the next byte received; waits until there is one. */
uint8_t uart_receive(void);

/* Send one byte; waits until the transmitter can take it. */
void uart_send(uint8_t byte);

/* How often bytes were lost because they were not read in time; stops at 65,535. */
uint16_t uart_overruns(void);

#endif
