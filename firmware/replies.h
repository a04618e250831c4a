/* Replies that all firmware shares: to HELLO and, if the model can be taught, to LEARN, FORGET and
 * STORE. PROTOCOL.md describes the messages. Include the model's header first.
 */
#ifndef REPLIES_H
#define REPLIES_H

#include <stdbool.h>
#include <stdint.h>

#define PROTOCOL_VERSION 2u
#define FEATURE_TYPE_UINT8 0u

enum request_type {
    HELLO = 0x01,
    PREDICT = 0x02,
    SCORES = 0x03,
    STATS = 0x04,
    REPEAT = 0x05,
    LEARN = 0x06, /* this type and the next ones only if the model can be taught */
    FORGET = 0x07,
    STORE = 0x08,
    HEALTH = 0x09 /* only where the model is observed */
};

enum reply_type { REPLY = 0x80, ERROR_REPLY = 0xFF };

enum error_code {
    UNKNOWN_TYPE = 1, /* there is no request of this type */
    WRONG_LENGTH = 2, /* the payload is shorter or longer than the type requires */
    OUT_OF_RANGE = 3, /* a feature exceeds the maximum of the model's inputs */
    NOT_HELD = 4      /* REPEAT, but the model consumes its features as they arrive */
};

/* Payloads have the layout of the wire: this chip is little endian like the protocol, and packed
 * structs have no gaps. */

struct __attribute__((packed)) hello {
    uint8_t protocol_version;
    uint8_t feature_type;
    uint16_t features;
    uint16_t classes;
    uint8_t model_hash[PNN_MODEL_HASH_BYTES];
    uint32_t clock_hz;
    uint8_t window;
};

/* Fill in the reply to HELLO, with the bytes of a point and the bytes of requests that may wait
 * unread. */
static inline void reply_hello(struct hello *hello, uint16_t features, uint8_t window)
{
    hello->protocol_version = PROTOCOL_VERSION;
    hello->feature_type = FEATURE_TYPE_UINT8;
    hello->features = features;
    hello->classes = PNN_CLASSES;
    for (uint8_t i = PNN_MODEL_HASH_BYTES; i-- != 0;) {
        hello->model_hash[i] = pnn_model_hash(i);
    }
    hello->clock_hz = F_CPU;
    hello->window = window;
}

#ifdef PNN_TEACHABLE
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
#endif

#endif
