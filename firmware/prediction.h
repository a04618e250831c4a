/* One prediction from features that arrive one by one, and the cycles that it took. */
#ifndef PREDICTION_H
#define PREDICTION_H

#include "model.h"

#include <stdbool.h>
#include <stdint.h>

/* Whether the model's plan is to hold all features of a prediction before anything is computed. */
#define PREDICTION_HOLDS_FEATURES (PNN_CHUNK_FEATURES >= PNN_FEATURES)

/* With -DPNN_RAW_INPUTS a feature arrives as a raw int16, low byte first, and becomes an input by
 * pnn_quantize, as in a sketch: 'protonn-edge verify' and 'hil' check the library so, on the emulated
 * board. To a host such firmware has twice as many features of a byte each. */
#ifdef PNN_RAW_INPUTS
#define PREDICTION_BYTES (2u * PNN_FEATURES)
#else
#define PREDICTION_BYTES PNN_FEATURES
#endif

/* Start a prediction; an earlier one is dropped, whether it was finished or not. */
void prediction_begin(void);

/* Take the next feature, or the next byte of one; what exceeds PREDICTION_BYTES is ignored. */
void prediction_push(uint8_t feature);

/* Whether a feature exceeded PNN_INPUT_MAXIMUM: then the class is worth nothing. */
bool prediction_out_of_range(void);

/* The class, once all features were pushed. It is computed that many times (0: 65,536 times), more than
 * once only where PREDICTION_HOLDS_FEATURES. The meter's pin is high meanwhile. */
uint8_t prediction_finish(uint16_t repetitions);

/* Features at PNN_INPUT_MAXIMUM since reset: those that the host cut off there are among them. */
uint32_t prediction_saturations(void);

/* Cycles of the last prediction, all repetitions of it: pnn_predict, or pnn_begin, all of
 * pnn_push_many, pnn_finish. */
uint32_t prediction_cycles(void);

#endif
