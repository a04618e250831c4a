/* How the device answers requests, as PROTOCOL.md specifies. */
#ifndef REQUESTS_H
#define REQUESTS_H

#include <stdint.h>

/* Process one byte from the wire; if it completes a request, compute and send the reply. */
void requests_take(uint8_t wire);

#endif
