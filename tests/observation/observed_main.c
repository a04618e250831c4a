/*
 * Observe answers: 'p' and PNN_FEATURES bytes classify a point, 'a' does so at once, and 'd' gives the
 * counters and the verdict.
 * On an AVR, over the serial line, 'k' and a place change a kept byte, and 'w' waits for the watchdog.
 */
#include "pnn_model.h"

#include "../byte_stream.h"

#ifdef __AVR__
#include <avr/wdt.h>
extern uint8_t __noinit_start;
#endif

static void classify_at_once(void)
{
    static pnn_input_t features[PNN_FEATURES];
    for (uint16_t i = 0; i < PNN_FEATURES; ++i) {
        features[i] = (pnn_input_t)take();
    }
    (void)pnn_predict(features);
}

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
#endif
    start();
    for (;;) {
        switch (take()) {
        case 'p':
            classify();
            break;
        case 'a':
            classify_at_once();
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
