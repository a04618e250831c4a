/*
 * The other end of the serial line: it passes bytes between the chip and the client, through a TCP
 * port (tcp.c) or a pseudo-terminal (pty.c).
 */
#include "link.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "uno.h"

struct link serial_link = {.client_events = -1, .stream = -1};

static uint8_t out[65536]; /* sent by the board, not yet accepted by the kernel */
static size_t out_count;

/* ---- connecting and disconnecting ---- */

void link_connect(int stream)
{
    serial_link.stream = stream;
    board_reset();
}

void link_disconnect(void)
{
    serial_link.stream = -1;
    out_count = 0;
}

void link_forget(void) { out_count = 0; }

/* ---- bytes ---- */

static bool is_broken(ssize_t count) { return count < 0 && errno != EAGAIN && errno != EINTR; }

void link_send(uint8_t byte)
{
    if (serial_link.stream < 0) {
        return;
    }
    if (out_count == sizeof out) { /* the kernel's buffers are full, too */
        serial_link.on_overflow();
        return;
    }
    out[out_count++] = byte;
}

void link_flush(void)
{
    if (serial_link.stream < 0 || out_count == 0) {
        return;
    }
    const ssize_t sent = write(serial_link.stream, out, out_count);
    if (sent > 0) {
        out_count -= (size_t)sent;
        memmove(out, out + sent, out_count);
    } else if (is_broken(sent)) {
        serial_link.on_hangup();
    }
}

bool link_is_behind(void)
{
    link_flush();
    return serial_link.stream >= 0 && out_count > sizeof out / 2;
}

bool link_receive(void)
{
    size_t space;
    uint8_t *wire = wire_space(&space);
    const ssize_t count = read(serial_link.stream, wire, space);
    if (count > 0) {
        wire_filled((size_t)count);
    }
    return count > 0 || (count < 0 && !is_broken(count));
}

/* ---- polling ---- */

void link_watch(struct pollfd watched[LINK_WATCHED])
{
    size_t space;
    wire_space(&space);
    watched[0] = (struct pollfd){.fd = serial_link.client_events, .events = POLLIN};
    watched[1] = (struct pollfd){.fd = serial_link.stream,
                                 .events = (space ? POLLIN : 0) | (out_count ? POLLOUT : 0)};
}

void link_serve(const struct pollfd watched[LINK_WATCHED])
{
    if (watched[0].revents) {
        serial_link.on_client(); /* first: connecting resets the board before its bytes are read */
    }
    const short events = watched[1].fd == serial_link.stream ? watched[1].revents : 0;
    if (events & POLLIN ? !link_receive() : events & (POLLHUP | POLLERR)) {
        serial_link.on_hangup();
    }
}
