/* The generated model, and a clear word where it is missing or made for another firmware. */
#ifndef MODEL_H
#define MODEL_H

#if defined(__has_include)
#if !__has_include("generated/pnn_model.h")
#error "No model yet: run `protonn-edge build --board uno model.npz`"
#endif
#endif
#include "generated/pnn_model.h"

#if PNN_API_VERSION != 1
#error "Regenerate firmware/generated with `protonn-edge build`"
#endif

/* What protocol v1 can carry: the class in a byte, a body's length in 16 bits. */
#if PNN_CLASSES > 255 || PNN_FEATURES > 65000
#error "Protocol v1 carries at most 255 classes and 65,000 features"
#endif

#endif
