#include "optimize_size.h"

#include "prediction.h"

#include "busy_pin.h"
#include "cycle_counter.h"
#include "watchdog.h"

/* All features are held, since there is enough SRAM, and computed when the last one has arrived. */

static pnn_input_t held[PNN_FEATURES];
static uint16_t count;
static bool out_of_range;
static uint32_t cycles;
static uint32_t saturations;

void prediction_begin(void)
{
    count = 0;
    out_of_range = false;
}

void prediction_push(uint8_t feature)
{
    if (count == PNN_FEATURES) {
        return;
    }
#if PNN_INPUT_MAXIMUM < 255
    if (feature > PNN_INPUT_MAXIMUM) {
        out_of_range = true;
        feature = 0; /* sums are proven not to overflow only for features up to the maximum */
    }
#endif
    if (feature == PNN_INPUT_MAXIMUM) {
        saturations++;
    }
    held[count++] = feature;
}

/* The cycles of reading the counter, which every span includes. */
static uint32_t overhead(void)
{
    uint32_t start;

    cycle_counter_restart();
    start = cycle_counter_now();
    return cycle_counter_now() - start;
}

uint8_t prediction_finish(uint16_t repetitions)
{
    const uint32_t reading = overhead();
    uint8_t label;

    cycles = 0;
    busy_pin_on();
    do {
        uint32_t start;

        cycle_counter_restart();
        start = cycle_counter_now();
        label = pnn_predict(held);
        cycles += cycle_counter_now() - start - reading;
        watchdog_feed();
    } while (--repetitions != 0);
    busy_pin_off();
    return label;
}

uint32_t prediction_saturations(void) { return saturations; }

bool prediction_out_of_range(void) { return out_of_range; }

uint32_t prediction_cycles(void) { return cycles; }
