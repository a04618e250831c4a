/* What the device answers to what: protocol v1 as PROTOCOL.md specifies it. */
#ifndef REQUESTS_H
#define REQUESTS_H

#include <stdint.h>

/* `cause`: the reset cause (MCUSR) that STATS shall report. */
void requests_start(uint8_t cause);

/* Take one byte from the wire; where it completes a request, compute and send the reply. */
void requests_take(uint8_t wire);

#endif
