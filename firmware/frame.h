/* Frames on the wire: COBS(body, CRC-16/XMODEM) and a 0x00, both ways, without a buffer.
 *
 * Portable C: the tests compile this file on the host and compare it with the Python version.
 */
#ifndef FRAME_H
#define FRAME_H

#include <stdint.h>

/* The shortest body: type, sequence number, CRC. */
#define FRAME_MIN_LENGTH 4u
#define FRAME_CRC_BYTES 2u

enum __attribute__((packed)) frame_event {
    FRAME_NOTHING, /* the byte was framing, or an empty frame ended */
    FRAME_BYTE,    /* another byte of the body */
    FRAME_GOOD,    /* a frame ended and its CRC is correct */
    FRAME_BAD      /* a damaged frame ended */
};

/* Before the first byte, all fields are zero. */
struct frame_decoder {
    uint16_t crc;    /* of the body so far; 0 after the frame's own CRC */
    uint16_t length; /* body bytes so far with their CRC, at most 65,535; kept to the next frame */
    uint8_t code;    /* of the current COBS block; 0 before the first */
    uint8_t left;    /* bytes left in that block */
    uint8_t byte;    /* of the body: the latest */
};

/* Decode one byte from the wire; on FRAME_BYTE, decoder->byte is the decoded byte of the body.
 *
 * The CRC arrives as the body's last two bytes, which are known to be the last only when the frame
 * ends. A 0x00 ends the frame whatever came before, so garbage costs at most one frame.
 */
enum frame_event frame_decode(struct frame_decoder *decoder, uint8_t wire);

/* CRC-16/XMODEM (polynomial 0x1021, start 0) of one more byte. */
uint16_t frame_crc(uint16_t crc, uint8_t byte);

/* Send a frame whose body is frame_body(0) ... frame_body(length - 1); the CRC is added here.
 *
 * COBS must know where the next 0x00 is before it sends a block. Asking for the bytes a second time
 * costs time that is free while the wire is busy, and saves a buffer of 254 bytes.
 */
void frame_send(uint16_t length);

/* The program that links frame.c defines these functions. They are names rather than function
 * pointers, so that the maximum stack follows from the call graph alone.
 */
uint8_t frame_body(uint16_t index);
void frame_put(uint8_t wire);

#endif
