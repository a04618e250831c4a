/* ---- Bonsai tree: constants and variables ------------------------------------------------- */

#define BONSAI_TREE_ROWS 1u
#define BONSAI_TREE_SCORES 2u
#define BONSAI_TREE_INPUTS 3u
#define BONSAI_TREE_DEPTH 0u

/* The hyperbolic tangent, in units of 1/127. */
static const int8_t bonsai_tree_gates[] PNN_FLASH = {
-127,-127,-127,-127,-127,-127,-127,-127,-127,-127,-127,-127,-127,-127,-127,-127,
  ...
 127, 127, 127, 127, 127, 127, 127, 127, 127, 127, 127, 127, 127, 127, 127, 127,};

/* The node. For each score, a node has a row of gates and a row of weights.
 * A row consists of the initial value of its sum, lower byte first, and
 * its weights. */
static const uint8_t bonsai_tree_table[] PNN_FLASH = {
    210, 4, 0, 20, 146, 5,
    124, 252, 255, 127, 253, 40,
};

static pnn_score_t bonsai_tree_scores[BONSAI_TREE_SCORES];

/* ---- Bonsai tree: functions --------------------------------------------------------------- */

#ifdef PNN_ASSEMBLY
static void bonsai_tree_walk(const int8_t *values)
{
    const uint8_t *next = bonsai_tree_table;
    __asm__ volatile(
        ".Lstart_%=:\n"
        clr r17; ldi r16, 0; mov r15, r16; ldi r16, 1; movw r26, %[scores]
        ".Lclear_%=:\n"
        "    " PASSED(bonsai_tree_clear, 1, 1) "st    X+, r17\n"
        st X+, r17; dec r16; brne .Lclear_%=
        ".Lnode_%=:\n"
        "    " PASSED(bonsai_tree_node, 1, 1) "movw  r12, %[scores]\n"
        ldi r16, 1
        ".Lrow_%=:\n"
        "    " PASSED(bonsai_tree_row, 1, 1) "lpm   r18, Z+\n" /* the initial value of the sum */
        lpm r19, Z+; lpm r20, Z+; ldi r24, 3; movw r26, %[values]
        ".Lgate_weight_%=:\n"
        "    " SHARED(bonsai_tree_weights, 6, 6, 1, gate_weight) "ld    r21, X+\n"
        lpm r22, Z+; muls r22, r21
        "    sbc   r20, r17\n" /* less 1 if the product is negative */
        add r18, r0; adc r19, r1; adc r20, r17; dec r24; brne .Lgate_weight_%=
        ".Lgated_%=:\n"
        lsl r18; rol r19; rol r20; lsl r18; rol r19; rol r20; lsl r18; rol r19; rol r20
        "    subi  r19, 0x80\n" /* from 0 on */
        sbci r20, 0xff; tst r20; breq .Linside_%=
        "    ldi   r19, 0xff\n" /* limited */
        sbrc r20, 7; clr r19
        ".Linside_%=:\n"
        movw r10, r30; ldi r30, lo8(%[gates]); ldi r31, hi8(%[gates]); add r30, r19; adc r31, r17;
        lpm r23, Z; movw r30, r10
        ".Lweight_%=:\n"
        "    lpm   r18, Z+\n" /* the initial value of the sum */
        lpm r19, Z+; lpm r20, Z+; ldi r24, 3; movw r26, %[values]
        ".Lweight_weight_%=:\n"
        "    " SHARED(bonsai_tree_weights, 6, 6, 1, weight_weight) "ld    r21, X+\n"
        lpm r22, Z+; muls r22, r21
        "    sbc   r20, r17\n" /* less 1 if the product is negative */
        add r18, r0; adc r19, r1; adc r20, r17; dec r24; brne .Lweight_weight_%=
        ".Lweighted_%=:\n"
        mov r20, r19; mov r19, r18
        "    mulsu r23, r19\n" /* times the gate, without the lowest byte */
        sbc r18, r18; mov r21, r1; muls r23, r20; add r21, r0; adc r18, r1; movw r26, r12; ld r0, X;
        add r0, r21; st X+, r0; ld r0, X; adc r0, r18; st X+, r0; movw r12, r26; dec r16;
        breq .Lended_%=; rjmp .Lrow_%=
        ".Lended_%=:\n"
        ".Ldone_%=:\n"
        clr __zero_reg__
        ".Lfinish_%=:\n"
        : "+&z"(next)
        : [values] "r"(values), [scores] "r"(bonsai_tree_scores + 1), [gates] "i"(bonsai_tree_gates)
        : "memory", "r10", "r11", "r12", "r13", "r14", "r15", "r16", "r17", "r18", "r19", "r20", "r21", "r22", "r23", "r24", "r25", "r26", "r27", "r0");
}
#else
/* Add the products of a row to its initial value. */
static const uint8_t *bonsai_tree_sum(const uint8_t *next, const int8_t *values, int32_t *sum)
{
    *sum = (int32_t)(PNN_READ_U8(next) | (uint16_t)PNN_READ_U8(next + 1) << 8) +
           (int8_t)PNN_READ_U8(next + 2) * 65536L;
    next += 3;
    //@ loop unroll BONSAI_TREE_INPUTS;
    for (uint8_t left = BONSAI_TREE_INPUTS; left > 0; --left) {
        *sum += (int8_t)PNN_READ_U8(next++) * (int16_t)*values++;
    }
    return next;
}

static void bonsai_tree_walk(const int8_t *values)
{
    const uint8_t *next = bonsai_tree_table;
    pnn_score_t *const scores = bonsai_tree_scores + 1;
    int32_t sum;
    for (uint8_t l = 0; l < BONSAI_TREE_ROWS; ++l) {
        scores[l] = 0;
    }
    //@ dynamic_split next - (uint8_t const *)bonsai_tree_table;
    //@ loop unroll BONSAI_TREE_DEPTH + 1;
    for (uint8_t level = BONSAI_TREE_DEPTH;; --level) {
        //@ loop unroll BONSAI_TREE_ROWS;
        for (uint8_t l = 0; l < BONSAI_TREE_ROWS; ++l) {
            next = bonsai_tree_sum(next, values, &sum);
            sum = (sum >> 5) + 128;
            const int8_t gate = PNN_READ_I8(bonsai_tree_gates + (sum < 0 ? 0 : sum > 255 ? 255 : sum));
            next = bonsai_tree_sum(next, values, &sum);
            scores[l] = (pnn_score_t)(scores[l] + (((sum >> 0) * gate) >> 8));
        }
        if (level == 0) {
            break;
        }
        next = bonsai_tree_sum(next, values, &sum);
        next += 2 + (sum < 0 ? 0 : (uint16_t)(PNN_READ_U8(next) | (uint16_t)PNN_READ_U8(next + 1) << 8));
    }
}
#endif

