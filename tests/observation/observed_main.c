/*
 * Observe answers: 'p' and PNN_FEATURES bytes classify a point, 'd' gives the counters and the verdict.
 * On an AVR, over the serial line, 'k' and a place change a kept byte, and 'w' waits for the watchdog.
 */
#include "pnn_model.h"

#ifdef __AVR__
#include "uart.h"
#include <avr/interrupt.h>
#include <avr/wdt.h>
extern uint8_t __noinit_start;
static int take(void) { return uart_receive(); }
static void give(uint8_t byte) { uart_send(byte); }
#else
#include <stdio.h>
static int take(void) { return getchar(); }
static void give(uint8_t byte) { putchar(byte); }
#endif

static void classify(void)
{
    pnn_begin();
    for (uint16_t i = 0; i < PNN_FEATURES; ++i) {
        pnn_push((pnn_input_t)take());
    }
    (void)pnn_finish();
}

int main(void)
{
#ifdef __AVR__
    MCUSR = 0;
    wdt_disable();
    uart_start();
    sei();
#endif
    for (;;) {
        switch (take()) {
        case 'p':
            classify();
            break;
        case 'd':
            for (uint8_t i = 0; i < PNN_OBSERVED_BYTES; ++i) {
                give(pnn_observed(i));
            }
            give(pnn_health());
            break;
#ifdef __AVR__
        case 'k':
            (&__noinit_start)[take()] ^= 0x81u;
            break;
        case 'w':
            wdt_enable(WDTO_15MS);
            for (;;) {
            }
#endif
        default:
            return 0;
        }
    }
}
