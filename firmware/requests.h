/* How the device answers requests: protocol v2 as PROTOCOL.md specifies it or, with
 * -DMLPERF_TINY="TASK", the protocol of that benchmark. */
#ifndef REQUESTS_H
#define REQUESTS_H

#include <stdint.h>

#ifdef MLPERF_TINY
/* Start the benchmark's clock. */
void requests_start(void);
#endif

/* Process one byte from the wire; if it completes a request, compute and send the reply. */
void requests_take(uint8_t wire);

#endif
