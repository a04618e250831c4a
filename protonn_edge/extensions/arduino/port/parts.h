/* The parts of the model's firmware, and how this one measures. */
#ifndef PARTS_H
#define PARTS_H

#include "bench.h"
#include "generated/parts.h"

#define PARTS(hook) MODEL_PARTS(hook) hook(bench)

#endif
