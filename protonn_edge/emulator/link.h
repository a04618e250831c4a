/* What the serial line's link (link.c) shares with its two kinds, tcp.c and pty.c. */
#ifndef LINK_H
#define LINK_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

enum { LINK_WATCHED = 2 };

struct link {
    char url[64];           /* as pyserial takes it */
    int door;               /* readable when a client comes or goes */
    int stream;             /* bytes of the client; -1 while there is none */
    void (*knocked)(void);  /* something happened at the door */
    void (*hung_up)(void);  /* the stream is at its end */
    void (*overflow)(void); /* the client does not read, and there is no room left */
};

extern struct link serial_link;

/* Make the link; false if the system does not allow it. Port 0 is any that is free. */
bool tcp_open(uint16_t port);
bool pty_open(void);

/* For tcp.c and pty.c: a client has come, which resets the board; it has gone; its bytes. */
void link_connect(int stream);
void link_disconnect(void);
bool link_receive(void); /* false at the end of the stream */

/* For uno.c: drop what was under way to the client; pass on bytes; wait for them. */
void link_forget(void);
void link_flush(void);
bool link_is_behind(void); /* much waits for a client that reads slowly */
void link_watch(struct pollfd watched[LINK_WATCHED]);
void link_serve(const struct pollfd watched[LINK_WATCHED]);

#endif
