/*
 * Observe answers: 'p' and PNN_FEATURES bytes classify a point, 'a' does so at once, 'h' pushes only the
 * first half of the features, and 'd' gives the counters and the verdict.
 * On an AVR, over the serial line, 'k' and a place change a kept byte, and 'w' waits for the watchdog.
 */
#include "pnn_model.h"

#include "../../byte_stream.h"

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

static void classify(uint16_t pushed)
{
    pnn_begin();
    for (uint16_t i = 0; i < PNN_FEATURES; ++i) {
        const pnn_input_t feature = (pnn_input_t)take();
        if (i < pushed) {
            pnn_push(feature);
        }
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
            classify(PNN_FEATURES);
            break;
        case 'h':
            classify(PNN_FEATURES / 2);
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
