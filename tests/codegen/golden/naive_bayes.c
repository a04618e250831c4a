/* ---- Naive bayes: constants and variables ------------------------------------------------- */

#define NAIVE_BAYES_SCORES 3u
#define NAIVE_BAYES_INPUTS 4u

/* For each class its bias, then the mean and weight of each input; lower bytes first. */
static const uint8_t naive_bayes_table[] PNN_FLASH = {
    88, 2, 0, 0, 0, 255, 255, 40, 1, 0, 252, 0, 0, 17, 44, 1,
    98, 255, 255, 255, 100, 7, 0, 255, 0, 0, 3, 255, 255, 128, 208, 7,
    64, 156, 0, 0, 9, 1, 0, 9, 2, 0, 9, 3, 0, 9, 4, 0,
};

static pnn_score_t naive_bayes_scores[NAIVE_BAYES_SCORES];

static pnn_input_t naive_bayes_inputs[NAIVE_BAYES_INPUTS]; /* the inputs pushed so far */

/* ---- Naive bayes: functions --------------------------------------------------------------- */

#ifdef PNN_ASSEMBLY
static PNN_NOINLINE void naive_bayes_score(const pnn_input_t *values)
{
    const uint8_t *next = naive_bayes_table;
    pnn_score_t *score = naive_bayes_scores;
    uint8_t classes = NAIVE_BAYES_SCORES;
    __asm__ volatile(
        clr r12
        ".Lclass_%=:\n"
        "    " PASSED(naive_bayes_class, 3, 3) "movw  r26, %[values]\n"
        lpm r18, Z+; lpm r19, Z+; lpm r20, Z+; lpm r21, Z+; ldi r24, 4
        ".Lterm_%=:\n"
        "    " PASSED(naive_bayes_term, 12, 12) "ld    r22, X+\n"
        lsl r22; lsl r22
        "    lpm   r23, Z+\n" /* the mean */
        sub r22, r23; brcc .Lpositive_%=; neg r22
        ".Lpositive_%=:\n"
        mul r22, r22; movw r22, r0
        "    lpm   r16, Z+\n" /* the weight */
        lpm r17, Z+; mul r22, r16
        "    mov   r13, r1\n" /* without the lowest byte */
        mul r23, r17; movw r14, r0; mul r22, r17; add r13, r0; adc r14, r1; adc r15, r12;
        mul r23, r16; add r13, r0; adc r14, r1; adc r15, r12; sub r18, r13; sbc r19, r14;
        sbc r20, r15; sbc r21, r12; dec r24; brne .Lterm_%=
        ".Lclassified_%=:\n"
        movw r26, %[scores]; st X+, r18; st X+, r19; st X+, r20; st X+, r21; movw %[scores], r26;
        dec %[classes]; brne .Lclass_%=; clr r1
        : "+&z"(next), [scores] "+&r"(score), [classes] "+&r"(classes)
        : [values] "r"(values)
        : "memory", "r0", "r12", "r13", "r14", "r15", "r16", "r17", "r18", "r19", "r20", "r21", "r22", "r23", "r24", "r25", "r26", "r27");
}
#else
static void naive_bayes_score(const pnn_input_t *values)
{
    const uint8_t *next = naive_bayes_table;
    //@ loop unroll NAIVE_BAYES_SCORES;
    for (uint8_t l = 0; l < NAIVE_BAYES_SCORES; ++l) {
        uint32_t sum = PNN_READ_U8(next) | (uint16_t)PNN_READ_U8(next + 1) << 8 |
                       (uint32_t)PNN_READ_U8(next + 2) << 16 | (uint32_t)PNN_READ_U8(next + 3) << 24;
        next += 4;
        //@ loop unroll NAIVE_BAYES_INPUTS;
        for (uint8_t i = 0; i < NAIVE_BAYES_INPUTS; ++i, next += 3) {
            const uint8_t x = (uint8_t)(values[i] << 2), mean = PNN_READ_U8(next);
            const uint8_t distance = (uint8_t)(x > mean ? x - mean : mean - x);
            const uint16_t weight = (uint16_t)(PNN_READ_U8(next + 1) | (uint16_t)PNN_READ_U8(next + 2) << 8);
            sum -= (uint32_t)(uint16_t)((uint16_t)distance * distance) * weight >> 8;
        }
        naive_bayes_scores[l] = (pnn_score_t)sum;
    }
}
#endif

/* Copy `count` values, at least one. */
static void naive_bayes_copy(uint16_t next, const pnn_input_t *values, uint16_t count)
{
#ifdef PNN_ASSEMBLY
    pnn_input_t *to = &naive_bayes_inputs[next];
    __asm__ volatile(
        ".Lcopied_%=: " PASSED(naive_bayes_copied, 4, 4) "ld    r0, X+\n"
        st Z+, r0; subi %A[count], 1; sbci %B[count], 0; brne .Lcopied_%=
        : "+z"(to), "+x"(values), [count] "+d"(count)
        :
        : "memory", "r0");
#else
    //@ loop unroll 4;
    do {
        naive_bayes_inputs[next++] = *values++;
    } while (--count > 0);
#endif
}

