#include "prediction.h"

#include "cycle_counter.h"
#include "model.h"

#include <avr/interrupt.h>

/* Receive interrupts do not count as computing, so nothing is computed while bytes arrive with
 * interrupts enabled. Where the model's plan holds all features, they are pushed when the last one
 * is there and the line rests.
 *
 * Elsewhere they are collected into a chunk and pushed together with interrupts disabled. Meanwhile
 * bytes arrive, one every 1,389 cycles at 115,200 baud; the receiver holds two and a third one in its
 * shift register, and loses the fourth about 2,778 cycles after the first. So a chunk may take
 * PNN_CHUNK_CYCLES and no more. The generated header says what a feature and a call of pnn_push_many
 * take at most. A larger chunk is faster, since each call loads and stores the sums; features that
 * are 0 take next to nothing, so that many of them fit. A single feature is pushed whatever it takes.
 */
#define BUFFERED (PNN_CHUNK_FEATURES >= PNN_FEATURES)

static pnn_input_t chunk[PNN_CHUNK_FEATURES];
static uint16_t chunk_count;
#if !BUFFERED
static uint16_t chunk_cycles;
#endif
static uint16_t features_missing;
static bool out_of_range;
static uint32_t cycles;

/* Not inlined: flash is dearer than the call, which is outside the span. */
static __attribute__((noinline)) void count(uint32_t span) { cycles += span; }

#if !BUFFERED
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
#if BUFFERED
    chunk_count = 0;
#else
    uint16_t start;
    uint16_t end;

    start_chunk();
    cli();
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
        feature = 0; /* the model's sums are only proven not to overflow up to the maximum */
    }
#endif
    chunk[chunk_count++] = feature;
#if !BUFFERED
    chunk_cycles += feature ? PNN_PUSH_CYCLES : PNN_PUSH_ZERO_CYCLES;
    if (chunk_cycles + PNN_PUSH_CYCLES > PNN_CHUNK_CYCLES || chunk_count == PNN_CHUNK_FEATURES ||
        features_missing == 0) {
        push_chunk();
    }
#endif
}

uint8_t prediction_finish(void)
{
    uint16_t start;
    uint16_t end;
    uint8_t label;

    /* It may take longer than bytes could wait, and nothing is under way: interrupts stay enabled.
     * The SEI and the CLI, a cycle each, are part of the span. */
    cli();
    cycle_long_span_prepare();
    start = cycle_span_begin();
    sei();
#if BUFFERED
    label = pnn_predict(chunk);
#else
    label = pnn_finish();
#endif
    cli();
    end = cycle_span_end();
    count(cycle_long_span(start, end));
    sei();
    return label;
}

bool prediction_out_of_range(void) { return out_of_range; }

uint32_t prediction_cycles(void) { return cycles; }
