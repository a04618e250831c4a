/* A pin that is high while a prediction is computed, for an oscilloscope or the like: PB0, which is
 * pin 8 of an Uno, or another pin of port B that the board's build flags name. It is not the pin of
 * the LED, whose current would be measured too.
 */
#ifndef BUSY_PIN_H
#define BUSY_PIN_H

#include <avr/io.h>

#ifndef BUSY_PIN
#define BUSY_PIN 0
#endif

static inline void busy_pin_start(void) { DDRB |= _BV(BUSY_PIN); }
static inline void busy_pin_on(void) { PORTB |= _BV(BUSY_PIN); }
static inline void busy_pin_off(void) { PORTB &= (uint8_t)~_BV(BUSY_PIN); }

#endif
