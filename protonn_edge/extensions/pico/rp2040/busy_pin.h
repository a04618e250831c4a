/* A pin that is high while a prediction is computed, for an oscilloscope or the like: GP2. */
#ifndef BUSY_PIN_H
#define BUSY_PIN_H

#include "chip.h"

#define BUSY_PIN 2u

static inline void busy_pin_start(void)
{
    GPIO_OE_SET = BIT(BUSY_PIN);
    GPIO_CTRL(BUSY_PIN) = FUNCTION_SIO;
}
static inline void busy_pin_on(void) { GPIO_OUT_SET = BIT(BUSY_PIN); }
static inline void busy_pin_off(void) { GPIO_OUT_CLR = BIT(BUSY_PIN); }

#endif
