/* Answer each point with all labels in order, and after each label whether the point has it. */
#include "../../answer_loop.h"

static void give_answer(void)
{
    uint8_t labels[PNN_CLASSES];
    const uint8_t count = pnn_top(PNN_CLASSES, labels);
    for (uint8_t i = 0; i < count; ++i) {
        uint8_t best[3] = {255, 255, 255};
        const uint8_t three = pnn_top(i < 3 ? i : 3, best);
        for (uint8_t j = 0; j < three; ++j) {
            if (best[j] != labels[j]) {
                labels[i] = 254; /* the best three differ from the first three of all */
            }
        }
        give(labels[i]);
        give(pnn_has_label(labels[i]));
    }
    give(pnn_has_label(PNN_CLASSES));
}
