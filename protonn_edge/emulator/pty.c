/*
 * The serial line as a pseudo-terminal, for programs that want a device: /dev/pts/N.
 *
 * A pseudo-terminal has no DTR. The first open of the device stands for it and resets the board, as
 * opening the port of a real one does. inotify tells of opens and closes in their order, but makes
 * one event of two that are alike; that nobody has the device open any more, the kernel knows for
 * sure: then the master's end is hung up.
 */
#include "link.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <termios.h>
#include <unistd.h>

/* The event of a close comes a moment before the close is done. */
enum { CLOSING_MS = 10 };

static int master = -1, watch = -1;
static int opens; /* as far as inotify tells */

/* POLLHUP if nobody has the device open, POLLIN if there are events; waits for either. */
static int news_within(int patience_ms)
{
    struct pollfd ends[] = {{.fd = master}, {.fd = serial_link.door, .events = POLLIN}};
    poll(ends, 2, patience_ms);
    return (ends[0].revents & POLLHUP) | (ends[1].revents & POLLIN);
}

/* Discards what lies between the ends and clients have not read (TCIFLUSH) or the board has not
 * (TCOFLUSH); only the device's end can do it. */
static bool flush_terminal(int queues)
{
    if (watch >= 0) { /* else this very open would be taken for a client's */
        inotify_rm_watch(serial_link.door, watch);
    }
    const int device = open(serial_link.url, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    if (device >= 0) {
        tcflush(device, queues);
        if (queues != TCIFLUSH) {
            tcflush(master, TCIFLUSH);
        }
        close(device);
    }
    watch = inotify_add_watch(serial_link.door, serial_link.url, IN_OPEN | IN_CLOSE);
    return device >= 0 && watch >= 0;
}

/* Counts; returns whether somebody opened the device when nobody had it open. */
static bool note_events(void)
{
    union {
        struct inotify_event event; /* a watch of one file: no event has a name */
        char bytes[4096];
    } buffer;
    bool opened = false;
    const ssize_t count = read(serial_link.door, buffer.bytes, sizeof buffer);
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

static void let_go(void)
{
    opens = 0;
    if (serial_link.stream >= 0) {
        link_receive(); /* it wrote and left, as echo does */
    }
    link_disconnect();
    flush_terminal(TCIOFLUSH);
    if (note_events()) {
        link_connect(master);
    } else if (news_within(CLOSING_MS) == 0) { /* it was opened while inotify did not watch */
        opens = 1;
        link_connect(master);
    }
}

static void look_who_is_there(void)
{
    const bool had_client = serial_link.stream >= 0;
    const bool opened = note_events();
    const int news = news_within(opens > 0 ? 0 : CLOSING_MS);
    if (opened) {
        if (had_client) { /* not for this one, whose own first bytes may be under way already */
            flush_terminal(TCIFLUSH);
        }
        link_connect(master);
    }
    if (news & POLLHUP) {
        let_go();
    } else if (opens == 0 && news == 0) {
        opens = 1; /* of two clients that came at once one is left */
    }
}

bool pty_open(void)
{
    master = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    serial_link.door = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    struct termios settings;
    if (master < 0 || serial_link.door < 0 || grantpt(master) < 0 || unlockpt(master) < 0 ||
        ptsname_r(master, serial_link.url, sizeof serial_link.url) != 0 ||
        tcgetattr(master, &settings) < 0) {
        return false;
    }
    cfmakeraw(&settings); /* it is a line of bytes even to a client that sets nothing */
    cfsetspeed(&settings, B115200);
    serial_link.knocked = serial_link.hung_up = look_who_is_there;
    serial_link.overflow = link_forget; /* lost, as in the buffer of a real port */
    /* The device has to be opened and closed once, or its master is not hung up. */
    return tcsetattr(master, TCSANOW, &settings) == 0 && flush_terminal(TCIOFLUSH);
}
