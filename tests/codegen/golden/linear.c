/* ---- Linear: constants and variables ------------------------------------------------------ */

#define LINEAR_SUMS 3u
#define LINEAR_SCORES 3u

#ifdef PNN_ASSEMBLY
__extension__ typedef __int24 linear_sum_t;
#else
typedef int32_t linear_sum_t;
#endif

/* W, a row per input, for outputs 0..2: two weights per byte, the first one in its lower
 * half, each with 8 added; the last byte has one weight. */
static const uint8_t linear_weights_0[6u * 2u] PNN_FLASH = {
    /*   0 */ 0x91, 0x08,
    /*   1 */ 0xaf, 0x08,
    /*   2 */ 0x58, 0x0f,
    /*   3 */ 0xcf, 0x01,
    /*   4 */ 0x31, 0x0f,
    /*   5 */ 0xef, 0x01,
};

static union {
    linear_sum_t sums[LINEAR_SUMS];
    pnn_score_t scores[LINEAR_SCORES]; /* computed from the sums */
} linear;
#define linear_scores linear.scores

static uint16_t linear_consumed; /* inputs */

/* ---- Linear: functions -------------------------------------------------------------------- */

/* Add the contributions of the next inputs to outputs 0..2; an input of 0 contributes nothing
 * and is skipped. */
#ifdef PNN_ASSEMBLY
static void linear_add_0(const pnn_input_t *feature, uint16_t count)
{
    const uint8_t *weight = linear_weights_0 + (size_t)linear_consumed * 2u;
    /* The lower byte of `left` reaches 0 once for each count of the upper byte. */
    uint16_t left = (uint16_t)(count + 0xff);
    left = (uint16_t)((left & 0xff00) | (count & 0xff));
    register uint16_t bytes __asm__("r24") = left; /* the assembly changes r29:r28 */
    __asm__ volatile(
        "    " PASSED(linear_block0_begin, 6, 0) "push  r28\n"
        push r29; movw r22, r26; ldi r26, lo8(%[sums]); ldi r27, hi8(%[sums]); ld r2, X+; ld r3, X+;
        ld r4, X+; ld r5, X+; ld r6, X+; ld r7, X+; ld r8, X+; ld r9, X+; ld r10, X+; movw r26, r22;
        clr r28; clr r29; clr r21; clr r20; ldi r22, 16; mul r5, r22; add r2, r0; adc r3, r1;
        adc r4, r20; mul r6, r22; add r3, r0; adc r4, r1; mul r7, r22; add r4, r0; rjmp .Linput_%=
        ".Lzero_%=: adiw  r30, 2\n" /* an input that is 0 */
        dec %A[left]; breq .Lcounted_%=
        ".Linput_%=: " PASSED(linear_block0_input, 6, 6) "ld    r23, X+\n"
        tst r23; breq .Lzero_%=; sub r28, r23; sbci r29, 0; sbci r21, 0; lpm r22, Z+; mul r22, r23;
        add r2, r0; adc r3, r1; adc r4, r20; swap r22; andi r22, 0x0f; mul r22, r23; add r5, r0;
        adc r6, r1; adc r7, r20; lpm r22, Z+; mul r22, r23; add r8, r0; adc r9, r1; adc r10, r20;
        dec %A[left]; brne .Linput_%=
        ".Lcounted_%=: " EACH(linear_block0_counted, linear_block0_begin, 1, 0) "dec   %B[left]\n"
        brne .Linput_%=; ldi r22, 16; mul r5, r22; sub r2, r0; sbc r3, r1; sbc r4, r20; mul r6, r22;
        sub r3, r0; sbc r4, r1; mul r7, r22; sub r4, r0; lsl r28; rol r29; rol r21; lsl r28;
        rol r29; rol r21; lsl r28; rol r29; rol r21; add r2, r28; adc r3, r29; adc r4, r21;
        add r5, r28; adc r6, r29; adc r7, r21; add r8, r28; adc r9, r29; adc r10, r21;
        clr __zero_reg__; ldi r26, lo8(%[sums]); ldi r27, hi8(%[sums]); st X+, r2; st X+, r3;
        st X+, r4; st X+, r5; st X+, r6; st X+, r7; st X+, r8; st X+, r9; st X+, r10; pop r29;
        pop r28
        : [feature] "+x"(feature), [weight] "+z"(weight), [left] "+r"(bytes)
        : [sums] "i"(&linear.sums[0])
        : "memory", "r0", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "r20", "r22", "r23", "r21");
}
#else
static void linear_add_0(const pnn_input_t *values, uint16_t count)
{
    linear_sum_t a0 = linear.sums[0];
    linear_sum_t a1 = linear.sums[1];
    linear_sum_t a2 = linear.sums[2];
    for (uint16_t k = 0; k < count; ++k) {
        const uint16_t i = (uint16_t)(linear_consumed + k);
        if (values[k] == 0) {
            continue;
        }
        const uint8_t *const weights = &linear_weights_0[i * 2u];
        const uint8_t x = values[k];
        uint8_t pair;
        pair = PNN_READ_U8(&weights[0]);
        a0 = (linear_sum_t)((uint32_t)a0 + (uint32_t)(((pair & 15) - 8) * x));
        a1 = (linear_sum_t)((uint32_t)a1 + (uint32_t)(((pair >> 4) - 8) * x));
        pair = PNN_READ_U8(&weights[1]);
        a2 = (linear_sum_t)((uint32_t)a2 + (uint32_t)(((pair & 15) - 8) * x));
    }
    linear.sums[0] = a0;
    linear.sums[1] = a1;
    linear.sums[2] = a2;
}
#endif

static void linear_push(const pnn_input_t *values, uint16_t count)
{
    linear_add_0(values, count);
}

/* Widen the sums in place to scores, the last one first, so that no sum is overwritten before it is
 * read. */
static void linear_score(void)
{
#ifdef PNN_ASSEMBLY
    uint8_t left = LINEAR_SCORES;
    __asm__ volatile(
        ldi r26, lo8(%[sums]); ldi r27, hi8(%[sums]); ldi r30, lo8(%[scores]);
        ldi r31, hi8(%[scores])
        ".Lsum_%=: " PASSED(linear_sum, 3, 3) "ld    r22, -X\n"
        ld r21, -X; ld r20, -X; mov r23, r22; lsl r23
        "    sbc   r23, r23\n" /* the sign */
        st -Z, r23; st -Z, r22; st -Z, r21; st -Z, r20; dec %[left]; brne .Lsum_%=
        : [left] "+r"(left)
        : [sums] "i"(linear.sums + LINEAR_SCORES), [scores] "i"(linear.scores + LINEAR_SCORES)
        : "memory", "r20", "r21", "r22", "r23", "r26", "r27", "r30", "r31");
#else
    for (uint8_t l = LINEAR_SCORES; l > 0; --l) {
        linear.scores[l - 1] = linear.sums[l - 1];
    }
#endif
}

