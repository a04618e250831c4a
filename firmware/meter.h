/* A pin that is high while a prediction is computed, so that a meter or an oscilloscope can be used:
 * pin 8 of an Uno, and not the one with the light on it, which would be metered too.
 */
#ifndef METER_H
#define METER_H

#include <avr/io.h>

static inline void meter_start(void) { DDRB |= _BV(DDB0); }
static inline void meter_on(void) { PORTB |= _BV(PORTB0); }
static inline void meter_off(void) { PORTB &= (uint8_t)~_BV(PORTB0); }

#endif
