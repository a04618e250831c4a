/* The generated model, and the clock. */
#ifndef MODEL_H
#define MODEL_H

#include "generated/pnn_model.h"

#include "clock.h"
#define PREDICTION_HOLDS_FEATURES 1

#endif
