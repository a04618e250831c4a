/* ---- Forest: constants and variables ------------------------------------------------------ */

#define FOREST_SCORES 3u
#define FOREST_INPUTS 6u

#ifndef PNN_ASSEMBLY /* where the trees are instructions */
#define FOREST_TREES 3u
#define FOREST_LEAF 253u /* the mark of one that adds to the first score */
#define FOREST_SKIP_BYTES 1u /* of the size of a left subtree */

/* The initial scores; then trees, each after the number of its bytes, in preorder:
 *
 *     inner node   feature, threshold, bytes of its left subtree
 *     leaf         FOREST_LEAF + class, value
 *
 * There are 9 nodes. */
static const uint8_t forest_table[] PNN_FLASH = {
    88, 2, 98, 255, 0, 0,
  ...
};
#endif

static pnn_score_t forest_scores[FOREST_SCORES];

static pnn_input_t forest_inputs[FOREST_INPUTS]; /* pushed so far */

/* ---- Forest: functions -------------------------------------------------------------------- */

#ifdef PNN_ASSEMBLY
/* Each question is a comparison with a constant; Z points to the inputs first. */
static PNN_NOINLINE void forest_walk(const pnn_input_t *values)
{
    __asm__ volatile(
        ".Lstart_%=:\n"
        "    ldi   r26, lo8(%[scores]+0)\n"
        "    ldi   r27, hi8(%[scores]+0)\n"
        "    ldi   r24, 88\n"
        "    st    X+, r24\n"
        "    ldi   r24, 2\n"
        "    st    X+, r24\n"
        "    ldi   r24, 98\n"
        "    st    X+, r24\n"
        "    ldi   r24, 255\n"
        "    st    X+, r24\n"
        "    st    X+, r1\n"
        "    st    X+, r1\n"
        "    ldd   r16, Z+0\n"
        "    ldd   r17, Z+2\n"
        "    ldd   r18, Z+5\n"
        ".Ltree_0_%=:\n"
        ".Lnode_0_%=:\n"
        "    cpi   r17, 101\n"
        "    brcc  .Lleaf_0_11_%=\n"
        ".Lnode_1_%=:\n"
        "    cpi   r18, 1\n"
        "    brcs  .Lleaf_0_15_%=\n"
        ".Lnode_3_%=:\n"
        "    ldi   r23, 2\n"
        "    ldi   r25, 127\n"
        "    rjmp  .Ladd_0_%=\n"
        ".Lleaf_0_11_%=:\n"
        "    ldi   r23, 4\n"
        "    ldi   r25, 5\n"
        "    rjmp  .Ladd_0_%=\n"
        ".Lleaf_0_15_%=:\n"
        "    ldi   r23, 0\n"
        "    ldi   r25, 90\n"
        ".Ladd_0_%=:\n"
        "    ldi   r26, lo8(%[scores]+0)\n"
        "    ldi   r27, hi8(%[scores]+0)\n"
        "    add   r26, r23\n"
        "    adc   r27, r1\n"
        "    ld    r0, X\n"
        "    add   r0, r25\n"
        "    st    X+, r0\n"
        "    ld    r0, X\n"
        "    adc   r0, r1\n"
        "    sbrc  r25, 7\n"
        "    dec   r0\n" /* its sign */
        "    st    X, r0\n"
        ".Ltree_1_%=:\n"
        ".Lnode_5_%=:\n"
        "    cpi   r16, 255\n"
        "    brcs  .Lleaf_1_8_%=\n"
        ".Lnode_7_%=:\n"
        "    ldi   r23, 2\n"
        "    ldi   r25, 7\n"
        "    rjmp  .Ladd_1_%=\n"
        ".Lleaf_1_8_%=:\n"
        "    ldi   r23, 0\n"
        "    ldi   r25, 128\n"
        ".Ladd_1_%=:\n"
        "    ldi   r26, lo8(%[scores]+0)\n"
        "    ldi   r27, hi8(%[scores]+0)\n"
        "    add   r26, r23\n"
        "    adc   r27, r1\n"
        "    ld    r0, X\n"
        "    add   r0, r25\n"
        "    st    X+, r0\n"
        "    ld    r0, X\n"
        "    adc   r0, r1\n"
        "    sbrc  r25, 7\n"
        "    dec   r0\n" /* its sign */
        "    st    X, r0\n"
        ".Ltree_2_%=:\n"
        ".Lnode_8_%=:\n"
        "    ldi   r25, 11\n"
        ".Ladd_2_%=:\n"
        "    ldi   r26, lo8(%[scores]+4)\n"
        "    ldi   r27, hi8(%[scores]+4)\n"
        "    ld    r0, X\n"
        "    add   r0, r25\n"
        "    st    X+, r0\n"
        "    ld    r0, X\n"
        "    adc   r0, r1\n"
        "    sbrc  r25, 7\n"
        "    dec   r0\n" /* its sign */
        "    st    X, r0\n"
        ".Ltree_3_%=:\n"
        ".Lend_%=:\n"
        : "+z"(values)
        : [scores] "i"(forest_scores)
        : "memory", "r0", "r16", "r17", "r18", "r23", "r24", "r25", "r26", "r27");
}
#else
static void forest_walk(const pnn_input_t *values)
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
        pnn_score_t *const score = forest_scores + (uint8_t)(PNN_READ_U8(next) - FOREST_LEAF);
        *score = (pnn_score_t)(*score + (int8_t)PNN_READ_U8(next + 1));
        next = end;
        //@ merge next - (uint8_t const *)forest_table;
    }
}
#endif

