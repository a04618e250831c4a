/* The part of firmware with a model that learns examples: replies to LEARN, FORGET and STORE.
 * PROTOCOL.md describes the messages. Include the model's header and replies.h first.
 */
#ifndef TEACHING_H
#define TEACHING_H

#include <stdbool.h>
#include <stdint.h>

enum teaching_type { LEARN = 0x06, FORGET = 0x07, STORE = 0x08 };

#define ALL_CLASSES 0xFFu /* of a FORGET */

struct __attribute__((packed)) stored {
    uint16_t place;
    uint8_t bytes[16];
};

struct taught {
    uint8_t learned;
    uint8_t examples;
};

static bool learned; /* whether the last point was learned: a repeated LEARN learns it once */

/* Learn the last point as an example of a class, or forget the class. A point is learned only while
 * it is the last one. */
static inline void reply_taught(struct taught *taught, uint8_t type, uint8_t class_index,
                                bool is_last)
{
    if (type == LEARN) {
        learned = learned || (is_last && pnn_learn(class_index));
    } else if (class_index == ALL_CLASSES) {
        pnn_forget_all();
    } else {
        pnn_forget(class_index);
    }
    taught->learned = learned && is_last;
    taught->examples = pnn_taught();
}

/* Return the number of bytes that a STORE writes, from the length of its payload; UINT16_MAX if it
 * may not write. */
static inline uint16_t stored_bytes(const struct stored *stored, uint16_t payload_bytes)
{
    const uint16_t count = payload_bytes - sizeof stored->place;
    const bool fits = count <= sizeof stored->bytes && stored->place <= PNN_STORE_BYTES - count;

    return fits ? count : UINT16_MAX;
}

/* Write them. From then on, the examples are those in the store, whose bytes are the reply. */
static inline void reply_store(const struct stored *stored, uint8_t count)
{
    for (uint8_t i = 0; i < count; i++) {
        pnn_store_write(stored->place + i, stored->bytes[i]);
    }
    if (count != 0) {
        pnn_recall();
    }
}

/* ---- the hooks of requests.c; see parts.h ---- */

union teaching_payload {
    uint8_t class_index; /* of a LEARN or FORGET */
    struct stored store;
    struct taught taught;
};

static inline bool teaching_knows(uint8_t type) { return type >= LEARN && type <= STORE; }

static inline uint8_t teaching_answer(union teaching_payload *payload, uint8_t type,
                                      uint16_t payload_bytes, uint16_t *more_bytes)
{
    const uint16_t stored = stored_bytes(&payload->store, payload_bytes);

    if (type == STORE ? stored == UINT16_MAX : payload_bytes != sizeof payload->class_index) {
        return WRONG_PAYLOAD;
    }
    if (type == STORE) {
        reply_store(&payload->store, (uint8_t)stored);
        *more_bytes = PNN_STORE_BYTES;
        return 0;
    }
    reply_taught(&payload->taught, type, payload->class_index, true);
    return sizeof payload->taught;
}

static inline bool teaching_continues(uint8_t type) { return type == (REPLY | STORE); }

static inline uint8_t teaching_byte(uint16_t place) { return pnn_store_read(place); }

static inline void teaching_predicting(void) { learned = false; }

static inline void teaching_predicted(uint16_t repetitions, uint32_t cycles)
{
    (void)repetitions;
    (void)cycles;
}

#endif
