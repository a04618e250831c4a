/* What the firmware needs of an Arduino core. */
#ifndef HARNESS_H
#define HARNESS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The clock of the core in hertz; 0 if the counter counts instructions, which have no time. */
uint32_t harness_clock_hz(void);

/* Set the pin that is high during predictions, if there is one. */
void harness_pin(uint8_t high);

/* Let the core's other tasks run, which feed the watchdogs of some boards. */
void harness_yield(void);

/* A counter, and its ticks in a second: those of the clock, or 1,000,000. */
void counter_start(void);
uint32_t counter_now(void);
uint32_t counter_hz(void);

/* Measure what reading the counter takes, and its step. */
void prediction_calibrate(void);

#ifdef __cplusplus
}
#endif
#endif
