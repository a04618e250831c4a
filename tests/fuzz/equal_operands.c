/* Classify the points of many models and send what each answers, with its cycles. models.h has a line
 * MODEL(number, points, features, classes, score bytes, the inputs) for each. */
#include "output.h"

#include "cycle_counter.h"

#include <avr/interrupt.h>

#define MODEL(number, points, features, classes, score_bytes, ...)                                 \
    uint8_t m##number##_predict(const uint8_t *features_);                                         \
    const void *m##number##_scores(void);                                                          \
    static const uint8_t inputs_##number[] FLASH = {__VA_ARGS__};
#include "models.h"
#undef MODEL

static uint8_t buffer[64];

static void fetch(const uint8_t *inputs, uint8_t count)
{
    for (uint8_t i = 0; i < count; ++i) {
        buffer[i] = READ(inputs++);
    }
}

int main(void)
{
    begin();
    UBRR0L = 0;
    cycle_counter_start();
    /* The cycles are those of firmware/prediction.c. */
#define MODEL(number, points, features, classes, score_bytes, ...)                                 \
    for (uint8_t i = 0; i < points; ++i) {                                                         \
        fetch(inputs_##number + i * features, features);                                           \
        cycle_long_span_prepare();                                                                 \
        const uint16_t start = cycle_span_begin();                                                 \
        sei();                                                                                     \
        const uint8_t label = m##number##_predict(buffer);                                         \
        cli();                                                                                     \
        const uint32_t cycles = cycle_long_span(start, cycle_span_end());                          \
        send(label, &cycles, sizeof cycles);                                                       \
        send(label, m##number##_scores(), classes * score_bytes);                                  \
    }
#include "models.h"
    end();
    return 0;
}
