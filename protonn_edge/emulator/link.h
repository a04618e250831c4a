/* The interface between the link of the serial line (link.c) and its two kinds, tcp.c and pty.c. */
#ifndef LINK_H
#define LINK_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

enum { LINK_WATCHED = 2 };

struct link {
    char url[64];              /* for pyserial */
    int client_events;         /* descriptor: readable when a client connects or disconnects */
    int stream;                /* descriptor of the client's bytes; -1 while there is none */
    void (*on_client)(void);   /* called when `client_events` is readable */
    void (*on_hangup)(void);   /* called at the end of the stream */
    void (*on_overflow)(void); /* called when the buffer is full: the client does not read */
};

extern struct link serial_link;

/* Opens the link; returns false if the system refuses. Port 0 means any free port. */
bool tcp_open(uint16_t port);
bool pty_open(void);

/* For tcp.c and pty.c: a client has connected, which resets the board; it has disconnected; read
 * its bytes. */
void link_connect(int stream);
void link_disconnect(void);
bool link_receive(void); /* returns false at the end of the stream */

/* For uno.c: drop bytes that were not sent yet; send bytes; poll the descriptors. */
void link_forget(void);
void link_flush(void);
bool link_is_behind(void); /* the buffer is more than half full: the client reads slowly */
void link_watch(struct pollfd watched[LINK_WATCHED]);
void link_serve(const struct pollfd watched[LINK_WATCHED]);

#endif
