#include "optimize_size.h"

#include "frame.h"

#define COBS_FULL_BLOCK 0xFFu /* 254 bytes, and no zero after them */
#define COBS_MAX_RUN 254u

/* Never inlined, like the functions below: the wire leaves time for calls, and flash is scarce. */
__attribute__((noinline)) uint16_t frame_crc(uint16_t crc, uint8_t byte)
{
    /* Applies the polynomial to a whole byte at once, without a table in flash or a loop over
     * bits. */
    uint8_t x = (uint8_t)(crc >> 8) ^ byte;
    uint8_t high = (uint8_t)crc;
    uint8_t low;

    x ^= x >> 4;
    high ^= (uint8_t)(x << 4);
    high ^= x >> 3;
    low = (uint8_t)(x << 5) ^ x;
    return (uint16_t)((uint16_t)high << 8 | low);
}

static enum frame_event end_of_frame(struct frame_decoder *decoder)
{
    const uint8_t empty = decoder->code == 0;
    const uint8_t torn = decoder->left != 0;

    decoder->code = 0;
    decoder->left = 0;
    if (empty) {
        return FRAME_NOTHING;
    }
    if (torn || decoder->length < FRAME_MIN_LENGTH || decoder->crc != 0) {
        return FRAME_BAD;
    }
    return FRAME_GOOD;
}

enum frame_event frame_decode(struct frame_decoder *decoder, uint8_t wire)
{
    uint16_t length;

    if (wire == 0) {
        return end_of_frame(decoder);
    }
    if (decoder->left != 0) {
        decoder->left--;
        decoder->byte = wire;
    } else {
        const uint8_t finished = decoder->code;

        decoder->code = wire;
        decoder->left = (uint8_t)(wire - 1u);
        if (finished == 0) {
            decoder->crc = 0;
            decoder->length = 0;
            return FRAME_NOTHING;
        }
        if (finished == COBS_FULL_BLOCK) {
            return FRAME_NOTHING;
        }
        decoder->byte = 0;
    }
    decoder->crc = frame_crc(decoder->crc, decoder->byte);
    length = decoder->length + 1u;
    if (length != 0) {
        decoder->length = length;
    }
    return FRAME_BYTE;
}

static uint16_t sent_length; /* of the body being sent, including its CRC */
static uint16_t sent_crc;

/* Byte `index` of the body, which is followed by its big-endian CRC. */
static __attribute__((noinline)) uint8_t byte_at(uint16_t index)
{
    const uint16_t left = sent_length - index;

    if (left > FRAME_CRC_BYTES) {
        return frame_body(index);
    }
    return (uint8_t)(left == FRAME_CRC_BYTES ? sent_crc >> 8 : sent_crc);
}

/* The number of bytes from `index` to the next 0 or the end, at most a full block. */
static __attribute__((noinline)) uint8_t run_from(uint16_t index)
{
    uint8_t run = 0;

    while (run != COBS_MAX_RUN && index != sent_length && byte_at(index) != 0) {
        index++;
        run++;
    }
    return run;
}

void frame_send(uint16_t length)
{
    uint16_t crc = 0;
    uint16_t next = 0; /* the byte to send next */

    while (next != length) {
        crc = frame_crc(crc, frame_body(next++));
    }
    sent_crc = crc;
    sent_length = length + FRAME_CRC_BYTES;
    next = 0;
    for (;;) {
        const uint8_t run = run_from(next);
        uint8_t left = run;

        frame_put((uint8_t)(run + 1u));
        while (left-- != 0) {
            frame_put(byte_at(next++));
        }
        if (next == sent_length) {
            break;
        }
        if (run != COBS_MAX_RUN) {
            next++; /* the zero that the block's code represents */
        }
    }
    frame_put(0);
}
