#include "requests.h"

#include "frame.h"
#include "model.h"
#include "prediction.h"
#include "stack_paint.h"
#include "uart.h"

#include <stdbool.h>

#define PROTOCOL_VERSION 1u
#define FEATURE_TYPE_UINT8 0u

enum request_type { HELLO = 0x01, PREDICT = 0x02, SCORES = 0x03, STATS = 0x04 };

enum reply_type { REPLY = 0x80, ERROR_REPLY = 0xFF };

enum error_code {
    UNKNOWN_TYPE = 1, /* no request has this type */
    WRONG_LENGTH = 2, /* the payload is shorter or longer than the type asks for */
    OUT_OF_RANGE = 3  /* a feature is larger than the model's inputs can be */
};

#define SCORE_BYTES 4u

static struct frame_decoder decoder;

static uint16_t frames_dropped;
static uint8_t reset_cause;

/* The type and the sequence number of the request that is arriving, then of its reply.
 *
 * A reply's bytes in front of the scores, laid out as they go over the wire: this chip is little
 * endian like the protocol, and packed says that nothing lies between the fields. */
static struct {
    uint8_t type;
    uint8_t sequence;
    union {
        struct __attribute__((packed)) {
            uint8_t protocol_version;
            uint8_t feature_type;
            uint16_t features;
            uint16_t classes;
            uint8_t model_hash[PNN_MODEL_HASH_BYTES];
            uint32_t clock_hz;
        } hello;
        struct __attribute__((packed)) {
            uint8_t label;
            uint32_t cycles;
        } prediction;
        struct __attribute__((packed)) {
            uint16_t stack_bytes;
            uint16_t frames_dropped;
            uint16_t overruns;
            uint8_t reset_cause;
        } stats;
        uint8_t error;
    } payload;
} head;

#define HEADER_BYTES 2u /* type and sequence number */
static uint8_t head_length;

void requests_start(uint8_t cause) { reset_cause = cause; }

/* A reply is its head, then scores straight from the model, each widened to 32 bits. */
uint8_t frame_body(uint16_t index)
{
    const pnn_score_t *score;
    uint16_t place;

    if (index < head_length) {
        return ((const uint8_t *)&head)[index];
    }
    place = index - head_length;
    score = pnn_scores() + place / SCORE_BYTES;
    place %= SCORE_BYTES;
    if (place < sizeof *score) {
        return ((const uint8_t *)score)[place];
    }
    return *score < 0 ? 0xFF : 0x00;
}

void frame_put(uint8_t wire) { uart_send(wire); }

/* Each of these fills in a payload and returns its bytes. */

static uint8_t refuse(enum error_code code)
{
    head.type = ERROR_REPLY;
    head.payload.error = code;
    return sizeof head.payload.error;
}

static uint8_t introduce(void)
{
    head.payload.hello.protocol_version = PROTOCOL_VERSION;
    head.payload.hello.feature_type = FEATURE_TYPE_UINT8;
    head.payload.hello.features = PNN_FEATURES;
    head.payload.hello.classes = PNN_CLASSES;
    for (uint8_t i = PNN_MODEL_HASH_BYTES; i-- != 0;) {
        head.payload.hello.model_hash[i] = pnn_model_hash(i);
    }
    head.payload.hello.clock_hz = F_CPU;
    return sizeof head.payload.hello;
}

static uint8_t predict(void)
{
    head.payload.prediction.label = prediction_finish();
    head.payload.prediction.cycles = prediction_cycles();
    return sizeof head.payload.prediction;
}

static uint8_t report(void)
{
    head.payload.stats.stack_bytes = stack_peak();
    head.payload.stats.frames_dropped = frames_dropped;
    head.payload.stats.overruns = uart_overruns();
    head.payload.stats.reset_cause = reset_cause;
    return sizeof head.payload.stats;
}

static bool carries_features(uint8_t type) { return type == PREDICT || type == SCORES; }

static void answer(void)
{
    const uint16_t expected = FRAME_MIN_LENGTH + (carries_features(head.type) ? PNN_FEATURES : 0u);
    const uint8_t type = head.type;
    uint16_t score_bytes = 0;
    uint8_t payload_bytes;

    head.type |= REPLY;
    if (type < HELLO || type > STATS) {
        payload_bytes = refuse(UNKNOWN_TYPE);
    } else if (decoder.length != expected) {
        payload_bytes = refuse(WRONG_LENGTH);
    } else if (type == HELLO) {
        payload_bytes = introduce();
    } else if (type == STATS) {
        payload_bytes = report();
    } else if (prediction_out_of_range()) {
        payload_bytes = refuse(OUT_OF_RANGE);
    } else {
        payload_bytes = predict();
        if (type == SCORES) {
            score_bytes = SCORE_BYTES * PNN_CLASSES;
        }
    }
    head_length = HEADER_BYTES + payload_bytes;
    frame_send(head_length + score_bytes);
}

/* Features go into the model as they arrive; whether the frame is any good shows when it ends. */
static void take_body(uint8_t byte)
{
    if (decoder.length == 1) {
        head.type = byte;
    } else if (decoder.length == 2) {
        head.sequence = byte;
        if (carries_features(head.type)) {
            prediction_begin();
        }
    } else if (carries_features(head.type)) {
        prediction_push(byte);
    }
}

void requests_take(uint8_t wire)
{
    uint16_t dropped;

    switch (frame_decode(&decoder, wire)) {
    case FRAME_NOTHING:
        break;
    case FRAME_BYTE:
        take_body(decoder.byte);
        break;
    case FRAME_GOOD:
        answer();
        break;
    case FRAME_BAD:
        dropped = frames_dropped + 1u;
        if (dropped != 0) {
            frames_dropped = dropped;
        }
        break;
    }
}
