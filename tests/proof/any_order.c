/*
 * Calls of all functions in any order, with any counts, indexes, sizes and values. Each array that is
 * passed is as long as it must be and no longer.
 */
#include "pnn_model.h"

#include "__fc_builtin.h"

static uint8_t any_byte(void) { return Frama_C_unsigned_char_interval(0, 255); }
static uint16_t any_word(void) { return (uint16_t)Frama_C_unsigned_int_interval(0, 65535u); }

static volatile float any_float;

/* Push `count` features, which are all that can be read. */
#define PUSH(count)                                                                                \
    do {                                                                                           \
        static pnn_input_t some[count];                                                            \
        Frama_C_make_unknown((char *)some, count);                                                 \
        pnn_push_many(some, count);                                                                \
    } while (0)

static void push_some(void)
{
    static pnn_input_t many[65535u];
    switch (any_byte()) {
    case 0: PUSH(1u); break;
    case 1: PUSH(2u); break;
    case 2: PUSH(7u); break;
    case 3: PUSH(PNN_FEATURES); break;
    case 4: PUSH(PNN_FEATURES + 1u); break;
    case 5: pnn_push_many(many, 0); break;
    default:
        Frama_C_make_unknown((char *)many, sizeof many);
        pnn_push_many(many, any_word());
        break;
    }
}

static void predict(void)
{
    static pnn_input_t features[PNN_FEATURES];
    Frama_C_make_unknown((char *)features, PNN_FEATURES);
    pnn_predict(features);
}

static void name(void)
{
    static char one[1], some[7], many[255];
    switch (any_byte()) {
    case 0: pnn_class_name(any_byte(), one, 0); break;
    case 1: pnn_class_name(any_byte(), one, sizeof one); break;
    case 2: pnn_class_name(any_byte(), some, sizeof some); break;
    default: pnn_class_name(any_byte(), many, any_byte()); break;
    }
}

int main(void)
{
    for (;;) {
        switch (any_byte()) {
        case 0: pnn_begin(); break;
        case 1: pnn_push(any_byte()); break;
        case 2: push_some(); break;
        case 3: pnn_finish(); break;
        case 4: predict(); break;
        case 5: name(); break;
        case 6: pnn_quantize(any_word(), (int16_t)any_word()); break;
        case 7: pnn_quantize_float(any_word(), any_float); break;
        case 8: pnn_model_hash(any_byte()); break;
        case 9: pnn_scores(); break;
#ifdef CONFIDENCE
        case 10: pnn_confidence(); break;
#endif
#ifdef ONSET
        case 11: pnn_onset(any_byte()); break;
#endif
        default: return 0;
        }
    }
}
