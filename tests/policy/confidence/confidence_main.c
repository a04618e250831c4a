/*
 * Classify points and give how sure each answer is: PNN_FEATURES bytes in, a byte of per cent out.
 * Over the serial line on an AVR, else from standard input to standard output.
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
        give(pnn_confidence());
    }
}
