#ifndef UART_H
#define UART_H

#include <stdint.h>

/* None may arrive during a prediction: the core's interrupts for them would be measured, too. */
#define UART_WINDOW_BYTES 0u

void uart_send(uint8_t byte);

/* An Arduino core does not count them. */
static inline uint16_t uart_overruns(void) { return 0; }

#endif
