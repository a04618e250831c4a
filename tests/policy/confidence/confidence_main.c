/* Classify points and give how sure each answer is: a byte of per cent. */
#include "../../answer_loop.h"

static void give_answer(void) { give(pnn_confidence()); }
