#ifndef STACK_PAINT_H
#define STACK_PAINT_H

#include <stdint.h>

/* The most bytes of stack that a prediction took, interrupts included. */
uint16_t stack_peak(void);

#endif
