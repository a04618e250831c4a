/*
 * Predict a number for each point: PNN_FEATURES bytes in, the four bytes of pnn_value() out, the last
 * one first. Over the serial line on an AVR, else from standard input to standard output.
 */
#include "pnn_model.h"

#include "../../byte_stream.h"

int main(void)
{
    start();
    for (;;) {
        pnn_begin();
        for (uint16_t i = 0; i < PNN_FEATURES; ++i) {
            const int input = take();
            if (input < 0) {
                return 0;
            }
            pnn_push((pnn_input_t)input);
        }
        (void)pnn_finish();
        const uint32_t value = (uint32_t)pnn_value();
        for (uint8_t shift = 0; shift < 32; shift = (uint8_t)(shift + 8)) {
            give((uint8_t)(value >> shift));
        }
    }
}
