/*
 * An Arduino Uno in a process: an ATmega328P at 16 MHz (core.c) with its serial line on a TCP port.
 *
 *   uno [--reset-pc ADDRESS] [--bss-end ADDRESS] [--no-skip-fix]
 *
 * stdin brings the flash image first (32,768 bytes), then commands, one a line: "stats" and "reset"
 * are each answered with a line of JSON on stdout, "quit" and the end of stdin end the process. The
 * first line on stdout is {"port": N}. Connecting to that port resets the board, as DTR does on the
 * real one; disconnecting leaves it running.
 *
 * Emulated time runs in slices of 1 ms, as fast as it can while the program computes or bytes flow,
 * and at the pace of the wall clock while it waits for a byte.
 */
#include "uno.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* ---- port: the serial line as a TCP server for one client ---- */

static struct {
    int listener, client;
    uint8_t out[65536];
    size_t out_count;
} port = {.listener = -1, .client = -1};

/* As DTR or the button does; whatever was under way in either direction is gone. */
static void reset_board(void)
{
    usart_flush();
    port.out_count = 0;
    core_reset();
}

static void drop_client(void)
{
    close(port.client);
    port.client = -1;
    port.out_count = 0;
}

void port_send(uint8_t byte)
{
    if (port.client < 0) {
        return;
    }
    if (port.out_count == sizeof port.out) { /* it leaves even the kernel's buffers unread */
        drop_client();
        return;
    }
    port.out[port.out_count++] = byte;
}

static void flush_port(void)
{
    if (port.client < 0 || port.out_count == 0) {
        return;
    }
    const ssize_t sent = send(port.client, port.out, port.out_count, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) {
        port.out_count -= (size_t)sent;
        memmove(port.out, port.out + sent, port.out_count);
    } else if (sent < 0 && errno != EAGAIN && errno != EINTR) {
        drop_client();
    }
}

static void receive(void)
{
    size_t room;
    uint8_t *wire = usart_wire(&room);
    const ssize_t count = recv(port.client, wire, room, MSG_DONTWAIT);
    if (count > 0) {
        usart_wire_filled((size_t)count);
    } else if (count == 0 || (errno != EAGAIN && errno != EINTR)) {
        drop_client();
    }
}

/* Asked of the kernel at this moment: a client that closes and comes back must not be turned away.
 */
static bool has_client(void)
{
    struct pollfd state = {.fd = port.client, .events = POLLRDHUP};
    return port.client >= 0 && poll(&state, 1, 0) == 0;
}

static void accept_client(void)
{
    const int client = accept4(port.listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (client < 0) {
        return;
    }
    if (has_client()) { /* the line is taken */
        close(client);
        return;
    }
    if (port.client >= 0) {
        drop_client();
    }
    setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    setsockopt(client, SOL_SOCKET, SO_SNDBUF, &(int){sizeof port.out}, sizeof(int));
    port.client = client;
    reset_board();
}

/* Returns the number of the port, or -1. */
static int open_port(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    port.listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (port.listener < 0 || bind(port.listener, (struct sockaddr *)&address, size) < 0 ||
        listen(port.listener, 8) < 0 ||
        getsockname(port.listener, (struct sockaddr *)&address, &size) < 0) {
        return -1;
    }
    return ntohs(address.sin_port);
}

/* ---- control: commands on stdin, answers on what was stdout ---- */

static FILE *answers;

static void obey(const char *command)
{
    if (strcmp(command, "quit") == 0) {
        exit(EXIT_SUCCESS);
    }
    if (strcmp(command, "reset") == 0) {
        reset_board();
    }
    core_print_stats(answers);
}

static void read_commands(void)
{
    static char line[64];
    static size_t length;
    const ssize_t count = read(STDIN_FILENO, line + length, sizeof line - 1 - length);
    if (count <= 0) { /* whoever started this board is gone */
        exit(EXIT_SUCCESS);
    }
    length += (size_t)count;
    line[length] = '\0';
    for (char *end; (end = strchr(line, '\n')) != NULL;) {
        *end = '\0';
        obey(line);
        length -= (size_t)(end + 1 - line);
        memmove(line, end + 1, length + 1);
    }
    if (length == sizeof line - 1) { /* no command is that long */
        length = 0;
    }
}

/* Serves all file descriptors; waits for one of them at most `nanoseconds`, for ever if < 0. */
static void attend(int64_t nanoseconds)
{
    size_t room;
    usart_wire(&room);
    struct pollfd watched[] = {
        {.fd = STDIN_FILENO, .events = POLLIN},
        {.fd = port.listener, .events = POLLIN},
        {.fd = port.client, .events = (room ? POLLIN : 0) | (port.out_count ? POLLOUT : 0)},
    };
    const struct timespec timeout = {.tv_nsec = (long)nanoseconds};
    if (ppoll(watched, 3, nanoseconds < 0 ? NULL : &timeout, NULL) <= 0) {
        return;
    }
    if (watched[2].revents & POLLIN) {
        receive();
    } else if (watched[2].revents & (POLLHUP | POLLERR)) {
        drop_client();
    }
    if (watched[1].revents) {
        accept_client();
    }
    if (watched[0].revents) {
        read_commands();
    }
}

/* ---- main ---- */

static void die(const char *why)
{
    fprintf(stderr, "%s\n", why);
    exit(EXIT_FAILURE);
}

static struct core_options parse_options(char **argument)
{
    struct core_options options = {.stack_floor = SRAM_START, .skip_fix = true};
    for (; *argument; argument++) {
        if (strcmp(*argument, "--no-skip-fix") == 0) {
            options.skip_fix = false;
        } else if (strcmp(*argument, "--reset-pc") == 0 && argument[1]) {
            options.reset_pc = strtoul(*++argument, NULL, 0) & (FLASH_BYTES - 2);
        } else if (strcmp(*argument, "--bss-end") == 0 && argument[1]) {
            options.stack_floor = (uint16_t)strtoul(*++argument, NULL, 0);
        } else {
            die("unknown option");
        }
    }
    return options;
}

static void read_image(uint8_t image[FLASH_BYTES])
{
    for (size_t done = 0; done < FLASH_BYTES;) {
        const ssize_t count = read(STDIN_FILENO, image + done, FLASH_BYTES - done);
        if (count <= 0) {
            die("stdin ended before the flash image did");
        }
        done += (size_t)count;
    }
}

static int64_t wall_nanoseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void run(void)
{
    enum { SLICE_NS = 1000000, FORGIVEN_NS = 10 * SLICE_NS };
    int64_t due = wall_nanoseconds(); /* when the emulated time reached will have come */
    for (;;) {
        usart_watch();
        const bool slept = core_run_slice();
        const bool waits = (slept || usart_was_polled()) && !usart_was_busy();
        flush_port();
        if (!core_is_alive()) {
            attend(-1);
            continue;
        }
        const int64_t now = wall_nanoseconds();
        due += SLICE_NS;
        if (!waits || due < now - FORGIVEN_NS) {
            due = now;
        }
        attend(due > now ? due - now : 0);
    }
}

int main(int argc, char **argv)
{
    static uint8_t image[FLASH_BYTES];
    (void)argc;
    signal(SIGINT, SIG_IGN); /* Ctrl-C is for the parent, which then closes stdin */
    const struct core_options options = parse_options(argv + 1);
    read_image(image);
    answers = fdopen(dup(STDOUT_FILENO), "w");
    dup2(STDERR_FILENO, STDOUT_FILENO); /* should simavr ever print */
    const int number = open_port();
    if (number < 0 || !answers) {
        die("no port can be opened on 127.0.0.1");
    }
    if (!core_make(&options, image)) {
        die("simavr does not make an atmega328p");
    }
    fprintf(answers, "{\"port\": %d}\n", number);
    fflush(answers);
    run();
}
