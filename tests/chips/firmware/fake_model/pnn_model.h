/* A model that anyone can compute in the head, written by hand: it stands in for a generated one
 * where the firmware itself is tested. The score of class c is (c + 1) * sum of the features less
 * c * c * FAKE_BEND; the class is the first with the highest score.
 *
 * FAKE_PUSH_DELAY (cycles a feature), FAKE_FINISH_DELAY (cycles) and FAKE_FINISH_REPEATS make it as
 * slow as a test wants it to be, FAKE_FINISH_VARIES adds about 3 cycles for each 1 of the sum modulo
 * 256. FAKE_HANGS_AT is a sum at which it never ends, with interrupts disabled if FAKE_HANG_MASKED is 1.
 * FAKE_NOTHING leaves out all that a model does, to see what the firmware is without one.
 */
#ifndef PNN_MODEL_H
#define PNN_MODEL_H

#include <stdint.h>

#ifndef FAKE_API_VERSION
#define FAKE_API_VERSION 1
#endif
#ifndef FAKE_FEATURES
#define FAKE_FEATURES 4u
#endif
#ifndef FAKE_CLASSES
#define FAKE_CLASSES 3u
#endif
#ifndef FAKE_PROJECTIONS
#define FAKE_PROJECTIONS 2u
#endif
#ifndef FAKE_INPUT_MAXIMUM
#define FAKE_INPUT_MAXIMUM 255u
#endif
#ifndef FAKE_SCORE_TYPE
#define FAKE_SCORE_TYPE int32_t
#endif
#ifndef FAKE_BEND
#define FAKE_BEND 200
#endif
#ifndef FAKE_FINISH_REPEATS
#define FAKE_FINISH_REPEATS 1u
#endif

#define PNN_API_VERSION FAKE_API_VERSION
#define PNN_FEATURES FAKE_FEATURES
#define PNN_CLASSES FAKE_CLASSES
#define PNN_PROJECTIONS FAKE_PROJECTIONS
#define PNN_PROTOTYPES 1u
#define PNN_INPUT_MAXIMUM FAKE_INPUT_MAXIMUM
#ifndef PNN_CHUNK_FEATURES
#define PNN_CHUNK_FEATURES (PNN_FEATURES > 32u ? 32u : PNN_FEATURES - 1u) /* streaming */
#endif
#define PNN_MODEL_HASH_BYTES 8

typedef uint8_t pnn_input_t;
typedef FAKE_SCORE_TYPE pnn_score_t;

void pnn_begin(void);
void pnn_push(pnn_input_t feature);
void pnn_push_many(const pnn_input_t *features, uint16_t count);
uint8_t pnn_finish(void);
uint8_t pnn_predict(const pnn_input_t *features);
const pnn_score_t *pnn_scores(void);
uint8_t pnn_model_hash(uint8_t index);

#endif
