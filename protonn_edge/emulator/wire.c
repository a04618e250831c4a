/*
 * The serial line between the link and the chip: bytes that the peer has sent and the chip has not
 * received yet, and how busy the line is. A USART (usart.c) or pins (pins.c) take bytes from it.
 */
#include "uno.h"

#include <string.h>

static struct {
    uint8_t byte[4096];
    size_t begin, end;
    unsigned bytes_moved, empty_polls; /* since wire_watch */
} wire;

struct line line;

uint8_t *wire_space(size_t *space)
{
    memmove(wire.byte, wire.byte + wire.begin, wire.end - wire.begin);
    wire.end -= wire.begin;
    wire.begin = 0;
    *space = sizeof wire.byte - wire.end;
    return wire.byte + wire.end;
}

void wire_filled(size_t count)
{
    wire.end += count;
    line.start();
}

void wire_flush(void) { wire.begin = wire.end = 0; }

bool wire_waits(void) { return wire.begin < wire.end; }

uint8_t wire_take(void) { return wire.byte[wire.begin++]; }

void wire_moved(void) { wire.bytes_moved++; }

void wire_polled_in_vain(void) { wire.empty_polls++; }

void wire_watch(void) { wire.bytes_moved = wire.empty_polls = 0; }

bool wire_was_busy(void) { return wire.bytes_moved > 0 || line.is_busy(); }

bool wire_was_polled(void)
{
    enum { MANY = 32 }; /* in 1 ms: every 500 cycles, so little is computed in between */
    return wire.empty_polls >= MANY;
}
