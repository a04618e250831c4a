/* Lets a test reach frame.c over a pipe. Each command is a letter, a length of 4 bytes and so many
 * bytes: 'E' sends a frame with these as its body, 'D' decodes them. Each answer is a length of 4 bytes
 * and what was sent, or for every frame that ended its verdict (1 good, 0 bad), its body's length in 2
 * bytes and the body, with its CRC.
 */
#include "frame.h"

#include <stdio.h>
#include <stdlib.h>

#define MOST 1000000u

static uint8_t in[MOST];
static uint8_t out[4 * MOST];
static uint32_t out_length;

static void put(uint8_t byte)
{
    if (out_length == sizeof out) {
        abort();
    }
    out[out_length++] = byte;
}

uint8_t frame_body(uint16_t index) { return in[index]; }

void frame_put(uint8_t wire) { put(wire); }

static void decode(uint32_t length)
{
    static struct frame_decoder decoder;
    static uint8_t body[65535];
    static uint16_t body_length;

    for (uint32_t i = 0; i < length; i++) {
        enum frame_event event = frame_decode(&decoder, in[i]);

        if (event == FRAME_BYTE) {
            if (body_length != sizeof body) {
                body[body_length++] = decoder.byte;
            }
        } else if (event != FRAME_NOTHING) {
            put(event == FRAME_GOOD);
            put((uint8_t)decoder.length);
            put((uint8_t)(decoder.length >> 8));
            for (uint16_t k = 0; k < body_length; k++) {
                put(body[k]);
            }
            body_length = 0;
        } else if (in[i] == 0) {
            body_length = 0;
        }
    }
}

int main(void)
{
    int command;

    while ((command = getchar()) != EOF) {
        uint32_t length = 0;

        for (int i = 0; i < 4; i++) {
            length |= (uint32_t)getchar() << (8 * i);
        }
        if (length > MOST || fread(in, 1, length, stdin) != length) {
            return 1;
        }
        out_length = 0;
        if (command == 'E') {
            frame_send((uint16_t)length);
        } else {
            decode(length);
        }
        for (int i = 0; i < 4; i++) {
            putchar((int)(out_length >> (8 * i) & 0xFF));
        }
        fwrite(out, 1, out_length, stdout);
        fflush(stdout);
    }
    return 0;
}
