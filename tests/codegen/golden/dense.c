/* ---- Dense: constants and variables ------------------------------------------------------- */

#define DENSE_UNITS 4u
#define DENSE_MULTIPLIER 9u

typedef int16_t dense_sum_t;

#define DENSE_INPUTS 6u
#define DENSE_GROUP 8u /* inputs that are multiplied together */

/* W for outputs 0..3, counted from 0, as code. Each line has an input, its multiples, and the
 * sums to which they are added or from which they are subtracted. */
#define DENSE_WEIGHTS_0 \
    GROUP_OF_FEATURES(0) \
    FEATURE(0) TIMES(itself, 1) PLUS(1) TIMES(product, 9) PLUS(3) TIMES(product, 60) MINUS(0) \
    FEATURE(1) TIMES(twice, 2) PLUS(1) TIMES(product, 35) PLUS(0) \
    FEATURE(2) TIMES(product, 3) MINUS(1) TIMES(product, 90) PLUS(2) \
    FEATURE(3) TIMES(product, 4) PLUS(1) TIMES(product, 7) PLUS(0) TIMES(product, 90) MINUS(2) \
    FEATURE(4) TIMES(product, 5) MINUS(1) TIMES(product, 28) MINUS(0) TIMES(product, 40) PLUS(2) \
    FEATURE(5) TIMES(product, 6) PLUS(1) TIMES(product, 40) MINUS(2) TIMES(product, 127) PLUS(0)

static union {
    dense_sum_t sums[DENSE_UNITS];
    pnn_input_t values[DENSE_UNITS]; /* computed from the sums */
} dense;

static uint16_t dense_consumed; /* inputs */
static pnn_input_t dense_waiting[DENSE_GROUP]; /* inputs, until their group is complete */
static uint8_t dense_waiting_count;

/* ---- Dense 2: constants and variables ----------------------------------------------------- */

#define DENSE_2_UNITS 3u
#define DENSE_2_MULTIPLIER 200u

#ifdef PNN_ASSEMBLY
__extension__ typedef __int24 dense_2_sum_t;
#else
typedef int32_t dense_2_sum_t;
#endif

/* W, a row per input, for outputs 0..2: the number of bytes that follow; then for every 8
 * weights a mask of the non-zero ones, lowest bit first, and those weights. */
static const int8_t dense_2_weights_0[] PNN_FLASH = {
    /*   0 */    3,    5,  127,   50,
  ...
};

static union {
    dense_2_sum_t sums[DENSE_2_UNITS];
    pnn_input_t values[DENSE_2_UNITS]; /* computed from the sums */
} dense_2;

static const int8_t *dense_2_next_weights_0;

/* ---- Dense 2: functions ------------------------------------------------------------------- */

/* Add the contributions of the next inputs to outputs 0..2; an input of 0 contributes nothing
 * and is skipped. */
#ifdef PNN_ASSEMBLY
static void dense_2_add_0(const pnn_input_t *feature, uint16_t count)
{
    const int8_t *weight = dense_2_next_weights_0;
    uint8_t left = (uint8_t)count;
    __asm__ volatile(
        "    " PASSED(dense_2_block0_begin, 4, 0) "movw  r22, r26\n"
        ldi r26, lo8(%[sums]); ldi r27, hi8(%[sums]); ld r2, X+; ld r3, X+; ld r4, X+; ld r5, X+;
        ld r6, X+; ld r7, X+; ld r8, X+; ld r9, X+; ld r10, X+; movw r26, r22; rjmp .Linput_%=
        ".Lzero_%=: clr   r0\n" /* an input that is 0 */
        add r30, r24; adc r31, r0; dec %[left]; brne .Linput_%=; rjmp .Lcounted_%=
        ".Linput_%=: " PASSED(dense_2_block0_input, 4, 4) "ld    r23, X+\n"
        lpm r24, Z+; tst r23; breq .Lzero_%=; lpm r24, Z+; sbrs r24, 0; rjmp .Lweight1_%=
        ".Lother0_%=:\n"
        "    " PASSED(dense_2_block0_other0, 3, 0) "lpm   r22, Z+\n"
        mulsu r22, r23
        "    sbc   r20, r20\n" /* the product's sign, 0 or -1 */
        add r2, r0; adc r3, r1; adc r4, r20
        ".Lweight1_%=:\n"
        sbrs r24, 1; rjmp .Lweight2_%=
        ".Lother1_%=:\n"
        "    " PASSED(dense_2_block0_other1, 2, 0) "lpm   r22, Z+\n"
        mulsu r22, r23
        "    sbc   r20, r20\n" /* the product's sign, 0 or -1 */
        add r5, r0; adc r6, r1; adc r7, r20
        ".Lweight2_%=:\n"
        sbrs r24, 2; rjmp .Lweight3_%=
        ".Lother2_%=:\n"
        "    " PASSED(dense_2_block0_other2, 4, 0) "lpm   r22, Z+\n"
        mulsu r22, r23
        "    sbc   r20, r20\n" /* the product's sign, 0 or -1 */
        add r8, r0; adc r9, r1; adc r10, r20
        ".Lweight3_%=:\n"
        dec %[left]; breq .Lcounted_%=; rjmp .Linput_%=
        ".Lcounted_%=: clr   __zero_reg__\n"
        ldi r26, lo8(%[sums]); ldi r27, hi8(%[sums]); st X+, r2; st X+, r3; st X+, r4; st X+, r5;
        st X+, r6; st X+, r7; st X+, r8; st X+, r9; st X+, r10
        : [feature] "+x"(feature), [weight] "+z"(weight), [left] "+r"(left)
        : [sums] "i"(&dense_2.sums[0])
        : "memory", "r0", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "r20", "r22", "r23", "r24");
    dense_2_next_weights_0 = weight;
}
#else
static int8_t dense_2_weights_0_at(uint16_t i)
{
    return i < sizeof dense_2_weights_0 ? PNN_READ_I8(&dense_2_weights_0[i]) : 0;
}

static void dense_2_add_0(const pnn_input_t *values, uint16_t count)
{
    uint16_t row = (uint16_t)(dense_2_next_weights_0 - dense_2_weights_0);
    for (uint16_t i = 0; i < count; ++i) {
        uint16_t at = (uint16_t)(row + 1u);
        row = (uint16_t)(at + (uint8_t)dense_2_weights_0_at(row));
        if (values[i] != 0) {
            uint8_t mask = 0;
            for (uint8_t k = 0; k < 3; ++k) {
                if (k % 8 == 0) {
                    mask = (uint8_t)dense_2_weights_0_at(at++);
                }
                if (mask & 1u) {
                    dense_2_sum_t *const sum = &dense_2.sums[0 + k];
                    *sum = (dense_2_sum_t)((uint32_t)*sum + (uint32_t)(dense_2_weights_0_at(at++) * values[i]));
                }
                mask >>= 1;
            }
        }
    }
    dense_2_next_weights_0 = dense_2_weights_0 + (row < sizeof dense_2_weights_0 ? row : sizeof dense_2_weights_0);
}
#endif

static PNN_NOINLINE void dense_2_push(const pnn_input_t *values, uint16_t count)
{
    dense_2_add_0(values, count);
}

/* Convert the sums to bytes; negative sums become 0. */
static void dense_2_rectify(void)
{
#ifdef PNN_ASSEMBLY
    uint8_t left = DENSE_2_UNITS;
    __asm__ volatile(
        ldi r26, lo8(%[sums]); ldi r27, hi8(%[sums]); movw r30, r26; clr r20
        ".Lsum_%=:\n"
        "    " PASSED(dense_2_sum, 3, 3) "adiw  r26, 1\n"
        ld r18, X+; ld r19, X+; clr r24; tst r19
        "    brmi  .Lrest_%=\n" /* below 0 */
        mul r18, %[multiplier]; mov r24, r1; mul r19, %[multiplier]; add r24, r0; adc r1, r20
        ".Lstore_%=:\n"
        ".Lrest_%=:\n"
        st Z+, r24
        ".Lnext_%=:\n"
        dec %[left]; brne .Lsum_%=; clr __zero_reg__
        : [left] "+&r"(left)
        : [sums] "i"(&dense_2), [multiplier] "r"((uint8_t)DENSE_2_MULTIPLIER)
        : "memory", "r0", "r18", "r19", "r20", "r24", "r26", "r27", "r30", "r31");
#else
    for (uint8_t k = 0; k < DENSE_2_UNITS; ++k) {
        const int16_t upper = (int16_t)(dense_2.sums[k] >> 8);
        const uint32_t value = upper < 0 ? 0 : (uint32_t)upper * DENSE_2_MULTIPLIER >> 8;
        dense_2.values[k] = (pnn_input_t)value;
    }
#endif
}

/* ---- Dense: functions --------------------------------------------------------------------- */

/* Add the contributions of the next inputs to outputs 0..3; an input of 0 contributes nothing
 * and is skipped. */
#ifdef PNN_ASSEMBLY
#define GROUP_OF_FEATURES(i) "group " #i "\n"
#define FEATURE(i) "feature\n"
#define PASS(n) "pass " #n "\n"
#define TIMES(made, n) #made " " #n "\n"
#define PLUS(k) "sum add, adc, " #k "\n"
#define MINUS(k) "sum sub, sbc, " #k "\n"
static void dense_add_0(const pnn_input_t *values, pnn_place_t feature, pnn_place_t end)
{
    uint16_t next = dense_consumed / DENSE_GROUP;
    uint8_t left = (uint8_t)(((uint16_t)(end - feature) + DENSE_GROUP - 1) / DENSE_GROUP);
    (void)values;
    __asm__ volatile(
        ".macro group number\n"
        "2: " TARGET(dense_block0) "\n"
        "5:  .pushsection .progmem.data, \"a\", @progbits\n" /* another place in the table */
        .word gs(5b); .popsection; subi %[left], 1; brcc 1f; %~jmp 9f
        "1:\n"
        PASSED(dense_block0_group\\number\\(), 1, 1) "\n"
        ".endm\n"
        ".macro feature\n"
        "2: ld    r23, X+\n"
        tst r23; breq 2f
        ".set before, 0\n"
        ".endm\n"
        ".macro pass count\n"
        "2: adiw  r26, \\count\n"
        ".endm\n"
        ".macro itself size\n"
        ".set before, \\size\n"
        ".endm\n"
        ".macro twice size\n"
        mov r0, r23; lsl r0
        ".set before, \\size\n"
        ".endm\n"
        ".macro one_more size\n"
        add r0, r23
        ".set before, \\size\n"
        ".endm\n"
        ".macro two_more size\n"
        add r0, r23; add r0, r23
        ".set before, \\size\n"
        ".endm\n"
        ".macro doubled size\n"
        lsl r0
        ".set before, \\size\n"
        ".endm\n"
        ".macro doubled_and_one size\n"
        lsl r0; add r0, r23
        ".set before, \\size\n"
        ".endm\n"
        ".macro wide_one_more size\n"
        add r0, r23; adc r1, r25
        ".set before, \\size\n"
        ".endm\n"
        ".macro wide_doubled size\n"
        lsl r0; rol r1
        ".set before, \\size\n"
        ".endm\n"
        ".macro product size\n"
        ldi r22, \\size; mul r22, r23
        ".set before, \\size\n"
        ".endm\n"
        ".macro sum low, high, output\n"
        ".if before == 1\n"
        \\low 2 + 2 * \\output, r23; \\high 3 + 2 * \\output, r25
        ".elseif before * 63 <= 255\n"
        \\low 2 + 2 * \\output, r0; \\high 3 + 2 * \\output, r25
        ".else\n"
        \\low 2 + 2 * \\output, r0; \\high 3 + 2 * \\output, r1
        ".endif\n"
        ".endm\n"
        ".pushsection .progmem.data, \"a\", @progbits\n"
        ".p2align 1\n"
        "7:\n"
        ".popsection\n"
        movw r22, r26; ldi r26, lo8(%[sums]); ldi r27, hi8(%[sums]); ld r2, X+; ld r3, X+;
        ld r4, X+; ld r5, X+; ld r6, X+; ld r7, X+; ld r8, X+; ld r9, X+; movw r26, r22; clr r25;
        subi r30, lo8(-(gs(7b))); sbci r31, hi8(-(gs(7b)))
        JUMP(dense_block0) "%~jmp __tablejump2__\n"
        DENSE_WEIGHTS_0
        "2:\n"
        "9: clr   __zero_reg__\n"
        ldi r26, lo8(%[sums]); ldi r27, hi8(%[sums]); st X+, r2; st X+, r3; st X+, r4; st X+, r5;
        st X+, r6; st X+, r7; st X+, r8; st X+, r9
        ".purgem group\n"
        ".purgem feature\n"
        ".purgem pass\n"
        ".purgem itself\n"
        ".purgem twice\n"
        ".purgem one_more\n"
        ".purgem two_more\n"
        ".purgem doubled\n"
        ".purgem doubled_and_one\n"
        ".purgem wide_one_more\n"
        ".purgem wide_doubled\n"
        ".purgem product\n"
        ".purgem sum\n"
        : [feature] "+x"(feature), [next] "+z"(next), [left] "+d"(left)
        : [sums] "i"(&dense.sums[0])
        : "memory", "r0", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r22", "r23", "r25");
}
#else
#define GROUP_OF_FEATURES(i)
#define FEATURE(i)                                                                                 \
    break;                                                                                         \
    case i:
#define PASS(n)
#define TIMES(made, n) product = (uint16_t)(x * n##u);
#define PLUS(k) dense.sums[0 + k] = (dense_sum_t)((uint32_t)dense.sums[0 + k] + product);
#define MINUS(k) dense.sums[0 + k] = (dense_sum_t)((uint32_t)dense.sums[0 + k] - product);
static void dense_add_input_0(uint16_t i, uint8_t x)
{
    uint16_t product;
    switch (i) {
    default:
        DENSE_WEIGHTS_0
    }
}

static void dense_add_0(const pnn_input_t *values, pnn_place_t first, pnn_place_t end)
{
    (void)values; /* on the AVR */
    for (uint16_t i = dense_consumed; first < end; ++i, ++first) {
        if (PNN_AT(values, first) != 0) {
            dense_add_input_0(i, PNN_AT(values, first));
        }
    }
}
#endif
#undef GROUP_OF_FEATURES
#undef FEATURE
#undef PASS
#undef TIMES
#undef PLUS
#undef MINUS

static PNN_NOINLINE void dense_add(const pnn_input_t *values, pnn_place_t first, pnn_place_t end)
{
    dense_add_0(values, first, end);
    dense_consumed = (uint16_t)(dense_consumed + (end - first));
}

/* Multiply whole groups, and keep the rest for later. The last group may be smaller. */
static void dense_push(const pnn_input_t *values, uint16_t count)
{
    pnn_place_t first = PNN_PLACE(values, 0);
    const pnn_place_t end = (pnn_place_t)(first + count);
    while (first < end) {
        count = (uint16_t)(end - first);
        if (dense_waiting_count == 0 && (count >= DENSE_GROUP || dense_consumed + count == DENSE_INPUTS)) {
            if (dense_consumed + count != DENSE_INPUTS) {
                count = (uint16_t)(count & ~(DENSE_GROUP - 1));
            }
            PNN_FACT(PASSED(dense_groups, 1, 0));
            PNN_FACT(EACH(dense_groups, dense_pushes, 1, 0));
            PNN_FACT(WHOLE(dense_groups, 1, 1));
            const pnn_place_t behind = (pnn_place_t)(first + count), last = behind < end ? behind : end;
            dense_add(values, first, last);
            first = last;
            continue;
        }
        PNN_FACT(PASSED(dense_waits, 6, 0));
        PNN_FACT(EACH(dense_waits, dense_pushes, 14, 0));
        PNN_FACT(WHOLE(dense_waits, 0, 0));
        dense_waiting[dense_waiting_count++] = PNN_AT(values, first++);
        if (dense_waiting_count >= DENSE_GROUP || dense_consumed + dense_waiting_count == DENSE_INPUTS) {
            PNN_FACT(EACH(dense_fills, dense_pushes, 1, 0));
            const pnn_place_t waiting = PNN_PLACE(dense_waiting, 0);
            dense_add(dense_waiting, waiting, (pnn_place_t)(waiting + dense_waiting_count));
            dense_waiting_count = 0;
        }
    }
}

/* Convert the sums to bytes; negative sums become 0. */
static void dense_rectify(void)
{
#ifdef PNN_ASSEMBLY
    uint8_t left = DENSE_UNITS;
    __asm__ volatile(
        ldi r26, lo8(%[sums]); ldi r27, hi8(%[sums]); movw r30, r26; clr r20
        ".Lsum_%=:\n"
        "    " PASSED(dense_sum, 4, 4) "ld    r18, X+\n"
        ld r19, X+; clr r24; tst r19
        "    brmi  .Lrest_%=\n" /* below 0 */
        mul r18, %[multiplier]; mov r24, r1; mul r19, %[multiplier]; add r24, r0; adc r1, r20;
        breq .Lstore_%=; ldi r24, 255
        ".Lstore_%=:\n"
        ".Lrest_%=:\n"
        st Z+, r24
        ".Lnext_%=:\n"
        dec %[left]; brne .Lsum_%=; clr __zero_reg__
        : [left] "+&r"(left)
        : [sums] "i"(&dense), [multiplier] "r"((uint8_t)DENSE_MULTIPLIER)
        : "memory", "r0", "r18", "r19", "r20", "r24", "r26", "r27", "r30", "r31");
#else
    for (uint8_t k = 0; k < DENSE_UNITS; ++k) {
        const int16_t upper = (int16_t)(dense.sums[k]);
        const uint32_t value = upper < 0 ? 0 : (uint32_t)upper * DENSE_MULTIPLIER >> 8;
        dense.values[k] = (pnn_input_t)(value > 255 ? 255 : value);
    }
#endif
}

