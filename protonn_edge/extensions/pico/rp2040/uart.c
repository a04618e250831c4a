#include "optimize_size.h"

#include "uart.h"

#include "chip.h"
#include "watchdog.h"

#ifndef BAUD
#define BAUD 115200u
#endif

#define TX_PIN 0u
#define RX_PIN 1u
#define RECEIVER_EMPTY BIT(4)
#define TRANSMITTER_FULL BIT(5)
#define OVERRUN BIT(11)

static uint16_t lost;

void uart_start(void)
{
    const uint32_t divisor = (8u * F_CPU / BAUD + 1u) / 2u; /* in 64ths (data sheet, 4.2.7.1) */

    UART0_IBRD = divisor >> 6;
    UART0_FBRD = divisor & 63u;
    UART0_LCR_H = BIT(6) | BIT(5) | BIT(4); /* 8 bits, and the FIFOs */
    UART0_CR = BIT(9) | BIT(8) | BIT(0);
    GPIO_CTRL(TX_PIN) = FUNCTION_UART;
    GPIO_CTRL(RX_PIN) = FUNCTION_UART;
}

uint8_t uart_receive(void)
{
    uint32_t received;

    while (UART0_FR & RECEIVER_EMPTY) {
        watchdog_feed();
    }
    watchdog_feed();
    received = UART0_DR;
    if ((received & OVERRUN) && lost != UINT16_MAX) {
        lost++;
    }
    return (uint8_t)received;
}

void uart_send(uint8_t byte)
{
    while (UART0_FR & TRANSMITTER_FULL) {
    }
    UART0_DR = byte;
}

uint16_t uart_overruns(void) { return lost; }
