#include "pnn_model.h"

#if defined(__AVR__)
#include <avr/pgmspace.h>
#include <util/delay_basic.h>
#define FLASH PROGMEM
#define READ(address) pgm_read_byte(address)
#define WAIT(cycles) _delay_loop_2((uint16_t)((cycles) / 4ul))
#else
#define FLASH
#define READ(address) (*(address))
#define WAIT(cycles)
#endif

static const uint8_t hash[PNN_MODEL_HASH_BYTES] FLASH = {0xFA, 0xCE, 0x00, 0x01,
                                                         0x02, 0x03, 0x04, 0x05};

uint8_t pnn_model_hash(uint8_t index) { return READ(&hash[index]); }

#if defined(FAKE_NOTHING)

void pnn_begin(void) {}
void pnn_push_many(const pnn_input_t *features, uint16_t count) { (void)features, (void)count; }
uint8_t pnn_finish(void) { return 0; }
uint8_t pnn_predict(const pnn_input_t *features) { return (void)features, 0; }
const pnn_score_t *pnn_scores(void) { return 0; }

#else

static int32_t sum;
static pnn_score_t scores[PNN_CLASSES];

void pnn_begin(void) { sum = 0; }

void pnn_push(pnn_input_t feature)
{
#if defined(FAKE_PUSH_DELAY)
    WAIT(FAKE_PUSH_DELAY);
#endif
    sum += feature;
}

void pnn_push_many(const pnn_input_t *features, uint16_t count)
{
    while (count-- != 0) {
        pnn_push(*features++);
    }
}

uint8_t pnn_finish(void)
{
    uint8_t best = 0;

    for (int32_t c = 0; c < (int32_t)PNN_CLASSES; c++) {
        scores[c] = (pnn_score_t)((c + 1) * sum - c * c * FAKE_BEND);
        if (scores[c] > scores[best]) {
            best = (uint8_t)c;
        }
    }
#if defined(FAKE_FINISH_DELAY)
    for (uint16_t i = 0; i < FAKE_FINISH_REPEATS; i++) {
        WAIT(FAKE_FINISH_DELAY);
    }
#endif
#if defined(FAKE_HANGS_AT)
    if (sum == FAKE_HANGS_AT) {
        if (FAKE_HANG_MASKED) {
            __asm__ volatile("cli");
        }
        for (;;) {
        }
    }
#endif
#if defined(FAKE_FINISH_VARIES)
    if ((uint8_t)sum != 0) {
        _delay_loop_1((uint8_t)sum);
    }
    if (sum & 0x100) {
        __asm__ volatile("nop");
    }
#endif
    return best;
}

uint8_t pnn_predict(const pnn_input_t *features)
{
    pnn_begin();
    pnn_push_many(features, PNN_FEATURES);
    return pnn_finish();
}

const pnn_score_t *pnn_scores(void) { return scores; }

#endif
