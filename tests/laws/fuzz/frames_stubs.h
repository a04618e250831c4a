/* In place of the chip: what the firmware's decoder and commands use of it, on the host. Included first,
 * with the names that keep the chip's own headers out.
 */
#ifndef FRAMES_STUBS_H
#define FRAMES_STUBS_H

#define UART_H
#define CYCLE_COUNTER_H
#define WATCHDOG_H
#define BUSY_PIN_H
#define STACK_PAINT_H

#include <stdint.h>

#define F_CPU 16000000L
#define UART_WINDOW_BYTES 56u

void uart_send(uint8_t byte);
static inline uint16_t uart_overruns(void) { return 3; }
static inline uint8_t uart_before_computing(void) { return 0; }
static inline uint16_t uart_cycles_since(uint8_t before) { return before; }

/* Each span takes as many cycles. */
#define CYCLE_SPAN_IS(name) (void)0
static inline uint16_t cycle_span_begin(void) { return 0; }
static inline uint16_t cycle_span_end(void) { return 7; }
static inline uint16_t cycle_span(uint16_t start, uint16_t end) { return (uint16_t)(end - start); }
static inline void cycle_long_span_prepare(void) {}
static inline uint32_t cycle_long_span(uint16_t start, uint16_t end) { return (uint32_t)end - start; }

static const uint8_t watchdog_cause = 2;
static inline uint16_t watchdog_resets(void) { return 1; }
static inline void watchdog_feed(void) {}
static inline void busy_pin_on(void) {}
static inline void busy_pin_off(void) {}
static inline uint16_t stack_peak(void) { return 99; }

#endif
