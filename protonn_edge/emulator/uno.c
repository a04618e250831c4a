/*
 * An Arduino Uno in a process: an ATmega328P at 16 MHz (core.c) with its serial line on a link.
 *
 *   uno [--port NUMBER | --pty] [--wire-speed] [--reset-pc ADDRESS] [--bss-end ADDRESS]
 *       [--no-skip-fix]
 *
 * stdin brings the flash image first (32,768 bytes), then commands, one a line: "stats" and "reset"
 * are each answered with a line of JSON on stdout, "quit" and the end of stdin end the process. The
 * first line on stdout is {"url": "..."}, which names the link.
 *
 * Emulated time runs in slices of 1 ms. The line brings its bytes at the baud rate of emulated time
 * always. At wire speed that is wall time, too: no slice begins before its time has come. Else time
 * runs as fast as it can while the program computes or bytes flow, and at the pace of the wall
 * clock while it waits for a byte.
 */
#include "uno.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "link.h"

void board_reset(void)
{
    usart_flush();
    link_forget();
    core_reset();
}

/* ---- control: commands on stdin, answers on what was stdout ---- */

static FILE *answers;

static void obey(const char *command)
{
    if (strcmp(command, "quit") == 0) {
        exit(EXIT_SUCCESS);
    }
    if (strcmp(command, "reset") == 0) {
        board_reset();
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
    struct pollfd watched[LINK_WATCHED + 1];
    link_watch(watched);
    watched[LINK_WATCHED] = (struct pollfd){.fd = STDIN_FILENO, .events = POLLIN};
    const struct timespec timeout = {.tv_nsec = (long)nanoseconds};
    if (ppoll(watched, LINK_WATCHED + 1, nanoseconds < 0 ? NULL : &timeout, NULL) <= 0) {
        return;
    }
    link_serve(watched);
    if (watched[LINK_WATCHED].revents) {
        read_commands();
    }
}

/* ---- time ---- */

enum { SLICE_NS = 1000000 };

static int64_t wall_nanoseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* What a busy machine withheld is made up for up to here, so that the mean speed is the wire's. */
static void run_at_wire_speed(void)
{
    enum { FORGIVEN_NS = 250 * SLICE_NS };
    int64_t due = wall_nanoseconds(); /* when the emulated time reached will have come */
    for (;;) {
        core_run_slice();
        link_flush();
        if (!core_is_alive()) {
            attend(-1);
        }
        due += SLICE_NS;
        int64_t now = wall_nanoseconds();
        if (due < now - FORGIVEN_NS) {
            due = now;
        }
        do {
            attend(due > now ? due - now : 0);
            now = wall_nanoseconds();
        } while (now < due);
    }
}

static void run_freely(void)
{
    enum { FORGIVEN_NS = 10 * SLICE_NS };
    int64_t due = wall_nanoseconds();
    for (;;) {
        usart_watch();
        const bool slept = core_run_slice();
        const bool waits = (slept || usart_was_polled()) && !usart_was_busy();
        link_flush();
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

/* ---- main ---- */

enum { EXIT_USAGE = 2 };

static void die(int status, const char *why)
{
    fprintf(stderr, "%s\n", why);
    exit(status);
}

static struct {
    struct core_options core;
    bool pty, wire_speed;
    uint16_t port;
} options = {.core = {.stack_floor = SRAM_START, .skip_fix = true}};

static void parse_options(char **argument)
{
    for (; *argument; argument++) {
        const char *name = *argument;
        if (strcmp(name, "--no-skip-fix") == 0) {
            options.core.skip_fix = false;
        } else if (strcmp(name, "--wire-speed") == 0) {
            options.wire_speed = true;
        } else if (strcmp(name, "--pty") == 0) {
            options.pty = true;
        } else if (strcmp(name, "--port") == 0 && argument[1]) {
            options.port = (uint16_t)strtoul(*++argument, NULL, 0);
        } else if (strcmp(name, "--reset-pc") == 0 && argument[1]) {
            options.core.reset_pc = strtoul(*++argument, NULL, 0) & (FLASH_BYTES - 2);
        } else if (strcmp(name, "--bss-end") == 0 && argument[1]) {
            options.core.stack_floor = (uint16_t)strtoul(*++argument, NULL, 0);
        } else {
            die(EXIT_FAILURE, "unknown option");
        }
    }
}

static void read_image(uint8_t image[FLASH_BYTES])
{
    for (size_t done = 0; done < FLASH_BYTES;) {
        const ssize_t count = read(STDIN_FILENO, image + done, FLASH_BYTES - done);
        if (count <= 0) {
            die(EXIT_FAILURE, "stdin ended before the flash image did");
        }
        done += (size_t)count;
    }
}

int main(int argc, char **argv)
{
    static uint8_t image[FLASH_BYTES];
    (void)argc;
    signal(SIGINT, SIG_IGN);  /* Ctrl-C is for the parent, which then closes stdin */
    signal(SIGPIPE, SIG_IGN); /* a client that goes is told of by write() */
    prctl(PR_SET_TIMERSLACK, 1);
    parse_options(argv + 1);
    read_image(image);
    answers = fdopen(dup(STDOUT_FILENO), "w");
    dup2(STDERR_FILENO, STDOUT_FILENO); /* should simavr ever print */
    if (!core_make(&options.core, image)) {
        die(EXIT_FAILURE, "simavr does not make an atmega328p");
    }
    if (!(options.pty ? pty_open() : tcp_open(options.port)) || !answers) {
        die(EXIT_USAGE, strerror(errno));
    }
    fprintf(answers, "{\"url\": \"%s\"}\n", serial_link.url);
    fflush(answers);
    options.wire_speed ? run_at_wire_speed() : run_freely();
}
