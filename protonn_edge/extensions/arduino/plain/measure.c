/* The port of the measuring firmware to a program with two functions for its serial line. */
#include "measure.h"

#include "harness.h"
#include "requests.h"
#include "uart.h"

#include <stdbool.h>

#ifndef MEASURE_CLOCK_HZ
#ifndef F_CPU
#error define MEASURE_CLOCK_HZ, the clock of the CPU in hertz
#endif
#define MEASURE_CLOCK_HZ F_CPU
#endif

#ifdef MEASURE_TICKS
void counter_start(void) {}
uint32_t counter_now(void) { return (uint32_t)MEASURE_TICKS(); }
#else
#include "counter.h"
#define MEASURE_TICKS_HZ MEASURE_CLOCK_HZ
#ifdef COUNTER_MISSING
#error define MEASURE_TICKS() and MEASURE_TICKS_HZ: this chip has no counter of cycles that is known
#endif
#endif

uint32_t counter_hz(void) { return MEASURE_TICKS_HZ; }

uint32_t harness_clock_hz(void) { return MEASURE_CLOCK_HZ; }

void harness_pin(uint8_t high) { (void)high; }

void harness_yield(void) {}

void uart_send(uint8_t byte) { pnn_measure_send(byte); }

void pnn_measure(void)
{
    static bool begun;
    int byte;

    if (!begun) {
        begun = true;
        counter_start();
        prediction_calibrate();
    }
    while ((byte = pnn_measure_receive()) >= 0) {
        requests_take((uint8_t)byte);
    }
}
