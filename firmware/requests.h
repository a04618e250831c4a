/* What the device answers to what: protocol v2 as PROTOCOL.md specifies it. */
#ifndef REQUESTS_H
#define REQUESTS_H

#include <stdint.h>

/* Take one byte from the wire; where it completes a request, compute and send the reply. */
void requests_take(uint8_t wire);

#endif
