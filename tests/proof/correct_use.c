/*
 * Predictions as the header describes them: any number of them, each fed in any way, of every input
 * that a model may be given.
 */
#include "pnn_model.h"

#include "__fc_builtin.h"

#define PART 7u

static pnn_input_t features[PNN_FEATURES];
static char name[12];

static uint16_t any(uint16_t limit) { return (uint16_t)Frama_C_unsigned_int_interval(0, limit - 1u); }

static volatile float any_float;

static void draw(void)
{
    //@ loop unroll PNN_FEATURES;
    for (uint16_t i = 0; i < PNN_FEATURES; ++i) {
        features[i] = Frama_C_unsigned_char_interval(0, PNN_INPUT_MAXIMUM);
    }
}

static void push_parts(uint16_t count)
{
    uint16_t i = 0;
    //@ loop unroll PNN_FEATURES / PART + 1;
    for (; count - i > PART; i += PART) {
        pnn_push_many(&features[i], PART);
    }
    pnn_push_many(&features[i], count - i);
}

static uint8_t classify(void)
{
    switch (any(5)) {
    case 0:
        return pnn_predict(features);
    case 1:
        pnn_begin();
        //@ loop unroll PNN_FEATURES;
        for (uint16_t i = 0; i < PNN_FEATURES; ++i) {
            pnn_push(features[i]);
        }
        return pnn_finish();
    case 2:
        pnn_begin();
        push_parts(PNN_FEATURES);
        return pnn_finish();
    case 3: /* the others count as 0 */
        pnn_begin();
        push_parts(PNN_FEATURES / 2u);
        return pnn_finish();
    default: /* an unfinished one is forgotten */
        pnn_begin();
        pnn_push_many(features, PNN_FEATURES / 3u);
        return pnn_predict(features);
    }
}

int main(void)
{
    while (any(2)) {
        draw();
        pnn_class_name(classify(), name, sizeof name);
        pnn_quantize(any(PNN_FEATURES), (int16_t)Frama_C_int_interval(INT16_MIN, INT16_MAX));
        pnn_quantize_float(any(PNN_FEATURES), any_float);
        pnn_model_hash((uint8_t)any(PNN_MODEL_HASH_BYTES));
#ifdef CONFIDENCE
        pnn_confidence();
#endif
#ifdef ONSET
        pnn_onset((uint8_t)any(256));
#endif
    }
    return 0;
}
