/*
 * The other end of the serial line: it passes bytes between the chip and the client, through a TCP
 * port or a pseudo-terminal. Bytes that the client has sent and the chip has not received yet are on
 * the wire, from which a USART (usart.c) takes them.
 */
#include "uno.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>

/* ---- the wire, and how busy the line is ---- */

static struct {
    uint8_t byte[4096];
    size_t begin, end;
} wire;

struct wire_activity wire_activity;
struct line line;

/* Returns where bytes from the peer may be written, and how many fit. */
static uint8_t *wire_space(size_t *space)
{
    memmove(wire.byte, wire.byte + wire.begin, wire.end - wire.begin);
    wire.end -= wire.begin;
    wire.begin = 0;
    *space = sizeof wire.byte - wire.end;
    return wire.byte + wire.end;
}

bool wire_waits(void) { return wire.begin < wire.end; }

uint8_t wire_take(void) { return wire.byte[wire.begin++]; }

/* ---- the link ---- */

static struct {
    char url[64];              /* for pyserial */
    int client_events;         /* descriptor: readable when a client connects or disconnects */
    int stream;                /* descriptor of the client's bytes; -1 while there is none */
    void (*on_client)(void);   /* called when `client_events` is readable */
    void (*on_hangup)(void);   /* called at the end of the stream */
    void (*on_overflow)(void); /* called when the buffer is full: the client does not read */
} serial_link = {.client_events = -1, .stream = -1};

static uint8_t out[65536]; /* sent by the board, not yet accepted by the kernel */
static size_t out_count;
static unsigned unanswered; /* frames, by the bytes 0 in both directions */

/* ---- connecting and disconnecting ---- */

static void forget_sent(void) { out_count = unanswered = 0; }

static void link_connect(int stream)
{
    serial_link.stream = stream;
    board_reset();
}

static void link_disconnect(void)
{
    serial_link.stream = -1;
    forget_sent();
}

const char *link_url(void) { return serial_link.url; }

bool link_has_client(void) { return serial_link.stream >= 0; }

void link_forget(void)
{
    forget_sent();
    wire.begin = wire.end = 0;
}

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
    unanswered += byte == 0;
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

bool link_is_unanswered(void)
{
    link_flush();
    return serial_link.stream >= 0 && unanswered > 0;
}

static bool link_receive(void)
{
    size_t space;
    uint8_t *free_bytes = wire_space(&space);
    const ssize_t count = read(serial_link.stream, free_bytes, space);
    if (count > 0) {
        for (ssize_t i = 0; i < count; i++) {
            unanswered -= free_bytes[i] == 0 && unanswered > 0;
        }
        wire.end += (size_t)count;
        line.start();
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

/* ---- a TCP port ----
 *
 * The serial line as a TCP server for one client at a time: avrdude's net:127.0.0.1:PORT.
 * Connecting resets the board, as DTR does on the real one; disconnecting leaves it running.
 */

static void drop_client(void)
{
    close(serial_link.stream);
    link_disconnect();
}

/* Polls now: a client that closes its connection and opens a new one must not be refused. */
static bool has_client(void)
{
    struct pollfd state = {.fd = serial_link.stream, .events = POLLRDHUP};
    return serial_link.stream >= 0 && poll(&state, 1, 0) == 0;
}

static void accept_client(void)
{
    const int client = accept4(serial_link.client_events, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (client < 0) {
        return;
    }
    if (has_client()) { /* the line is in use */
        close(client);
        return;
    }
    if (serial_link.stream >= 0) {
        drop_client();
    }
    setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    setsockopt(client, SOL_SOCKET, SO_SNDBUF, &(int){65536}, sizeof(int));
    link_connect(client);
}

bool tcp_open(uint16_t port)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons(port)};
    socklen_t size = sizeof address;
    const int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    /* Allow a port that was in use a moment ago. */
    if (listener < 0 ||
        setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int)) < 0 ||
        bind(listener, (struct sockaddr *)&address, size) < 0 || listen(listener, 8) < 0 ||
        getsockname(listener, (struct sockaddr *)&address, &size) < 0) {
        return false;
    }
    serial_link.client_events = listener;
    serial_link.on_client = accept_client;
    serial_link.on_hangup = serial_link.on_overflow = drop_client;
    snprintf(serial_link.url, sizeof serial_link.url, "socket://127.0.0.1:%d",
             ntohs(address.sin_port));
    return true;
}

/* ---- a pseudo-terminal ----
 *
 * The serial line as a pseudo-terminal, for programs that need a device file: /dev/pts/N.
 *
 * A pseudo-terminal has no DTR. Instead, the first open of the device resets the board, as opening
 * the port of a real board does. inotify reports opens and closes in order, but merges two equal
 * events into one. The hang-up of the master's end is reliable: it means that nobody has the device
 * open.
 */

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
    serial_link.on_overflow = forget_sent; /* bytes are lost, as in the buffer of a real port */
    /* The master's end is hung up only after the device was opened and closed once. */
    return tcsetattr(master, TCSANOW, &settings) == 0 && flush_terminal(TCIOFLUSH);
}
