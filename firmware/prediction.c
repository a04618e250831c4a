#include "optimize_size.h"

#include "prediction.h"

#include "busy_pin.h"
#include "cycle_counter.h"
#include "uart.h"
#include "watchdog.h"

#include <avr/interrupt.h>

/* If the model's plan holds all features, they are pushed when the last one has arrived, with
 * interrupts enabled. The next request may arrive during that time; the cycles of receiving it are
 * known exactly and are subtracted.
 *
 * Otherwise, they are collected into a chunk and pushed together with interrupts disabled. In that
 * time, a byte arrives every 1,389 cycles at 115,200 baud; the receiver holds two, plus a third in
 * its shift register, and loses the fourth about 2,778 cycles after the first. So a chunk may take
 * at most PNN_CHUNK_CYCLES. The generated header states the maximum cycles of a feature and of a
 * call of pnn_push_many. A larger chunk is faster, since each call loads and stores the sums;
 * features of 0 take almost no time, and a chunk can hold many of them. A single feature is pushed
 * however long it takes.
 */
#if defined(SOFTWARE_UART) && !PREDICTION_HOLDS_FEATURES
#error                                                                                             \
    "A serial line in software cannot wait for features to be pushed: build with a plan that holds all"
#endif

static pnn_input_t chunk[PNN_CHUNK_FEATURES];
static uint16_t chunk_count;
#if !PREDICTION_HOLDS_FEATURES
static uint16_t chunk_cycles;
#endif
static uint16_t features_missing;
static bool out_of_range;
static uint32_t cycles;
static uint32_t saturations;

/* Not inlined: that saves flash, and the call is outside the span. */
static __attribute__((noinline)) void count(uint32_t span) { cycles += span; }

#if !PREDICTION_HOLDS_FEATURES
static void start_chunk(void)
{
    chunk_count = 0;
    chunk_cycles = PNN_PUSH_CALL_CYCLES;
}

static void push_chunk(void)
{
    uint16_t start;
    uint16_t end;

    cli();
    CYCLE_SPAN_IS(push);
    start = cycle_span_begin();
    pnn_push_many(chunk, chunk_count);
    end = cycle_span_end();
    count(cycle_span(start, end));
    sei();
    start_chunk();
}
#endif

void prediction_begin(void)
{
    features_missing = PNN_FEATURES;
    out_of_range = false;
    cycles = 0;
#if PREDICTION_HOLDS_FEATURES
    chunk_count = 0;
#else
    uint16_t start;
    uint16_t end;

    start_chunk();
    cli();
    CYCLE_SPAN_IS(begin);
    start = cycle_span_begin();
    pnn_begin();
    end = cycle_span_end();
    count(cycle_span(start, end));
    sei();
#endif
}

void prediction_push(uint8_t feature)
{
    if (features_missing == 0) {
        return;
    }
    features_missing--;
#if PNN_INPUT_MAXIMUM < 255
    if (feature > PNN_INPUT_MAXIMUM) {
        out_of_range = true;
        feature = 0; /* sums are proven not to overflow only for features up to the maximum */
    }
#endif
    if (feature == PNN_INPUT_MAXIMUM) {
        saturations++;
    }
    chunk[chunk_count++] = feature;
#if !PREDICTION_HOLDS_FEATURES
    chunk_cycles += feature ? PNN_PUSH_CYCLES : PNN_PUSH_ZERO_CYCLES;
    if (chunk_cycles + PNN_PUSH_CYCLES > PNN_CHUNK_CYCLES || chunk_count == PNN_CHUNK_FEATURES ||
        features_missing == 0) {
        push_chunk();
    }
#endif
}

static uint8_t finish(void)
{
    uint16_t start;
    uint16_t end;
    uint8_t before;
    uint8_t label;

    /* This may take longer than bytes can wait, so interrupts stay enabled. The SEI and the CLI,
     * one cycle each, are part of the span. */
    cli();
    cycle_long_span_prepare();
    before = uart_before_computing();
    CYCLE_SPAN_IS(finish);
    start = cycle_span_begin();
    sei();
#if PREDICTION_HOLDS_FEATURES
    label = pnn_predict(chunk);
#else
    label = pnn_finish();
#endif
    cli();
    end = cycle_span_end();
    count(cycle_long_span(start, end) - uart_cycles_since(before));
    sei();
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
