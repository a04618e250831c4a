/* What the device answers to what: protocol v2 as PROTOCOL.md specifies it, or with -DMLPERF_TINY=MODEL
 * the protocol of that benchmark. */
#ifndef REQUESTS_H
#define REQUESTS_H

#include <stdint.h>

#ifdef MLPERF_TINY
/* Start the clock of the benchmark. */
void requests_start(void);
#endif

/* Take one byte from the wire; where it completes a request, compute and send the reply. */
void requests_take(uint8_t wire);

#endif
