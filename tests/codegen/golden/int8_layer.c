/* ---- Int8 layer: constants and variables -------------------------------------------------- */

#define INT8_LAYER_INPUTS 4u
#define INT8_LAYER_ROWS 1u
#define INT8_LAYER_MEMORY_BYTES 0u
/* Where the lines of each layer start; lines that are never used at the same time share bytes. */
#define INT8_LAYER_LINES (int8_layer_memory + 0u)
#define INT8_LAYER_ROW_VALUES 4u
#define INT8_LAYER_VALUES 2u /* values in a row of the output */
#define INT8_LAYER_SIDE 1u /* rows of the window */
#define INT8_LAYER_STRIDE 1u
#define INT8_LAYER_MARGIN 0u /* values to the left of a row */
#define INT8_LAYER_LINE_VALUES 4u
#define INT8_LAYER_PLACES 1u /* positions of the window in a row */
#define INT8_LAYER_CHANNELS 2u
#define INT8_LAYER_TAPS 4u /* values of a row of the window */
#define INT8_LAYER_GROUP 2u /* channels that are computed together */
#define INT8_LAYER_OFFSET 90
#define INT8_LAYER_LOWEST 0
#define INT8_LAYER_HIGHEST 255

struct int8_layer_scale {
    int32_t bias;
    int8_t shift;           /* a right shift */
    uint16_t multiplier[2]; /* its lower half first */
};

static const struct int8_layer_scale int8_layer_scales[INT8_LAYER_CHANNELS] PNN_FLASH = {
    {       978,   6, {48508, 22841}},
    {     -8396,  -9, {46639, 30431}},
};

/* Ordered by groups of channels, then rows of the window, then values of a row. */
static const int8_t int8_layer_weights[] PNN_FLASH = {
   89,  -50,
  ...
};

static const pnn_input_t *int8_layer_window[INT8_LAYER_SIDE]; /* rows of the window, from the next pixel on */
static int32_t int8_layer_sums[INT8_LAYER_GROUP];
static pnn_input_t int8_layer_values[INT8_LAYER_VALUES]; /* a row of the output */

static pnn_input_t int8_layer_inputs[INT8_LAYER_INPUTS]; /* the inputs pushed so far */

/* ---- Int8 layer: functions ---------------------------------------------------------------- */

/* Sum the window for a group of channels, and return where the weights of the next group start. */
static inline const int8_t *int8_layer_add_up(const int8_t *weight, uint8_t channel)
{
#ifdef PNN_ASSEMBLY
    register uint8_t first __asm__("r25") = channel;
    __asm__ volatile(
        push r28; push r29; ldi r28, lo8(%[window]); ldi r29, hi8(%[window]); clr r2; clr r3;
        clr r4; clr r5; clr r6; clr r7; ldi r22, 1
        ".Lrow_%=:\n"
        "    " PASSED(int8_layer_row, 1, 1) "ld    r26, Y+\n"
        ld r27, Y+; ldi r24, 4
        ".Ltap_%=:\n"
        "    " PASSED(int8_layer_tap, 4, 4) "ld    r17, X+\n"
        tst r17; breq .Lzero_%=; lpm r16, Z+; mulsu r16, r17; sbc r23, r23; add r2, r0; adc r3, r1;
        adc r4, r23; lpm r16, Z+; mulsu r16, r17; sbc r23, r23; add r5, r0; adc r6, r1; adc r7, r23;
        dec r24; brne .Ltap_%=; rjmp .Lnext_%=
        ".Lzero_%=:\n"
        adiw r30, 2; dec r24; brne .Ltap_%=
        ".Lnext_%=:\n"
        dec r22; brne .Lrow_%=
        ".Lstore_%=:\n"
        ldi r26, lo8(%[sums]); ldi r27, hi8(%[sums]); st X+, r2; st X+, r3; st X+, r4; mov r23, r4;
        lsl r23; sbc r23, r23; st X+, r23; st X+, r5; st X+, r6; st X+, r7; mov r23, r7; lsl r23;
        sbc r23, r23; st X+, r23; pop r29; pop r28; clr __zero_reg__
        : "+z"(weight), "+r"(first)
        : [window] "i"(int8_layer_window), [sums] "i"(int8_layer_sums)
        : "memory", "r0", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "r16", "r17", "r18", "r19", "r20", "r21", "r22", "r23", "r24", "r26", "r27");
#else
    //@ loop unroll INT8_LAYER_GROUP;
    for (uint8_t o = 0; o < INT8_LAYER_GROUP; ++o) {
        int8_layer_sums[o] = 0;
    }
    //@ loop unroll INT8_LAYER_SIDE;
    for (uint8_t row = 0; row < INT8_LAYER_SIDE; ++row) {
        const pnn_input_t *x = int8_layer_window[row];
        //@ loop unroll INT8_LAYER_TAPS;
        for (uint16_t i = 0; i < INT8_LAYER_TAPS; ++i) {
            //@ loop unroll INT8_LAYER_GROUP;
            for (uint8_t o = 0; o < INT8_LAYER_GROUP; ++o) {
                const int16_t product = (int16_t)(*x * PNN_READ_I8(weight++));
                int8_layer_sums[o] = (int32_t)((uint32_t)int8_layer_sums[o] + (uint32_t)product);
            }
            x += 1;
        }
    }
    (void)channel;
#endif
    return weight;
}

/* Convert the sums of a group, still without bias, to values, and return where the scales of the next
 * group start. */
#ifdef PNN_ASSEMBLY
static inline const struct int8_layer_scale *int8_layer_make_values(pnn_input_t *output, const struct int8_layer_scale *scale, uint8_t count)
{
    register pnn_input_t *value __asm__("r12") = output;
    register uint8_t left __asm__("r14") = count;
    __asm__ volatile(
        push r28; push r29; movw r28, %[value]; ldi r26, lo8(%[sums]); ldi r27, hi8(%[sums]);
        clr r17
        ".Lvalue_%=:\n"
        "    " PASSED(int8_layer_value, 2, 2) "ld    r18, X+\n"
        ld r19, X+; ld r20, X+; ld r21, X+; lpm r0, Z+; add r18, r0; lpm r0, Z+; adc r19, r0;
        lpm r0, Z+; adc r20, r0; lpm r0, Z+; adc r21, r0; lpm r16, Z+; tst r16; brpl .Lright_%=
        ".Ldouble_%=:\n"
        "    " PASSED(int8_layer_double, 9, 0) "lsl   r18\n"
        rol r19; rol r20; rol r21; inc r16; brne .Ldouble_%=
        ".Lright_%=:\n"
        lpm r22, Z+; lpm r23, Z+; lpm r24, Z+; lpm r25, Z+; clr r2; clr r3; clr r4; clr r5; clr r6;
        clr r7; clr r8; clr r9; mul r18, r22; add r2, r0; adc r3, r1; adc r4, r17; mul r18, r23;
        add r3, r0; adc r4, r1; adc r5, r17; mul r19, r22; add r3, r0; adc r4, r1; adc r5, r17;
        mul r18, r24; add r4, r0; adc r5, r1; adc r6, r17; mul r19, r23; add r4, r0; adc r5, r1;
        adc r6, r17; mul r20, r22; add r4, r0; adc r5, r1; adc r6, r17; mul r18, r25; add r5, r0;
        adc r6, r1; adc r7, r17; mul r19, r24; add r5, r0; adc r6, r1; adc r7, r17; mul r20, r23;
        add r5, r0; adc r6, r1; adc r7, r17; mul r21, r22; add r5, r0; adc r6, r1; adc r7, r17;
        mul r19, r25; add r6, r0; adc r7, r1; adc r8, r17; mul r20, r24; add r6, r0; adc r7, r1;
        adc r8, r17; mul r21, r23; add r6, r0; adc r7, r1; adc r8, r17; mul r20, r25; add r7, r0;
        adc r8, r1; adc r9, r17; mul r21, r24; add r7, r0; adc r8, r1; adc r9, r17; mul r21, r25;
        add r8, r0; adc r9, r1; tst r21; brpl .Lpositive_%=; sub r6, r22; sbc r7, r23; sbc r8, r24;
        sbc r9, r25
        ".Lpositive_%=:\n"
        tst r16; brne .Ltwice_%=; lsl r5; rol r6; rol r7; rol r8; rol r9; lsl r5; rol r6; rol r7;
        rol r8; rol r9; rjmp .Lbits_%=
        ".Ltwice_%=:\n"
        lsl r5; rol r6; rol r7; rol r8; rol r9; tst r21; brpl .Lup_%=; com r5; lsl r5; sbc r6, r17;
        sbc r7, r17; sbc r8, r17; sbc r9, r17; rjmp .Lhalved_%=
        ".Lup_%=:\n"
        lsl r5; adc r6, r17; adc r7, r17; adc r8, r17; adc r9, r17
        ".Lhalved_%=:\n"
        dec r16
        ".Lbits_%=:\n"
        cpi r16, 8; brcs .Lfew_%=; mov r6, r7; mov r7, r8; mov r8, r9; lsl r9; sbc r9, r9;
        subi r16, 8
        ".Lfew_%=:\n"
        tst r16; breq .Lshifted_%=
        ".Lbit_%=:\n"
        "    " PASSED(int8_layer_bit, 6, 0) "asr   r9\n"
        ror r8; ror r7; ror r6; dec r16; brne .Lbit_%=
        ".Lshifted_%=:\n"
        asr r9; ror r8; ror r7; ror r6; adc r6, r17; adc r7, r17; adc r8, r17; adc r9, r17;
        ldi r18, 90; add r6, r18; adc r7, r17; adc r8, r17; adc r9, r17; brmi .Llow_%=; or r7, r8;
        or r7, r9; brne .Lhigh_%=; mov r18, r6; rjmp .Lmade_%=
        ".Llow_%=:\n"
        ldi r18, 0; rjmp .Lmade_%=
        ".Lhigh_%=:\n"
        ldi r18, 255
        ".Lmade_%=:\n"
        st Y+, r18; dec %[left]; breq .Ldone_%=; rjmp .Lvalue_%=
        ".Ldone_%=:\n"
        pop r29; pop r28; clr __zero_reg__
        : "+z"(scale), [left] "+r"(left)
        : [value] "r"(value), [sums] "i"(int8_layer_sums)
        : "memory", "r0", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r16", "r17", "r18", "r19", "r20", "r21", "r22", "r23", "r24", "r25", "r26", "r27");
    return scale;
}
#else
static pnn_input_t int8_layer_value(int32_t sum, const struct int8_layer_scale *scale)
{
    sum = (int32_t)((uint32_t)sum + (uint32_t)PNN_READ_I32(&scale->bias));
    int8_t shift = PNN_READ_I8(&scale->shift);
    //@ loop unroll 16;
    for (; shift < 0; ++shift) {
        sum = (int32_t)((uint32_t)sum << 1);
    }
    const int16_t high = (int16_t)(sum >> 16);
    const uint16_t low = (uint16_t)sum;
    const uint16_t low_factor = PNN_READ_U16(&scale->multiplier[0]);
    const int16_t high_factor = (int16_t)PNN_READ_U16(&scale->multiplier[1]);
    /* The product has 64 bits; only those from bit 30 up are needed. */
    const uint32_t one = (uint32_t)low * (uint16_t)high_factor;
    const int32_t other = (int32_t)high * low_factor;
    const uint32_t middle = ((uint32_t)low * low_factor >> 16) + (uint16_t)one + (uint16_t)other;
    const int32_t upper = (int32_t)high * high_factor + (int32_t)(one >> 16) + (other >> 16) + (int32_t)(middle >> 16);
    int32_t value = (int32_t)((uint32_t)upper << 2 | (uint16_t)middle >> 14);
    if (shift > 0) {
        value = (value >> 1) + (value & 1);
        if (value < 0) {
            --value;
        }
        --shift;
    }
    //@ loop unroll 32;
    for (; shift > 0; --shift) {
        value >>= 1;
    }
    value = (value >> 1) + (value & 1);
    if (value > INT8_LAYER_HIGHEST - INT8_LAYER_OFFSET) {
        return INT8_LAYER_HIGHEST;
    }
    if (value < INT8_LAYER_LOWEST - INT8_LAYER_OFFSET) {
        return INT8_LAYER_LOWEST;
    }
    return (pnn_input_t)(value + INT8_LAYER_OFFSET);
}

static const struct int8_layer_scale *int8_layer_make_values(pnn_input_t *output, const struct int8_layer_scale *scale, uint8_t count)
{
    //@ loop unroll INT8_LAYER_GROUP;
    for (uint8_t o = 0; o < count; ++o) {
        output[o] = int8_layer_value(int8_layer_sums[o], scale++);
    }
    return scale;
}
#endif

/* Compute a row of the output. */
static PNN_NOINLINE void int8_layer_compute(pnn_input_t *output)
{
    //@ loop unroll INT8_LAYER_PLACES;
    for (uint8_t left = INT8_LAYER_PLACES; left > 0; --left) {
        PNN_FACT(PASSED(int8_layer_places, 1, 1));
        const int8_t *weight = int8_layer_weights;
        const struct int8_layer_scale *scale = int8_layer_scales;
        uint8_t channel = 0;
        //@ loop unroll INT8_LAYER_CHANNELS;
        do {
            PNN_FACT(PASSED(int8_layer_groups, 1, 1));
            const uint8_t count = INT8_LAYER_GROUP;
            weight = int8_layer_add_up(weight, channel);
            scale = int8_layer_make_values(output, scale, count);
            output += count;
            channel = (uint8_t)(channel + count);
        } while (channel < INT8_LAYER_CHANNELS);
        //@ loop unroll INT8_LAYER_SIDE;
        for (uint8_t row = 0; row < INT8_LAYER_SIDE; ++row) {
            PNN_FACT(PASSED(int8_layer_moved, 1, 1));
            int8_layer_window[row] += 4;
        }
    }
}

/* Copy `count` values, at least one. */
static void int8_layer_copy(uint16_t next, const pnn_input_t *values, uint16_t count)
{
#ifdef PNN_ASSEMBLY
    pnn_input_t *to = &int8_layer_inputs[next];
    __asm__ volatile(
        ".Lcopied_%=: " PASSED(int8_layer_copied, 4, 4) "ld    r0, X+\n"
        st Z+, r0; subi %A[count], 1; sbci %B[count], 0; brne .Lcopied_%=
        : "+z"(to), "+x"(values), [count] "+d"(count)
        :
        : "memory", "r0");
#else
    //@ loop unroll 4;
    do {
        int8_layer_inputs[next++] = *values++;
    } while (--count > 0);
#endif
}

static void int8_layer_take_image(const pnn_input_t *value)
{
    for (uint8_t i = 0; i < INT8_LAYER_SIDE; ++i) {
        PNN_FACT(PASSED(int8_layer_lines, 1, 1));
        int8_layer_window[i] = value + i * INT8_LAYER_ROW_VALUES;
    }
    int8_layer_compute(int8_layer_values);
    const pnn_input_t *values = int8_layer_values;
    uint16_t count = INT8_LAYER_VALUES;
    linear_push(values, count);
}

