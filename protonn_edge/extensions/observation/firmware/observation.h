/* The part of firmware that observes its answers: the reply to HEALTH. PROTOCOL.md describes the
 * message, and parts.h these hooks of requests.c. Include the model's header and replies.h first.
 */
#ifndef OBSERVATION_H
#define OBSERVATION_H

#include <stdbool.h>
#include <stdint.h>

enum observation_type { HEALTH = 0x09 };

union observation_payload {
    uint8_t unused;
};

static inline bool observation_knows(uint8_t type) { return type == HEALTH; }

static inline uint8_t observation_answer(union observation_payload *payload, uint8_t type,
                                         uint16_t payload_bytes, uint16_t *more_bytes)
{
    (void)payload;
    (void)type;
    if (payload_bytes != 0) {
        return WRONG_PAYLOAD;
    }
    *more_bytes = PNN_OBSERVED_BYTES;
    return 0;
}

static inline bool observation_continues(uint8_t type) { return type == (REPLY | HEALTH); }

static inline uint8_t observation_byte(uint16_t place) { return pnn_observed((uint8_t)place); }

static inline void observation_predicting(void) {}

static inline void observation_predicted(uint16_t repetitions, uint32_t cycles)
{
    if (repetitions == 1u) {
        pnn_observe_cycles(cycles);
    }
}

#endif
