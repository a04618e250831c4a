/* One prediction from features that arrive one by one, and the cycles that it took. */
#ifndef PREDICTION_H
#define PREDICTION_H

#include <stdbool.h>
#include <stdint.h>

/* Start anew; what came before is forgotten, whether it was finished or not. */
void prediction_begin(void);

/* Take the next feature; what exceeds PNN_FEATURES is ignored. */
void prediction_push(uint8_t feature);

/* Whether a feature exceeded PNN_INPUT_MAXIMUM: then the class is worth nothing. */
bool prediction_out_of_range(void);

/* The class, once all features were pushed. */
uint8_t prediction_finish(void);

/* Cycles of the last prediction: pnn_predict, or pnn_begin, all of pnn_push_many, pnn_finish. */
uint32_t prediction_cycles(void);

#endif
