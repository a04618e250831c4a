#include "optimize_size.h"

#include "prediction.h"

#include "harness.h"
#include "replies.h"

#include "bench.h"
#include "stack_paint.h"

/* All features are held, and the class is computed when the last one has arrived.
 *
 * A prediction runs several times, and the fastest run counts: what the core's interrupts (USB, an
 * RTOS, milliseconds) and cold caches add is in the maximum of the first runs. Interrupts stay
 * enabled, because a prediction may take longer than some cores can wait. If the counter is coarser
 * than the clock, as micros() is, a run is as many predictions as give 100 of its steps.
 */

#define RUNS 3u
#define STEPS 100u
#define AT_MOST 4u /* 1 / AT_MOST seconds for such a run */
#define AT_ONCE 64u

/* What is painted below the frame of a function, and what is spared there. */
#ifdef __AVR__
#define PAINTED 160u
#define SPARED 0u
#elif defined(__XTENSA__)
#define PAINTED 1024u
#define SPARED 64u /* the caller's registers, if the core has windows of them */
#else
#define PAINTED 1024u
#define SPARED 32u
#endif
#define PAINT 0xC5u

static pnn_input_t held[PNN_FEATURES];
static uint16_t count;
static bool out_of_range;
static uint32_t cycles;
static uint32_t saturations;
static uint32_t reading; /* ticks between two readings of the counter */
static uint32_t step;    /* 0 if the counter stands still */
static uint32_t ratio = 1;
static uint32_t first_most;
static uint16_t peak;

void prediction_begin(void)
{
    count = 0;
    out_of_range = false;
}

void prediction_push(uint8_t feature)
{
    if (count == PNN_FEATURES) {
        return;
    }
    held[count++] = checked_feature(feature, &out_of_range, &saturations);
}

void prediction_calibrate(void)
{
    if (counter_hz() != harness_clock_hz()) {
        ratio = harness_clock_hz() / counter_hz();
    }
    reading = UINT32_MAX;
    step = UINT32_MAX;
    for (uint8_t i = 0; i != 8; i++) {
        const uint32_t start = counter_now();
        uint32_t next = counter_now();

        if (next - start < reading) {
            reading = next - start;
        }
        for (uint32_t left = 1000000; next == start && left != 0; left--) {
            next = counter_now();
        }
        if (next - start < step) {
            step = next - start;
        }
    }
}

static __attribute__((noinline)) void paint(void)
{
    volatile uint8_t *place = (volatile uint8_t *)__builtin_frame_address(0) - SPARED;

    for (uint16_t i = PAINTED; i != 0; i--) {
        *--place = PAINT;
    }
}

static __attribute__((noinline)) void look(void)
{
    const volatile uint8_t *place =
        (const volatile uint8_t *)__builtin_frame_address(0) - SPARED - PAINTED;
    uint16_t left = PAINTED;

    while (left != 0 && *place == PAINT) {
        place++;
        left--;
    }
    left += SPARED;
    if (left > peak) {
        peak = left;
    }
}

uint16_t stack_peak(void) { return peak; }

static uint32_t without_reading(uint32_t ticks) { return ticks > reading ? ticks - reading : 0; }

/* The ticks of one prediction. */
static uint32_t once(uint8_t *answer)
{
    const uint32_t start = counter_now();
    const uint8_t label = pnn_predict(held);
    const uint32_t end = counter_now();

    *answer = label;
    return without_reading(end - start);
}

/* The ticks of several predictions. */
static __attribute__((noinline)) uint32_t run(uint16_t n, uint8_t *answer)
{
    uint32_t start;

    if (n == 1) {
        return once(answer);
    }
    start = counter_now();
    do {
        *answer = pnn_predict(held);
    } while (--n != 0);
    return without_reading(counter_now() - start);
}

/* The cycles of each of n predictions; without 64 bits, for which some cores lack routines. */
static uint32_t cycles_of(uint32_t ticks, uint32_t n)
{
    const uint32_t each = ticks * ratio / n;

    return each != 0 ? each : 1;
}

/* For a meter: in one go, as far as watchdogs allow it. */
static uint8_t repeat(uint32_t left)
{
    uint8_t label = 0;

    cycles = 0;
    while (left != 0) {
        const uint16_t n = left > AT_ONCE ? AT_ONCE : (uint16_t)left;

        cycles += cycles_of(run(n, &label), 1);
        left -= n;
        harness_yield();
    }
    return label;
}

static uint8_t fastest(void)
{
    uint8_t label;
    uint16_t n = 1;
    uint32_t best;

    paint();
    best = run(1, &label);
    look();
    if (cycles_of(best, 1) > first_most) {
        first_most = cycles_of(best, 1);
    }
    if (ratio != 1) {
        while (best < STEPS * step && n < 0x8000 && best < counter_hz() / AT_MOST) {
            n *= 2;
            best = run(n, &label);
        }
    }
    for (uint8_t i = 1; i != RUNS; i++) {
        const uint32_t ticks = run(n, &label);

        if (ticks < best) {
            best = ticks;
        }
    }
    cycles = cycles_of(best, n);
    return label;
}

uint8_t prediction_finish(uint16_t repetitions)
{
    uint8_t label;

    harness_pin(1);
    label = repetitions == 1 ? fastest() : repeat(repetitions == 0 ? 65536u : repetitions);
    harness_pin(0);
    return label;
}

uint8_t bench_reply(union bench_payload *payload)
{
    payload->reply.facts = STACK_PAINTED;
    payload->reply.counter_hz = counter_hz();
    payload->reply.step = step > UINT16_MAX ? UINT16_MAX : (uint16_t)step;
    payload->reply.runs = RUNS;
    payload->reply.first_most = first_most;
    return sizeof payload->reply;
}

uint32_t prediction_saturations(void) { return saturations; }

bool prediction_out_of_range(void) { return out_of_range; }

uint32_t prediction_cycles(void) { return cycles; }
