/* A pin that is high while a prediction is computed, for a meter or an oscilloscope: PB0, which is
 * pin 8 of an Uno, or another pin of port B that the board's build flags name. It is not the pin of
 * the LED, whose current would be measured too.
 */
#ifndef METER_H
#define METER_H

#include <avr/io.h>

#ifndef METER_PIN
#define METER_PIN 0
#endif

static inline void meter_start(void) { DDRB |= _BV(METER_PIN); }
static inline void meter_on(void) { PORTB |= _BV(METER_PIN); }
static inline void meter_off(void) { PORTB &= (uint8_t)~_BV(METER_PIN); }

#endif
