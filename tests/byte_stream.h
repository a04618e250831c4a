/*
 * Bytes of a test program: over the serial line on an AVR, else from standard input to standard output.
 */
#ifndef BYTE_STREAM_H
#define BYTE_STREAM_H

#ifdef __AVR__
#include "uart.h"
#include <avr/interrupt.h>
static void start(void)
{
    uart_start();
    sei();
}
static int take(void) { return uart_receive(); }
static void give(uint8_t byte) { uart_send(byte); }
#else
#include <stdio.h>
static void start(void) {}
static int take(void) { return getchar(); }
static void give(uint8_t byte) { putchar(byte); }
#endif

#endif
