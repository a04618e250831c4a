/* The maximum depth of the stack: its memory is painted at reset, and the remaining paint is
 * counted.
 */
#ifndef STACK_PAINT_H
#define STACK_PAINT_H

#include <stdint.h>

/* Paint the memory below the caller's frame. */
void stack_paint(void);

/* The number of bytes between the deepest point that the stack reached and its beginning. */
uint16_t stack_peak(void);

#endif
