#include "optimize_size.h"

#include "requests.h"

#include "frame.h"
#include "model.h"
#include "prediction.h"
#include "replies.h"

#include "parts.h"
#include "stack_paint.h"
#include "uart.h"
#include "watchdog.h"

#include <stdbool.h>

#define SCORE_BYTES 4u

static struct frame_decoder decoder;

static uint16_t frames_dropped;

/* The first bytes of the arriving request, then of its reply.
 *
 * The bytes of a reply before the scores have the layout of the wire: this chip is little endian
 * like the protocol, and packed structs have no gaps. */
static struct {
    uint8_t type;
    uint8_t sequence;
    union {
        uint16_t repetitions; /* of a REPEAT; its features follow */
        struct hello hello;
        struct __attribute__((packed)) {
            uint8_t label;
            uint32_t cycles;
        } prediction;
        struct __attribute__((packed)) {
            uint16_t stack_bytes;
            uint16_t frames_dropped;
            uint16_t overruns;
            uint32_t saturations;
            uint16_t resets;
            uint8_t reset_cause;
        } stats;
#define PAYLOAD_OF(part) union part##_payload part;
        PARTS(PAYLOAD_OF)
        uint8_t error;
    } payload;
} head;

#define HEADER_BYTES 2u /* type and sequence number */
static uint8_t head_length;

/* A reply is its head, then either bytes of a part or the model's scores, each widened to 32 bits. */
uint8_t frame_body(uint16_t index)
{
    const pnn_score_t *score;
    uint16_t place;

    if (index < head_length) {
        return ((const uint8_t *)&head)[index];
    }
    place = index - head_length;
#define BYTE_OF(part)                                                                              \
    if (part##_continues(head.type)) {                                                             \
        return part##_byte(place);                                                                 \
    }
    PARTS(BYTE_OF)
    score = pnn_scores() + place / SCORE_BYTES;
    place %= SCORE_BYTES;
    if (place < sizeof *score) {
        return ((const uint8_t *)score)[place];
    }
    return *score < 0 ? 0xFF : 0x00;
}

/* A reply may take longer than the watchdog's time: 255 scores take 8.6 s at 1,200 baud. So the
 * watchdog is fed each time the transmitter has accepted a byte; a transmitter that is stuck
 * accepts none. */
void frame_put(uint8_t wire)
{
    uart_send(wire);
    watchdog_feed();
}

/* Each of these fills in a payload and returns its size. */

static uint8_t refuse(enum error_code code)
{
    head.type = ERROR_REPLY;
    head.payload.error = code;
    return sizeof head.payload.error;
}

static uint8_t predict(uint16_t repetitions)
{
#define PREDICTING_OF(part) part##_predicting();
    PARTS(PREDICTING_OF)
    head.payload.prediction.label = prediction_finish(repetitions);
    head.payload.prediction.cycles = prediction_cycles();
#define PREDICTED_OF(part) part##_predicted(repetitions, head.payload.prediction.cycles);
    PARTS(PREDICTED_OF)
    return sizeof head.payload.prediction;
}

static uint8_t report(void)
{
    head.payload.stats.stack_bytes = stack_peak();
    head.payload.stats.frames_dropped = frames_dropped;
    head.payload.stats.overruns = uart_overruns();
    head.payload.stats.saturations = prediction_saturations();
    head.payload.stats.resets = watchdog_resets();
    head.payload.stats.reset_cause = watchdog_cause;
    return sizeof head.payload.stats;
}

/* The offset of the features in a request's body; 0 if it has none. */
static uint8_t features_at(uint8_t type)
{
    if (type == PREDICT || type == SCORES) {
        return HEADER_BYTES;
    }
    return type == REPEAT ? HEADER_BYTES + sizeof head.payload.repetitions : 0u;
}

static void answer(void)
{
    const uint8_t type = head.type;
    const uint8_t at = features_at(type);
    const uint16_t expected = (at != 0 ? PNN_FEATURES + at : HEADER_BYTES) + FRAME_CRC_BYTES;
    uint16_t more_bytes = 0;
    uint8_t payload_bytes;

    head.type |= REPLY;
#define GIVEN_BYTES ((uint16_t)(decoder.length - (HEADER_BYTES + FRAME_CRC_BYTES)))
#define ANSWER_OF(part)                                                                            \
    if (part##_knows(type)) {                                                                      \
        payload_bytes = part##_answer(&head.payload.part, type, GIVEN_BYTES, &more_bytes);         \
        if (payload_bytes == WRONG_PAYLOAD) {                                                      \
            payload_bytes = refuse(WRONG_LENGTH);                                                  \
        }                                                                                          \
    } else
    PARTS(ANSWER_OF)
    if (type < HELLO || type > REPEAT) {
        payload_bytes = refuse(UNKNOWN_TYPE);
    } else if (decoder.length != expected) {
        payload_bytes = refuse(WRONG_LENGTH);
    } else if (type == HELLO) {
        reply_hello(&head.payload.hello, PNN_FEATURES, UART_WINDOW_BYTES);
        payload_bytes = sizeof head.payload.hello;
    } else if (type == STATS) {
        payload_bytes = report();
    } else if (type == REPEAT && !PREDICTION_HOLDS_FEATURES) {
        payload_bytes = refuse(NOT_HELD);
    } else if (prediction_out_of_range()) {
        payload_bytes = refuse(OUT_OF_RANGE);
    } else {
        payload_bytes = predict(type == REPEAT ? head.payload.repetitions : 1u);
        if (type == SCORES) {
            more_bytes = SCORE_BYTES * PNN_CLASSES;
        }
    }
    head_length = HEADER_BYTES + payload_bytes;
    frame_send(head_length + more_bytes);
}

/* Features are pushed as they arrive; only the end of the frame shows whether it is valid. */
static void take_body(uint8_t byte)
{
    const uint16_t index = (uint16_t)(decoder.length - 1u);
    uint8_t at;

    if (index < sizeof head) {
        ((uint8_t *)&head)[index] = byte;
    }
    at = features_at(head.type);
    if (at == 0) {
        return;
    }
    if (index >= at) {
        prediction_push(byte);
    } else if (index == at - 1u) {
        prediction_begin();
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
