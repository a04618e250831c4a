/*
 * Call the functions of a generated model as asked: a byte that names the function, its arguments,
 * and back what it returns. Over the serial line on an AVR, else from standard input to standard
 * output, where each array that is passed is as long as it must be and no longer.
 */
#include "pnn_model.h"

#include <stdlib.h>
#include <string.h>

#ifdef __AVR__
#include "cycle_counter.h"
#include "uart.h"
#include "watchdog.h"
#include <avr/interrupt.h>

#define FILLED 0xa5

extern uint8_t __heap_start;
/* Of the longest array that is passed. */
#ifdef FLOATS
static float memory[PNN_FEATURES + 8];
#else
static pnn_input_t memory[PNN_FEATURES + 32];
#endif

static int take(void) { return uart_receive(); }
static void give(uint8_t byte) { uart_send(byte); }
static void *array(uint16_t size)
{
    (void)size;
    return memory;
}
static void release(void *array) { (void)array; }

/* Whether the bytes behind all variables are as they were. */
static uint8_t untouched(void)
{
    static uint8_t begun;
    uint8_t *const first = &__heap_start;
    for (uint8_t i = 0; i < 64; ++i) {
        if (!begun) {
            first[i] = FILLED;
        } else if (first[i] != FILLED) {
            return 0;
        }
    }
    begun = 1;
    return 1;
}
#else
#include <stdio.h>
static int take(void) { return getchar(); }
static void give(uint8_t byte) { putchar(byte); }
static void *array(uint16_t size) { return malloc(size); }
static void release(void *array) { free(array); }
static uint8_t untouched(void) { return 1; }
#endif

static uint8_t byte(void) { return (uint8_t)take(); }

static uint16_t word(void)
{
    const uint16_t low = byte();
    return (uint16_t)(low | (uint16_t)byte() << 8);
}

static pnn_input_t *features(uint16_t count)
{
    pnn_input_t *const all = array(count);
    for (uint16_t i = 0; i < count; ++i) {
        all[i] = byte();
    }
    return all;
}

static void give_all(const void *from, uint16_t size)
{
    const uint8_t *next = from;
    while (size-- > 0) {
        give(*next++);
    }
}

static void give_answer(uint8_t label)
{
    give(label);
    give_all(pnn_scores(), PNN_CLASSES * sizeof(pnn_score_t));
}

static void push(void)
{
    const uint16_t count = word();
    pnn_input_t *const all = features(count);
    pnn_push_many(all, count);
    release(all);
}

static void predict(void)
{
    pnn_input_t *const all = features(PNN_FEATURES);
    give_answer(pnn_predict(all));
    release(all);
}

#if !defined(__AVR__) || defined(FLOATS) /* their array may not fit a chip */
static void predict_floats(void)
{
    float *const all = array(PNN_FEATURES * sizeof(float));
    uint8_t *next = (uint8_t *)all;
    for (uint16_t i = 0; i < PNN_FEATURES * sizeof(float); ++i) {
        *next++ = byte();
    }
    give_answer(pnn_predict_floats(all));
    release(all);
}
#endif

static void name(void)
{
    const uint8_t class_index = byte(), size = byte();
    char *const text = array(size);
    memset(text, '?', size);
    pnn_class_name(class_index, text, size);
    if (size > 0) { /* what is behind the end is of no interest */
        const size_t end = strlen(text) + 1;
        memset(text + end, '?', size - end);
    }
    give_all(text, size);
    release(text);
}

static void quantize_float(void)
{
    const uint16_t feature = word(), low = word();
    const uint32_t bits = low | (uint32_t)word() << 16;
    float raw;
    memcpy(&raw, &bits, sizeof raw);
    give(pnn_quantize_float(feature, raw));
}

static void quantize(void)
{
    const uint16_t feature = word();
    give(pnn_quantize(feature, (int16_t)word()));
}

int main(void)
{
#ifdef __AVR__
    watchdog_start();
    cycle_counter_start();
    uart_start();
    sei();
#endif
    for (;;) {
        switch (take()) {
        case 'b': pnn_begin(); break;
        case 'p': pnn_push(byte()); break;
        case 'm': push(); break;
        case 'f': give_answer(pnn_finish()); break;
        case 'x': predict(); break;
        case 'n': name(); break;
        case 'q': quantize(); break;
        case 'r': quantize_float(); break;
        case 'h': give(pnn_model_hash(byte())); break;
        case 'u': give(untouched()); break;
#if !defined(__AVR__) || defined(FLOATS)
        case 'y': predict_floats(); break;
#endif
#ifdef CONFIDENCE
        case 'c': give(pnn_confidence()); break;
#endif
#ifdef ONSET
        case 'o': give(pnn_onset(byte())); break;
#endif
        default: return 0;
        }
    }
}
