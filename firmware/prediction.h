/* Computes a prediction from features that arrive one by one, and counts its cycles. */
#ifndef PREDICTION_H
#define PREDICTION_H

#include "model.h"

#include <stdbool.h>
#include <stdint.h>

/* Whether all features are held before anything is computed: if the model's plan holds them, unless
 * the compiler's flags define it. */
#ifndef PREDICTION_HOLDS_FEATURES
#define PREDICTION_HOLDS_FEATURES (PNN_CHUNK_FEATURES >= PNN_FEATURES)
#endif

/* Return a feature, or 0 for one that is too large; note that, and features at the maximum. */
static inline pnn_input_t checked_feature(uint8_t feature, bool *out_of_range,
                                          uint32_t *saturations)
{
#if PNN_INPUT_MAXIMUM < 255
    if (feature > PNN_INPUT_MAXIMUM) {
        *out_of_range = true;
        feature = 0; /* sums are proven not to overflow only for features up to the maximum */
    }
#else
    (void)out_of_range;
#endif
    if (feature == PNN_INPUT_MAXIMUM) {
        ++*saturations;
    }
    return feature;
}

/* Start a prediction; an earlier one is discarded, finished or not. */
void prediction_begin(void);

/* Take the next feature; those beyond PNN_FEATURES are ignored. */
void prediction_push(uint8_t feature);

/* Whether a feature exceeded PNN_INPUT_MAXIMUM, which makes the class meaningless. */
bool prediction_out_of_range(void);

/* Return the class, after all features were pushed. It is computed `repetitions` times (0: 65,536
 * times), more than once only if PREDICTION_HOLDS_FEATURES. The busy pin is high during that
 * time. */
uint8_t prediction_finish(uint16_t repetitions);

/* The number of features at PNN_INPUT_MAXIMUM since reset, which includes those that the host
 * clamped. */
uint32_t prediction_saturations(void);

/* Cycles of the last prediction, for all its repetitions: of pnn_predict, or of pnn_begin, all
 * calls of pnn_push_many, and pnn_finish. */
uint32_t prediction_cycles(void);

#endif
