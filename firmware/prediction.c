#include "optimize_size.h"

#include "prediction.h"

#include "busy_pin.h"
#include "cycle_counter.h"
#include "uart.h"
#include "watchdog.h"

#include <avr/interrupt.h>

/* If the model's plan holds all features, they are pushed when the last one has arrived. Otherwise,
 * they are collected into a chunk and pushed together, since each call loads and stores the sums.
 *
 * Interrupts stay enabled: bytes that arrive meanwhile wait in the receiver's ring, and the cycles
 * of receiving them are known exactly and are subtracted. The ring holds all that the host may send
 * in that time, as a build is refused whose features take longer than they take to arrive.
 */

static pnn_input_t chunk[PNN_CHUNK_FEATURES];
static uint16_t chunk_count;
static uint16_t features_missing;
static bool out_of_range;
static uint32_t cycles;
static uint32_t saturations;

/* Not inlined: that saves flash, and the call is outside the span. */
static __attribute__((noinline)) void count(uint32_t span) { cycles += span; }

/* A span that is measured, and the work in it. The SEI and the CLI, one cycle each, are part of it. */
#define MEASURED(span, work)                                                                       \
    do {                                                                                           \
        uint16_t start;                                                                            \
        uint16_t end;                                                                              \
        uint8_t before;                                                                            \
                                                                                                   \
        cli();                                                                                     \
        cycle_long_span_prepare();                                                                 \
        before = uart_before_computing();                                                          \
        CYCLE_SPAN_IS(span);                                                                       \
        start = cycle_span_begin();                                                                \
        sei();                                                                                     \
        work;                                                                                      \
        cli();                                                                                     \
        end = cycle_span_end();                                                                    \
        count(cycle_long_span(start, end) - uart_cycles_since(before));                            \
        sei();                                                                                     \
    } while (0)

#if !PREDICTION_HOLDS_FEATURES
static void push_chunk(void)
{
    MEASURED(push, pnn_push_many(chunk, chunk_count));
    chunk_count = 0;
}
#endif

void prediction_begin(void)
{
    features_missing = PNN_FEATURES;
    out_of_range = false;
    cycles = 0;
    chunk_count = 0;
#if !PREDICTION_HOLDS_FEATURES
    MEASURED(begin, pnn_begin());
#endif
}

void prediction_push(uint8_t feature)
{
    if (features_missing == 0) {
        return;
    }
    features_missing--;
    feature = checked_feature(feature, &out_of_range, &saturations);
    chunk[chunk_count++] = feature;
#if !PREDICTION_HOLDS_FEATURES
    if (chunk_count == PNN_CHUNK_FEATURES || features_missing == 0) {
        push_chunk();
    }
#endif
}

static uint8_t finish(void)
{
    uint8_t label;

#if PREDICTION_HOLDS_FEATURES
    MEASURED(finish, label = pnn_predict(chunk));
#else
    MEASURED(finish, label = pnn_finish());
#endif
    return label;
}

uint8_t prediction_finish(uint16_t repetitions)
{
    uint8_t label;

    busy_pin_on();
    do {
        label = finish();
        watchdog_feed();
    } while (PREDICTION_HOLDS_FEATURES && --repetitions != 0);
    busy_pin_off();
    return label;
}

uint32_t prediction_saturations(void) { return saturations; }

bool prediction_out_of_range(void) { return out_of_range; }

uint32_t prediction_cycles(void) { return cycles; }
