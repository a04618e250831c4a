/* ---- Forest: constants and variables ------------------------------------------------------ */

#define FOREST_SCORES 3u
#define FOREST_INPUTS 6u

#ifndef PNN_ASSEMBLY /* otherwise the trees are instructions */
#define FOREST_TREES 3u
#define FOREST_LEAF 253u /* marks a leaf that adds to the first score */
#define FOREST_SKIP_BYTES 1u /* bytes for the size of a left subtree */

/* The initial scores, then the trees: the number of a tree's bytes, then its nodes in preorder:
 *
 *     inner node   feature, threshold, number of bytes of the left subtree
 *     leaf         FOREST_LEAF + class, value
 *
 * There are 9 nodes. */
static const uint8_t forest_table[] PNN_FLASH = {
    88, 2, 98, 255, 0, 0,
  ...
};
#endif

static pnn_score_t forest_scores[FOREST_SCORES];

static pnn_input_t forest_inputs[FOREST_INPUTS]; /* the inputs pushed so far */

/* ---- Forest: functions -------------------------------------------------------------------- */

#ifdef PNN_ASSEMBLY
/* Each inner node compares an input with a constant; at first, Z points to the inputs. */
static PNN_NOINLINE void forest_score(const pnn_input_t *values)
{
    __asm__ volatile(
        ".Lstart_%=:\n"
        ldi r26, lo8(%[scores]+0); ldi r27, hi8(%[scores]+0); ldi r24, 88; st X+, r24; ldi r24, 2;
        st X+, r24; ldi r24, 98; st X+, r24; ldi r24, 255; st X+, r24; st X+, r1; st X+, r1;
        ldd r16, Z+0; ldd r17, Z+2; ldd r18, Z+5
        ".Ltree_0_%=:\n"
        ".Lnode_0_%=:\n"
        cpi r17, 101; brcc .Lleaf_0_11_%=
        ".Lnode_1_%=:\n"
        cpi r18, 1; brcs .Lleaf_0_15_%=
        ".Lnode_3_%=:\n"
        ldi r23, 2; ldi r25, 127; rjmp .Ladd_0_%=
        ".Lleaf_0_11_%=:\n"
        ldi r23, 4; ldi r25, 5; rjmp .Ladd_0_%=
        ".Lleaf_0_15_%=:\n"
        ldi r23, 0; ldi r25, 90
        ".Ladd_0_%=:\n"
        ldi r26, lo8(%[scores]+0); ldi r27, hi8(%[scores]+0); add r26, r23; adc r27, r1; ld r0, X;
        add r0, r25; st X+, r0; ld r0, X; adc r0, r1; sbrc r25, 7
        "    dec   r0\n" /* its sign */
        st X, r0
        ".Ltree_1_%=:\n"
        ".Lnode_5_%=:\n"
        cpi r16, 255; brcs .Lleaf_1_8_%=
        ".Lnode_7_%=:\n"
        ldi r23, 2; ldi r25, 7; rjmp .Ladd_1_%=
        ".Lleaf_1_8_%=:\n"
        ldi r23, 0; ldi r25, 128
        ".Ladd_1_%=:\n"
        ldi r26, lo8(%[scores]+0); ldi r27, hi8(%[scores]+0); add r26, r23; adc r27, r1; ld r0, X;
        add r0, r25; st X+, r0; ld r0, X; adc r0, r1; sbrc r25, 7
        "    dec   r0\n" /* its sign */
        st X, r0
        ".Ltree_2_%=:\n"
        ".Lnode_8_%=:\n"
        ldi r25, 11
        ".Ladd_2_%=:\n"
        ldi r26, lo8(%[scores]+4); ldi r27, hi8(%[scores]+4); ld r0, X; add r0, r25; st X+, r0;
        ld r0, X; adc r0, r1; sbrc r25, 7
        "    dec   r0\n" /* its sign */
        st X, r0
        ".Ltree_3_%=:\n"
        ".Lend_%=:\n"
        : "+z"(values)
        : [scores] "i"(forest_scores)
        : "memory", "r0", "r16", "r17", "r18", "r23", "r24", "r25", "r26", "r27");
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
        pnn_score_t *const score = forest_scores + (uint8_t)(PNN_READ_U8(next) - FOREST_LEAF);
        *score = (pnn_score_t)(*score + (int8_t)PNN_READ_U8(next + 1));
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

