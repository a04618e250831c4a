/*
 * Turn raw integers into inputs: four bytes in, feature and raw value in 16 little-endian bits each;
 * one byte out. With RAW_FLOATS turn raw floats: six bytes in, the feature and a float. Over the serial line on an AVR, else from standard input to standard output.
 */
#include "pnn_model.h"

#include <string.h>

#include "../byte_stream.h"

static uint16_t take_word(void)
{
    const uint16_t low = (uint16_t)take();
    return (uint16_t)(low | (uint16_t)take() << 8);
}

int main(void)
{
    start();
    for (;;) {
        const int low = take();
        if (low < 0) {
            return 0;
        }
        const uint16_t feature = (uint16_t)((uint16_t)low | (uint16_t)take() << 8);
#ifdef RAW_FLOATS
        const uint32_t lower = take_word();
        const uint32_t bits = lower | (uint32_t)take_word() << 16;
        float raw;
        memcpy(&raw, &bits, sizeof raw);
        give(pnn_quantize_float(feature, raw));
#else
        give(pnn_quantize(feature, (int16_t)take_word()));
#endif
    }
}
