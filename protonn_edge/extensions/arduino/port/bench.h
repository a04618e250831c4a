/* A part of the firmware: by what it measures, for the request BENCH. */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stdint.h>

enum { BENCH = 0x0A };
enum bench_facts { STACK_PAINTED = 1 };

union bench_payload {
    struct __attribute__((packed)) {
        uint8_t facts;
        uint32_t counter_hz;
        uint16_t step;       /* the least difference between two times, in ticks of the counter */
        uint8_t runs;        /* of a prediction, of which the fastest counts */
        uint32_t first_most; /* the most cycles of a first run, with cold caches */
    } reply;
};

uint8_t bench_reply(union bench_payload *payload);

static inline bool bench_knows(uint8_t type) { return type == BENCH; }
static inline uint8_t bench_answer(union bench_payload *payload, uint8_t type, uint16_t bytes,
                                   uint16_t *more)
{
    (void)type;
    (void)more;
    return bytes == 0 ? bench_reply(payload) : WRONG_PAYLOAD;
}
static inline bool bench_continues(uint8_t type) { return (void)type, false; }
static inline uint8_t bench_byte(uint16_t place) { return (void)place, 0; }
static inline void bench_predicting(void) {}
static inline void bench_predicted(uint16_t repetitions, uint32_t cycles)
{
    (void)repetitions;
    (void)cycles;
}

#endif
