/* The serial line: bytes in through an interrupt and a ring buffer, bytes out one at a time. */
#ifndef UART_H
#define UART_H

#include <stdint.h>

/* 115,200 baud, 8 data bits, no parity, one stop bit. */
void uart_start(void);

/* The next byte received; asleep (mode idle) until there is one. Interrupts must be enabled. */
uint8_t uart_receive(void);

/* Send one byte; waits until the transmitter can take it. */
void uart_send(uint8_t byte);

/* How often bytes were lost because nobody read them in time; stays at 65,535. */
uint16_t uart_overruns(void);

#endif
