/* Frames on the wire: COBS(body, CRC-16/XMODEM) and a 0x00, both ways, without a buffer.
 *
 * Portable C: the tests compile this file on the host and compare it with Python's.
 */
#ifndef FRAME_H
#define FRAME_H

#include <stdint.h>

/* The shortest body: type, sequence number, CRC. */
#define FRAME_MIN_LENGTH 4u
#define FRAME_CRC_BYTES 2u

enum __attribute__((packed)) frame_event {
    FRAME_NOTHING, /* the byte was framing, or an empty frame ended */
    FRAME_BYTE,    /* one more byte of the body */
    FRAME_GOOD,    /* a frame ended, its CRC is right */
    FRAME_BAD      /* a frame ended that cannot be trusted */
};

/* All zero is the state before the first byte. */
struct frame_decoder {
    uint16_t crc;    /* of the body so far; 0 once it has taken in the frame's own CRC */
    uint16_t length; /* body bytes so far with their CRC, 65,535 at most; kept to the next frame */
    uint8_t code;    /* of the COBS block that is being read; 0 before the first */
    uint8_t left;    /* bytes of that block still to come */
    uint8_t byte;    /* of the body: the latest */
};

/* Take one byte from the wire; on FRAME_BYTE, decoder->byte is the byte of the body that it gave.
 *
 * The CRC arrives as the body's last two bytes: nobody knows that they are the last before the
 * frame ends. A 0x00 ends the frame whatever came before, so any garbage costs at most one frame.
 */
enum frame_event frame_decode(struct frame_decoder *decoder, uint8_t wire);

/* CRC-16/XMODEM (polynomial 0x1021, start 0) of one more byte. */
uint16_t frame_crc(uint16_t crc, uint8_t byte);

/* Send a frame whose body is frame_body(0) ... frame_body(length - 1); the CRC is added here.
 *
 * COBS must know how far the next 0x00 is before it sends a block. Looking ahead by asking for the
 * bytes a second time costs time that the wire leaves free anyway, and saves a buffer of 254 bytes.
 */
void frame_send(uint16_t length);

/* Provided by the program that links frame.c. Two names and not two function pointers, so that the
 * deepest stack follows from the call graph alone.
 */
uint8_t frame_body(uint16_t index);
void frame_put(uint8_t wire);

#endif
