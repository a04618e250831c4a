/* Classify the inputs of many models and send classes and scores: over the serial line of an Uno,
 * or to standard output. models.h has a line MODEL(number, points, features, classes, score bytes,
 * the inputs) for each. */
#include "output.h"

#define MODEL(number, points, features, classes, score_bytes, ...)                                 \
    void m##number##_begin(void);                                                                  \
    void m##number##_push(uint8_t feature);                                                        \
    void m##number##_push_many(const uint8_t *features_, uint16_t count);                          \
    uint8_t m##number##_finish(void);                                                              \
    uint8_t m##number##_predict(const uint8_t *features_);                                         \
    const void *m##number##_scores(void);                                                          \
    static const uint8_t inputs_##number[] FLASH = {__VA_ARGS__};
#include "models.h"
#undef MODEL

static uint8_t buffer[300];

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
            label = m##number##_predict(buffer);                                                   \
        } else {                                                                                   \
            const uint16_t first = features / 3;                                                   \
            uint16_t next = first;                                                                 \
            m##number##_begin();                                                                   \
            m##number##_push_many(buffer, first);                                                  \
            while (i % 3 == 2 && next < 2 * first) {                                               \
                m##number##_push(buffer[next++]);                                                  \
            }                                                                                      \
            m##number##_push_many(buffer + next, (uint16_t)(features - next));                     \
            label = m##number##_finish();                                                          \
        }                                                                                          \
        send(label, m##number##_scores(), classes * score_bytes);                                  \
    }
#include "models.h"
    end();
    return 0;
}
