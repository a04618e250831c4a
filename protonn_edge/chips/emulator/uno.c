/*
 * A board as a process: a chip (core.c) whose serial line is connected to a link.
 *
 *   board --mcu NAME --clock HZ --gpior0 ADDRESS --sleep-register ADDRESS --sleep-bit NUMBER
 *         [--serial usart0] --image-bytes NUMBER
 *         [--port NUMBER | --pty] [--wire-speed | --unpaced [--lockstep]] [--reset-pc ADDRESS]
 *         [--bss-end ADDRESS] [--parts-bytes NUMBER] [--eeprom FILE] [--no-skip-fix]
 *
 * stdin has the flash image first, then the file of added parts, then one command per line: "stats"
 * and "reset" are each answered with a line of JSON on stdout, "quit" and the end of stdin end the
 * process. The first line on stdout is {"url": "..."}, the URL of the link.
 *
 * Emulated time runs in slices of 1 ms. The line always transfers bytes at the baud rate in emulated
 * time. With --wire-speed, emulated time does not run ahead of wall time. Otherwise it runs as fast
 * as possible while the program computes or bytes are transferred, and at the speed of wall time
 * while the program waits for a byte. With --unpaced it never waits for wall time while a client is
 * connected, but for a client that reads slowly, so that no byte is lost; with --lockstep, it stops
 * after each frame until the client has sent one, maybe an empty one. The bootloader always runs
 * in wall time while it waits, since the uploader has one second to begin.
 */
#include "uno.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

void board_reset(void)
{
    link_forget();
    core_reset();
}

/* ---- control: commands on stdin, answers on the original stdout ---- */

static FILE *answers;

static void run_command(const char *command)
{
    if (strcmp(command, "quit") == 0) {
        exit(EXIT_SUCCESS);
    }
    if (strncmp(command, "press ", 6) == 0) {
        fprintf(answers, "{\"pressed\": %s}\n", pins_press(command + 6) ? "true" : "false");
        fflush(answers);
        return;
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
    if (count <= 0) { /* the parent process has ended */
        exit(EXIT_SUCCESS);
    }
    length += (size_t)count;
    line[length] = '\0';
    for (char *end; (end = strchr(line, '\n')) != NULL;) {
        *end = '\0';
        run_command(line);
        length -= (size_t)(end + 1 - line);
        memmove(line, end + 1, length + 1);
    }
    if (length == sizeof line - 1) { /* too long for a command: discard it */
        length = 0;
    }
}

/* Serves all file descriptors; waits for them at most `nanoseconds`, without a limit if < 0. */
static void serve(int64_t nanoseconds)
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

/* If the machine is busy, catches up on delays up to a limit, so that the mean speed is the
 * wire's. */
static void run_at_wire_speed(void)
{
    enum { MOST_LAG_NS = 250 * SLICE_NS };
    int64_t due = wall_nanoseconds(); /* the wall time at which the next slice may begin */
    for (;;) {
        core_run_slice();
        link_flush();
        if (!core_is_alive()) {
            serve(-1);
        }
        due += SLICE_NS;
        int64_t now = wall_nanoseconds();
        if (due < now - MOST_LAG_NS) {
            due = now;
        }
        do {
            serve(due > now ? due - now : 0);
            now = wall_nanoseconds();
        } while (now < due);
    }
}

static void run_freely(bool unpaced, bool lockstep)
{
    enum { MOST_LAG_NS = 10 * SLICE_NS };
    enum { MANY_POLLS = 32 }; /* in 1 ms: every 500 cycles, so little is computed in between */
    int64_t due = wall_nanoseconds();
    for (;;) {
        wire_activity = (struct wire_activity){0};
        const bool slept = core_run_slice();
        const bool is_busy = wire_activity.bytes_moved > 0 || line.is_busy();
        const bool waits = (slept || wire_activity.empty_polls >= MANY_POLLS) && !is_busy;
        link_flush();
        if (!core_is_alive()) {
            serve(-1);
            continue;
        }
        while (unpaced && (link_is_behind() || (lockstep && link_is_unanswered()))) {
            serve(-1);
        }
        const int64_t now = wall_nanoseconds();
        const bool unpaced_now = unpaced && link_has_client() && !core_boots();
        due += SLICE_NS;
        if (!waits || unpaced_now || due < now - MOST_LAG_NS) {
            due = now;
        }
        serve(due > now ? due - now : 0);
    }
}

/* ---- main ---- */

enum { EXIT_USAGE = 2, EXIT_CHIP = 3, EXIT_EEPROM = 4 };
enum { IMAGE_BYTES_MAX = 1 << 20, PARTS_BYTES_MAX = 1 << 28 };

static void die(int status, const char *why)
{
    fprintf(stderr, "%s\n", why);
    exit(status);
}

static struct {
    struct core_options core;
    bool pty, wire_speed, unpaced, lockstep;
    unsigned port, image_bytes, parts_bytes;
    const char *serial; /* "usart0" to "usart3" */
    const char *eeprom; /* the file that keeps it */
    const char *watch; /* sums of passes, and where the first and last span of a prediction begin */
    unsigned first_span, last_span;
} options = {.serial = "usart0"};

static const struct {
    const char *name;
    enum { FLAG, NUMBER, TEXT } kind;
    void *value;
} known_options[] = {
    {"--pty", FLAG, &options.pty},
    {"--wire-speed", FLAG, &options.wire_speed},
    {"--unpaced", FLAG, &options.unpaced},
    {"--lockstep", FLAG, &options.lockstep},
    {"--no-skip-fix", FLAG, &options.core.no_skip_fix},
    {"--port", NUMBER, &options.port},
    {"--reset-pc", NUMBER, &options.core.reset_pc},
    {"--bss-end", NUMBER, &options.core.stack_floor},
    {"--image-bytes", NUMBER, &options.image_bytes},
    {"--parts-bytes", NUMBER, &options.parts_bytes},
    {"--clock", NUMBER, &chip.clock_hz},
    {"--gpior0", NUMBER, &chip.gpior0},
    {"--sleep-register", NUMBER, &chip.sleep_register},
    {"--sleep-bit", NUMBER, &chip.sleep_bit},
    {"--mcu", TEXT, &chip.mcu},
    {"--serial", TEXT, &options.serial},
    {"--eeprom", TEXT, &options.eeprom},
    {"--watch", TEXT, &options.watch},
    {"--first-span", NUMBER, &options.first_span},
    {"--last-span", NUMBER, &options.last_span},
};

static void parse_options(char **argument)
{
    for (; *argument; argument++) {
        size_t i = 0, count = sizeof known_options / sizeof known_options[0];
        while (i < count && strcmp(known_options[i].name, *argument) != 0) {
            i++;
        }
        if (i == count || (known_options[i].kind != FLAG && !argument[1])) {
            die(EXIT_FAILURE, "unknown option");
        }
        if (known_options[i].kind == FLAG) {
            *(bool *)known_options[i].value = true;
        } else if (known_options[i].kind == TEXT) {
            *(const char **)known_options[i].value = *++argument;
        } else {
            *(unsigned *)known_options[i].value = (unsigned)strtoul(*++argument, NULL, 0);
        }
    }
}

static uint8_t *read_file(size_t file_bytes, size_t most)
{
    uint8_t *file = file_bytes <= most ? malloc(file_bytes) : NULL;
    if (!file) {
        die(EXIT_FAILURE, "there is not enough memory for the flash image and the parts");
    }
    for (size_t done = 0; done < file_bytes;) {
        const ssize_t count = read(STDIN_FILENO, file + done, file_bytes - done);
        if (count <= 0) {
            die(EXIT_FAILURE, "stdin ended before the flash image and the parts did");
        }
        done += (size_t)count;
    }
    return file;
}

const struct board_parts *board_parts;

static void attach_parts(void)
{
    const size_t count = options.parts_bytes;
    if (count > 0 &&
        !(board_parts && board_parts->read(read_file(count, PARTS_BYTES_MAX), count))) {
        die(EXIT_FAILURE, "the file of added parts is damaged");
    }
    if (board_parts && !board_parts->install()) {
        die(EXIT_CHIP, "the chip has no input for the sensor");
    }
}

static bool install_line(void)
{
    unsigned number;
    return sscanf(options.serial, "usart%u", &number) == 1 && usart_install(number);
}

int main(int argc, char **argv)
{
    signal(SIGINT, SIG_IGN);  /* the parent handles Ctrl-C, and then closes stdin */
    signal(SIGPIPE, SIG_IGN); /* write() reports a client that has disconnected */
    prctl(PR_SET_TIMERSLACK, 1);
    parse_options(argv + 1);
    const uint8_t *image = read_file(options.image_bytes, IMAGE_BYTES_MAX);
    answers = fdopen(dup(STDOUT_FILENO), "w");
    if (!freopen("/dev/null", "w", stdout)) { /* discard what simavr prints */
        die(EXIT_FAILURE, "there is no /dev/null");
    }
    if (!chip.mcu || !chip.clock_hz || !core_find()) {
        die(EXIT_CHIP, "simavr does not support the chip");
    }
    const char *refused = options.eeprom ? core_keep_eeprom(options.eeprom) : NULL;
    if (refused) {
        die(EXIT_EEPROM, refused);
    }
    if (!install_line()) {
        die(EXIT_CHIP, "the chip has no such serial line");
    }
    attach_parts();
    pins_watch_resets(); /* at a reset, simavr calls the newest first: parts hold pins after it */
    if (!core_make(&options.core, image, options.image_bytes)) {
        die(EXIT_CHIP, "the firmware is larger than the flash of the chip");
    }
    if (options.watch && !passes_watch(options.watch, options.first_span, options.last_span)) {
        die(EXIT_FAILURE, "the facts of the program are damaged");
    }
    if (!(options.pty ? pty_open() : tcp_open((uint16_t)options.port)) || !answers) {
        die(EXIT_USAGE, strerror(errno));
    }
    fprintf(answers, "{\"url\": \"%s\"}\n", link_url());
    fflush(answers);
    options.wire_speed ? run_at_wire_speed() : run_freely(options.unpaced, options.lockstep);
}
