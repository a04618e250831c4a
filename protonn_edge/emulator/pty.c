/*
 * The serial line as a pseudo-terminal, for programs that need a device file: /dev/pts/N.
 *
 * A pseudo-terminal has no DTR. Instead, the first open of the device resets the board, as opening
 * the port of a real board does. inotify reports opens and closes in order, but merges two equal
 * events into one. The hang-up of the master's end is reliable: it means that nobody has the device
 * open.
 */
#include "link.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <termios.h>
#include <unistd.h>

/* The event of a close comes shortly before the close is complete. */
enum { CLOSING_MS = 10 };

static int master = -1, watch = -1;
static int opens; /* according to inotify */

/* Waits for a hang-up or an event; returns POLLHUP if nobody has the device open, POLLIN if there are
 * events. */
static int events_within(int timeout_ms)
{
    struct pollfd ends[] = {{.fd = master}, {.fd = serial_link.client_events, .events = POLLIN}};
    poll(ends, 2, timeout_ms);
    return (ends[0].revents & POLLHUP) | (ends[1].revents & POLLIN);
}

/* Discards bytes that clients have not read (TCIFLUSH) or that the board has not read (TCOFLUSH);
 * only the device's end can do it. */
static bool flush_terminal(int queues)
{
    if (watch >= 0) { /* otherwise, this open would be counted as a client's */
        inotify_rm_watch(serial_link.client_events, watch);
    }
    const int device = open(serial_link.url, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    if (device >= 0) {
        tcflush(device, queues);
        if (queues != TCIFLUSH) {
            tcflush(master, TCIFLUSH);
        }
        close(device);
    }
    watch = inotify_add_watch(serial_link.client_events, serial_link.url, IN_OPEN | IN_CLOSE);
    return device >= 0 && watch >= 0;
}

/* Updates `opens`; returns whether the device was opened while nobody had it open. */
static bool note_events(void)
{
    union {
        struct inotify_event event; /* a watch of one file: no event has a name */
        char bytes[4096];
    } buffer;
    bool opened = false;
    const ssize_t count = read(serial_link.client_events, buffer.bytes, sizeof buffer);
    for (const struct inotify_event *event = &buffer.event;
         (const char *)(event + 1) <= buffer.bytes + count; event++) {
        if (event->mask & IN_OPEN) {
            opened = opened || opens == 0;
            opens++;
        } else if (event->mask & IN_CLOSE && opens > 0) {
            opens--;
        }
    }
    return opened;
}

static void end_client(void)
{
    opens = 0;
    if (serial_link.stream >= 0) {
        link_receive(); /* the client may have written and closed at once, as echo does */
    }
    link_disconnect();
    flush_terminal(TCIOFLUSH);
    if (note_events()) {
        link_connect(master);
    } else if (events_within(CLOSING_MS) == 0) { /* it was opened while it was not watched */
        opens = 1;
        link_connect(master);
    }
}

static void update_clients(void)
{
    const bool had_client = serial_link.stream >= 0;
    const bool opened = note_events();
    const int events = events_within(opens > 0 ? 0 : CLOSING_MS);
    if (opened) {
        if (had_client) { /* these bytes were for the previous client */
            flush_terminal(TCIFLUSH);
        }
        link_connect(master);
    }
    if (events & POLLHUP) {
        end_client();
    } else if (opens == 0 && events == 0) {
        opens = 1; /* two clients connected at once, and one is left */
    }
}

bool pty_open(void)
{
    master = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    serial_link.client_events = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    struct termios settings;
    if (master < 0 || serial_link.client_events < 0 || grantpt(master) < 0 ||
        unlockpt(master) < 0 || ptsname_r(master, serial_link.url, sizeof serial_link.url) != 0 ||
        tcgetattr(master, &settings) < 0) {
        return false;
    }
    cfmakeraw(&settings); /* for clients that do not do so themselves */
    cfsetspeed(&settings, B115200);
    serial_link.on_client = serial_link.on_hangup = update_clients;
    serial_link.on_overflow = link_forget; /* bytes are lost, as in the buffer of a real port */
    /* The master's end is hung up only after the device was opened and closed once. */
    return tcsetattr(master, TCSANOW, &settings) == 0 && flush_terminal(TCIOFLUSH);
}
