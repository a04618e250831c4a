/* The generated model, and a clear error if it is missing or was made for other firmware. */
#ifndef MODEL_H
#define MODEL_H

#if defined(__has_include)
#if !__has_include("generated/pnn_model.h")
#error "No model yet: run `protonn-edge build model.npz`"
#endif
#endif
#include "generated/pnn_model.h"

#if PNN_API_VERSION != 1
#error "Model and firmware are of different versions: remove firmware/ and run protonn-edge build"
#endif

/* PlatformIO passes it to the compiler, from the board's description. */
#ifndef F_CPU
#error "Define F_CPU, the clock in hertz"
#endif

/* Limits of protocol v2: a class is one byte, and the length of a body has 16 bits. */
#if PNN_CLASSES > 255 || PNN_FEATURES > 65000
#error "Protocol v2 carries at most 255 classes and 65,000 features"
#endif

#endif
