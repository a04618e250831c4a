/*
 * The main function of a program that answers points: PNN_FEATURES bytes in, and out what give_answer()
 * gives, which the program defines after it has included this.
 */
#include "pnn_model.h"

#include "byte_stream.h"

static void give_answer(void);

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
        give_answer();
    }
}
