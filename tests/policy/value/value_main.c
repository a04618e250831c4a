/* Predict a number for each point: the four bytes of pnn_value(), the last one first. */
#include "../../answer_loop.h"

static void give_answer(void)
{
    const uint32_t value = (uint32_t)pnn_value();
    for (uint8_t shift = 0; shift < 32; shift = (uint8_t)(shift + 8)) {
        give((uint8_t)(value >> shift));
    }
}
