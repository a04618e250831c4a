/*
 * The serial line as a TCP server for one client at a time: avrdude's net:127.0.0.1:PORT.
 * Connecting resets the board, as DTR does on the real one; disconnecting leaves it running.
 */
#include "link.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

static void drop_client(void)
{
    close(serial_link.stream);
    link_disconnect();
}

/* Polls now: a client that closes its connection and opens a new one must not be rejected. */
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
