/* Requests, and the reply to HELLO, that all firmware shares. PROTOCOL.md describes the messages.
 * Include the model's header first.
 */
#ifndef REPLIES_H
#define REPLIES_H

#include <stdbool.h>
#include <stdint.h>

#define PROTOCOL_VERSION 2u
#define FEATURE_TYPE_UINT8 0u

enum request_type { HELLO = 0x01, PREDICT = 0x02, SCORES = 0x03, STATS = 0x04, REPEAT = 0x05 };

#define WRONG_PAYLOAD                                                                              \
    0xFFu /* instead of a reply's size: the request's payload has another length */

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

#endif
