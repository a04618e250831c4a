/* How deep the stack ever went: free SRAM is painted at reset, and the paint that is left counted.
 */
#ifndef STACK_PAINT_H
#define STACK_PAINT_H

#include <stdint.h>

/* Bytes between the deepest point that the stack reached and the end of SRAM. */
uint16_t stack_peak(void);

#endif
