/* Classify the inputs of many models and send classes and scores: over the serial line of an Uno,
 * or to standard output. models.h has a line MODEL(number, points, features, classes, score bytes,
 * the inputs) for each. */
#include <stdint.h>

#ifdef __AVR__
#include <avr/io.h>
#include <avr/pgmspace.h>
static void begin(void)
{
    UBRR0L = 16;
    UCSR0A = 1 << U2X0;
    UCSR0B = 1 << TXEN0;
}
static void put(uint8_t byte)
{
    while (!(UCSR0A & 1 << UDRE0)) {
    }
    UDR0 = byte;
}
#define FLASH PROGMEM
#define READ(address) pgm_read_byte(address)
#else
#include <stdio.h>
static void begin(void) {}
static void put(uint8_t byte) { putchar(byte); }
#define FLASH
#define READ(address) (*(address))
#endif

#define MODEL(number, points, features, classes, score_bytes, ...)                                 \
    void pnn_begin_##number(void);                                                                 \
    void pnn_push_##number(uint8_t feature);                                                       \
    void pnn_push_many_##number(const uint8_t *features_, uint16_t count);                         \
    uint8_t pnn_finish_##number(void);                                                             \
    uint8_t pnn_predict_##number(const uint8_t *features_);                                        \
    const void *pnn_scores_##number(void);                                                         \
    static const uint8_t inputs_##number[] FLASH = {__VA_ARGS__};
#include "models.h"
#undef MODEL

static uint8_t buffer[300];

static void send(uint8_t label, const uint8_t *scores, uint16_t bytes)
{
    put(label);
    while (bytes-- > 0) {
        put(*scores++);
    }
}

int main(void)
{
    begin();
    /* Whole, in two parts, and with its second third one by one. */
#define MODEL(number, points, features, classes, score_bytes, ...)                                 \
    for (uint16_t i = 0; i < points; ++i) {                                                        \
        uint8_t label;                                                                             \
        for (uint16_t k = 0; k < features; ++k) {                                                  \
            buffer[k] = READ(&inputs_##number[i * features + k]);                                  \
        }                                                                                          \
        if (i % 3 == 0) {                                                                          \
            label = pnn_predict_##number(buffer);                                                  \
        } else {                                                                                   \
            const uint16_t first = features / 3;                                                   \
            uint16_t next = first;                                                                 \
            pnn_begin_##number();                                                                  \
            pnn_push_many_##number(buffer, first);                                                 \
            while (i % 3 == 2 && next < 2 * first) {                                               \
                pnn_push_##number(buffer[next++]);                                                 \
            }                                                                                      \
            pnn_push_many_##number(buffer + next, (uint16_t)(features - next));                    \
            label = pnn_finish_##number();                                                         \
        }                                                                                          \
        send(label, pnn_scores_##number(), classes * score_bytes);                                 \
    }
#include "models.h"
#ifdef __AVR__
    for (;;) {
    }
#endif
    return 0;
}
