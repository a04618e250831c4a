/* The serial protocol of the benchmark MLPerf Tiny, in place of the firmware's own requests.c.
 *
 * Commands end with '%'; replies are lines, the last one "m-ready". The input's bytes come in
 * hexadecimal. After "infer N W", a point is classified W times, then N times between two timestamps.
 * A timestamp is a line with microseconds or, with -DMLPERF_ENERGY, a pulse on PB1 (pin 9 of an Uno)
 * for the interface board that listens to the power meter.
 *
 * The result is a list with one number per class. The runner divides them by their sum and takes
 * the largest, so none may be negative: each is the difference from the lowest score, plus 1.
 */
#include "optimize_size.h"

#include "cycle_counter.h"
#include "prediction.h"
#include "requests.h"
#include "uart.h"
#include "watchdog.h"

#include <avr/io.h>
#include <avr/pgmspace.h>
#include <stdlib.h>
#include <string.h>

#if !PREDICTION_HOLDS_FEATURES
#error "MLPerf Tiny repeats a prediction: build a model whose features fit into the SRAM"
#endif
#if CYCLE_TIMER_BITS != 16
#error "MLPerf Tiny takes a timer of 16 bits"
#endif

#define TIMESTAMP_PIN 1
#define COMMAND_BYTES 80u
#define TICK_CYCLES 256u
#define BLOCK 100u
#define CYCLES_A_MICROSECOND (F_CPU / 1000000UL)

static char command[COMMAND_BYTES + 1];
static uint8_t length;
static uint16_t bytes_missing = PNN_FEATURES;
static uint32_t ticks; /* of the time between timestamps */

/* --- replies --------------------------------------------------------------------------------- */

static void print(const char *text)
{
    for (char letter; (letter = (char)pgm_read_byte(text)) != 0; text++) {
        uart_send((uint8_t)letter);
        watchdog_feed();
    }
}

#define PRINT(text) print(PSTR(text))

static void print_number(uint32_t number)
{
    char digits[11];

    ultoa(number, digits, 10);
    for (const char *digit = digits; *digit != 0; digit++) {
        uart_send((uint8_t)*digit);
    }
    watchdog_feed();
}

/* A line with a number in it. */
static void print_line(const char *before, uint32_t number, const char *after)
{
    print(before);
    print_number(number);
    print(after);
    PRINT("\r\n");
}

#define PRINT_LINE(before, number, after) print_line(PSTR(before), (number), PSTR(after))

static void timestamp(void)
{
#ifdef MLPERF_ENERGY
    PORTB &= (uint8_t)~_BV(TIMESTAMP_PIN);
    __builtin_avr_delay_cycles(2 * CYCLES_A_MICROSECOND);
    PORTB |= _BV(TIMESTAMP_PIN);
#else
    const uint32_t whole = ticks / CYCLES_A_MICROSECOND;
    const uint32_t rest = ticks % CYCLES_A_MICROSECOND;

    PRINT_LINE("m-lap-us-", whole * TICK_CYCLES + rest * TICK_CYCLES / CYCLES_A_MICROSECOND, "");
#endif
}

static void print_results(void)
{
    const pnn_score_t *scores = pnn_scores();
    pnn_score_t lowest = scores[0];

    for (uint8_t i = 1; i < PNN_CLASSES; i++) {
        if (scores[i] < lowest) {
            lowest = scores[i];
        }
    }
    PRINT("m-results-[");
    for (uint8_t i = 0; i < PNN_CLASSES; i++) {
        if (i != 0) {
            PRINT(",");
        }
        print_number((uint32_t)scores[i] - (uint32_t)lowest + 1);
    }
    PRINT("]\r\n");
}

/* --- commands -------------------------------------------------------------------------------- */

static int8_t digit_of(char letter)
{
    if (letter >= '0' && letter <= '9') {
        return (int8_t)(letter - '0');
    }
    letter = (char)(letter | 0x20);
    return letter >= 'a' && letter <= 'f' ? (int8_t)(letter - 'a' + 10) : -1;
}

static void load(const char *count)
{
    if (strtoul(count, NULL, 10) != PNN_FEATURES) {
        PRINT_LINE("e-[The model takes ", PNN_FEATURES, " bytes]");
        return;
    }
    prediction_begin();
    bytes_missing = PNN_FEATURES;
    PRINT_LINE("m-[Expecting ", PNN_FEATURES, " bytes]");
}

static void take_bytes(const char *digits)
{
    while (bytes_missing != 0 && *digits != 0) {
        const int8_t high = digit_of(digits[0]);
        const int8_t low = high < 0 ? -1 : digit_of(digits[1]);

        if (low < 0) {
            PRINT("e-[A byte has two hexadecimal digits]\r\n");
            return;
        }
        prediction_push((uint8_t)(high << 4 | low));
        digits += 2;
        if (--bytes_missing == 0) {
            PRINT("m-load-done\r\n");
        }
    }
}

/* Classify the point repeatedly. Timer0 overflows every 65,536 cycles, and a block takes less than
 * that besides its predictions, so Timer0 and the cycles of the predictions give the time. These
 * cycles exclude the interrupts at each overflow of the other timer. */
static void classify(uint32_t times)
{
    uint32_t done = prediction_cycles();
    uint8_t before = TCNT0;

    while (times != 0) {
        const uint8_t block = times < BLOCK ? (uint8_t)times : BLOCK;
        uint8_t now;
        uint32_t computed;

        prediction_finish(block);
        now = TCNT0;
        computed = prediction_cycles() - done;
        computed += (computed >> CYCLE_TIMER_BITS) * CYCLE_TIMER_INTERRUPT_CYCLES;
        computed /= TICK_CYCLES;
        ticks += computed + (uint8_t)(now - before - (uint8_t)computed);
        done = prediction_cycles();
        before = now;
        times -= block;
    }
}

static void infer(char *numbers)
{
    char *end;
    const long times = strtol(numbers, &end, 10);
    const long warmups = *end == 0 ? 10 : strtol(end, NULL, 10);

    if (times <= 0 || warmups < 0) {
        PRINT("e-[Inference iterations must be >0, warmups >=0]\r\n");
        return;
    }
    if (bytes_missing != 0 || prediction_out_of_range()) {
        PRINT_LINE("e-[An input has all its bytes, each at most ", PNN_INPUT_MAXIMUM, "]");
        return;
    }
    PRINT_LINE("m-warmup-start-", (uint32_t)warmups, "");
    classify((uint32_t)warmups);
    PRINT("m-warmup-done\r\n");
    PRINT_LINE("m-infer-start-", (uint32_t)times, "");
    timestamp();
    classify((uint32_t)times);
    timestamp();
    PRINT("m-infer-done\r\n");
    print_results();
}

static void obey(void)
{
    char *words = strchr(command, ' ');

    if (words == NULL) {
        words = command + length;
    } else {
        *words++ = 0;
    }
    if (strcmp_P(command, PSTR("name")) == 0) {
        PRINT("m-name-dut-[protonn-edge]\r\n");
    } else if (strcmp_P(command, PSTR("timestamp")) == 0) {
        timestamp();
    } else if (strcmp_P(command, PSTR("profile")) == 0) {
        PRINT("m-profile-[ULPMark for tinyML Firmware V0.0.1]\r\n");
        PRINT("m-model-[" MLPERF_TINY "]\r\n");
    } else if (strcmp_P(command, PSTR("results")) == 0) {
        print_results();
    } else if (strcmp_P(command, PSTR("infer")) == 0) {
        infer(words);
    } else if (strcmp_P(command, PSTR("help")) == 0) {
        PRINT("name, timestamp, profile, db load N, db HEX, infer N [W=10], results\r\n");
    } else if (strcmp_P(command, PSTR("db")) != 0) {
        PRINT("e-[Unknown command]\r\n");
    } else if (strncmp_P(words, PSTR("load "), 5) == 0) {
        load(words + 5);
    } else {
        take_bytes(words);
    }
    PRINT("m-ready\r\n");
}

/* --- the interface of requests.h -------------------------------------------------------------- */

/* Start the clock and the pin, before the first command. No line is sent at the start: a board that
 * is reset when its port is opened would send it after the runner's first command, and the runner
 * would take it for the reply. */
static void start(void)
{
    TCCR0B = _BV(CS02); /* a tick every 256 cycles */
    PORTB |= _BV(TIMESTAMP_PIN); /* first, so that the pin never falls */
    DDRB |= _BV(TIMESTAMP_PIN);
    prediction_begin();
}

void requests_take(uint8_t wire)
{
    static uint8_t started;

    if (!started) {
        start();
        started = 1;
    }
    if (wire == '%') {
        command[length] = 0;
        obey();
        length = 0;
    } else if (length < COMMAND_BYTES) {
        command[length++] = (char)wire;
    }
}
