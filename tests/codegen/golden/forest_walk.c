/* ---- Forest: constants and variables ------------------------------------------------------ */

#define FOREST_SCORES 3u
#define FOREST_INPUTS 6u
#define FOREST_TREES 3u
#define FOREST_LEAF 255u
#define FOREST_SKIP_BYTES 1u /* bytes for the size of a left subtree */

/* The initial scores, then the trees: the number of a tree's bytes, then its nodes in preorder:
 *
 *     inner node   feature, threshold, number of bytes of the left subtree
 *     leaf         FOREST_LEAF, number of scores it adds to, class, value, class, value ...
 *
 * There are 9 nodes. */
static const uint8_t forest_table[] PNN_FLASH = {
    88, 2, 98, 255, 0, 0,
  ...
};

static pnn_score_t forest_scores[FOREST_SCORES];

static pnn_input_t forest_inputs[FOREST_INPUTS]; /* the inputs pushed so far */

/* ---- Forest: functions -------------------------------------------------------------------- */

#ifdef PNN_ASSEMBLY
static void forest_score(const pnn_input_t *values)
{
    const uint8_t *next = forest_table, *end;
    uint16_t trees = FOREST_TREES;
    uint8_t left = FOREST_SCORES, a, b;
    __asm__ volatile(
        movw r26, %[scores]
        ".Lstart_%=:\n"
        "    " PASSED(forest_start, 3, 3) "lpm   %[a], Z+\n" /* the initial scores */
        st X+, %[a]; lpm %[a], Z+; st X+, %[a]; dec %[left]; brne .Lstart_%=
        ".Ltree_%=:\n"
        "    " PASSED(forest_tree, 3, 3) "lpm   %A[end], Z+\n" /* where the next tree begins */
        lpm %B[end], Z+; add %A[end], r30; adc %B[end], r31
        ".Lnode_%=:\n"
        "    " SHARED(forest_way, 222, 177, 19, node) "lpm   %[a], Z+\n" /* the feature, or the mark of a leaf */
        cpi %[a], 255; brcc .Lleaf_%=; movw r26, %[values]; add r26, %[a]; adc r27, __zero_reg__;
        ld %[a], X
        "    lpm   %[b], Z+\n" /* the threshold */
        cp %[b], %[a]; brcs .Lright_%=; adiw r30, 1; rjmp .Lnode_%=
        ".Lright_%=:\n"
        "    " SHARED(forest_way, 222, 177, 4, right) "lpm   %[a], Z+\n" /* passes over the left subtree */
        add r30, %[a]; adc r31, __zero_reg__; rjmp .Lnode_%=
        ".Lleaf_%=:\n"
        lpm %[left], Z+
        ".Lpair_%=:\n"
        "    " SHARED(forest_way, 222, 177, 26, pair) "lpm   %[a], Z+\n" /* the class */
        "    lpm   %[b], Z+\n" /* the value to add to its score */
        movw r26, %[scores]; add r26, %[a]; adc r27, __zero_reg__; add r26, %[a];
        adc r27, __zero_reg__; ld r0, X; add r0, %[b]; st X+, r0; ld r0, X; adc r0, __zero_reg__;
        sbrc %[b], 7
        "    dec   r0\n" /* its sign */
        st X, r0; dec %[left]; brne .Lpair_%=
        ".Lended_%=:\n"
        movw r30, %[end]; sbiw %[trees], 1; brne .Ltree_%=
        : "+&z"(next), [end] "=&r"(end), [trees] "+&w"(trees), [left] "+&r"(left), [a] "=&d"(a), [b] "=&d"(b)
        : [values] "r"(values), [scores] "r"(forest_scores)
        : "memory", "r0", "r26", "r27");
}
#else
static void forest_score(const pnn_input_t *values)
{
    const uint8_t *next = forest_table;
    for (uint8_t l = 0; l < FOREST_SCORES; ++l, next += 2) {
        forest_scores[l] = (pnn_score_t)(PNN_READ_U8(next) | (uint16_t)PNN_READ_U8(next + 1) << 8);
    }
    //@ loop unroll FOREST_TREES;
    for (uint16_t trees = FOREST_TREES; trees > 0; --trees) {
        const uint8_t *const end = next + 2 + (uint16_t)(PNN_READ_U8(next) | (uint16_t)PNN_READ_U8(next + 1) << 8);
        next += 2;
        //@ dynamic_split next - (uint8_t const *)forest_table;
        //@ loop unroll 9;
        while (PNN_READ_U8(next) < FOREST_LEAF) {
            const uint8_t feature = PNN_READ_U8(next);
            const uint8_t *const skip = next + 2;
            next = skip + FOREST_SKIP_BYTES;
            if (values[feature] > PNN_READ_U8(skip - 1)) {
                next += PNN_READ_U8(skip);
            }
        }
        uint8_t count = PNN_READ_U8(++next);
        for (++next; count > 0; --count, next += 2) {
            pnn_score_t *const score = forest_scores + PNN_READ_U8(next);
            *score = (pnn_score_t)(*score + (int8_t)PNN_READ_U8(next + 1));
        }
        next = end;
        //@ merge next - (uint8_t const *)forest_table;
    }
}
#endif

/* Copy `count` values, at least one. */
static void forest_copy(uint16_t next, const pnn_input_t *values, uint16_t count)
{
#ifdef PNN_ASSEMBLY
    pnn_input_t *to = &forest_inputs[next];
    __asm__ volatile(
        ".Lcopied_%=: " PASSED(forest_copied, 6, 6) "ld    r0, X+\n"
        st Z+, r0; subi %A[count], 1; sbci %B[count], 0; brne .Lcopied_%=
        : "+z"(to), "+x"(values), [count] "+d"(count)
        :
        : "memory", "r0");
#else
    //@ loop unroll 6;
    do {
        forest_inputs[next++] = *values++;
    } while (--count > 0);
#endif
}

