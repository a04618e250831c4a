/* ---- Convolution: constants and variables ------------------------------------------------- */

#define CONVOLUTION_INPUTS 16u
#define CONVOLUTION_ROWS 4u
#define CONVOLUTION_MEMORY_BYTES 24u
/* Where the lines of each layer start; lines that are never used at the same time share bytes. */
#define CONVOLUTION_LINES (convolution_memory + 0u)
#define POOLING_LINES (convolution_memory + 18u)
#define POOLING_2_LINES (convolution_memory + 22u)
#define CONVOLUTION_ROW_VALUES 4u
#define CONVOLUTION_SIDE 3u /* rows of the window */
#define CONVOLUTION_STRIDE 1u
#define CONVOLUTION_MARGIN 1u /* padding on either side of a row */
#define CONVOLUTION_LINE_VALUES (CONVOLUTION_MARGIN + CONVOLUTION_ROW_VALUES + CONVOLUTION_MARGIN)
#define CONVOLUTION_PLACES 4u /* positions of the window in a row */
/* Grouped by channels that are computed together; each line holds one row of the window. */
/* Each byte holds 2 weights, the first one in its lowest bits, each with 8 added. */
static const uint8_t convolution_weights[] PNN_FLASH = {
   13,   10,    8,
    4,    4,    0,
    8,    0,    8,
};

static const pnn_input_t *convolution_window[CONVOLUTION_SIDE]; /* rows of the window, from the next pixel on */
static uint8_t convolution_line;    /* of the next row */
static uint8_t convolution_missing; /* rows of the next window */
static pnn_input_t convolution_memory[CONVOLUTION_MEMORY_BYTES]; /* holds the rows of all layers */

static pnn_input_t convolution_inputs[CONVOLUTION_INPUTS]; /* the inputs pushed so far */

/* ---- Convolution: functions --------------------------------------------------------------- */

/* Compute a row of the output. */
#ifdef PNN_ASSEMBLY
static PNN_NOINLINE void convolution_compute(pnn_input_t *output)
{
    __asm__ volatile(
        push r28; push r29; ldi r29, %[places]
        ".Lpixel_%=:\n"
        "    " PASSED(convolution_pixel, 16, 16) "push  r29\n"
        push r30; push r31; ldi r30, lo8(%[weights]+0); ldi r31, hi8(%[weights]+0); clr r24;
        clr r25; ldi r16, 32; ldi r17, 0; movw r2, r16
        ".Lend_begin_0_%=:\n"
        lds r26, %[window]+0; lds r27, %[window]+0+1
        ".Lend_row_0_0_%=:\n"
        ldi r28, 3
        ".Ltap_0_0_%=:\n"
        "    " PASSED(convolution_tap_0_0, 48, 48) "ld    r17, X+\n"
        tst r17; breq .Lzero_0_0_%=; add r24, r17; clr r1; adc r25, r1; lpm r16, Z+; andi r16, 15;
        mul r16, r17; add r2, r0; adc r3, r1; dec r28; brne .Ltap_0_0_%=; rjmp .Lend_0_0_%=
        ".Lzero_0_0_%=:\n"
        adiw r30, 1; dec r28; brne .Ltap_0_0_%=
        ".Lend_0_0_%=:\n"
        subi r26, lo8(-(-2)); sbci r27, hi8(-(-2)); sts %[window]+0, r26; sts %[window]+0+1, r27
        ".Lend_moved_0_%=:\n"
        lds r26, %[window]+2; lds r27, %[window]+2+1
        ".Lend_row_0_1_%=:\n"
        ldi r28, 3
        ".Ltap_0_1_%=:\n"
        "    " PASSED(convolution_tap_0_1, 48, 48) "ld    r17, X+\n"
        tst r17; breq .Lzero_0_1_%=; add r24, r17; clr r1; adc r25, r1; lpm r16, Z+; andi r16, 15;
        mul r16, r17; add r2, r0; adc r3, r1; dec r28; brne .Ltap_0_1_%=; rjmp .Lend_0_1_%=
        ".Lzero_0_1_%=:\n"
        adiw r30, 1; dec r28; brne .Ltap_0_1_%=
        ".Lend_0_1_%=:\n"
        subi r26, lo8(-(-2)); sbci r27, hi8(-(-2)); sts %[window]+2, r26; sts %[window]+2+1, r27
        ".Lend_moved_1_%=:\n"
        lds r26, %[window]+4; lds r27, %[window]+4+1
        ".Lend_row_0_2_%=:\n"
        ldi r28, 3
        ".Ltap_0_2_%=:\n"
        "    " PASSED(convolution_tap_0_2, 48, 48) "ld    r17, X+\n"
        tst r17; breq .Lzero_0_2_%=; add r24, r17; clr r1; adc r25, r1; lpm r16, Z+; andi r16, 15;
        mul r16, r17; add r2, r0; adc r3, r1; dec r28; brne .Ltap_0_2_%=; rjmp .Lend_0_2_%=
        ".Lzero_0_2_%=:\n"
        adiw r30, 1; dec r28; brne .Ltap_0_2_%=
        ".Lend_0_2_%=:\n"
        subi r26, lo8(-(-2)); sbci r27, hi8(-(-2)); sts %[window]+4, r26; sts %[window]+4+1, r27
        ".Lend_moved_2_%=:\n"
        lsl r24; rol r25; lsl r24; rol r25; lsl r24; rol r25; sub r2, r24; sbc r3, r25; pop r31;
        pop r30; ldi r16, 146; ldi r26, 26; ldi r27, 0
        ".Lend_scale_0_%=:\n"
        clr r17; tst r3; brmi .Lsmall_value_0_0_%=; ldi r17, 15; cp r2, r26; cpc r3, r27;
        brcc .Llarge_value_0_0_%=; mul r3, r16; mov r17, r0; mul r2, r16; add r17, r1; lsl r0;
        brcc .Ldown_value_0_0_%=; brne .Lup_value_0_0_%=; sbrc r17, 0
        ".Lup_value_0_0_%=:\n"
        inc r17
        ".Ldown_value_0_0_%=:\n"
        ".Lsmall_value_0_0_%=:\n"
        ".Llarge_value_0_0_%=:\n"
        st Z+, r17
        ".Lend_value_0_0_%=:\n"
        pop r29
        ".Lend_end_%=:\n"
        dec r29; breq .Ldone_%=; %~jmp .Lpixel_%=
        ".Ldone_%=:\n"
        clr r1; pop r29; pop r28
        : "+z"(output)
        : [window] "i"(convolution_window), [places] "i"(CONVOLUTION_PLACES), [weights] "i"(convolution_weights)
        : "memory", "r0", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "r16", "r17", "r18", "r19", "r20", "r21", "r22", "r23", "r24", "r25", "r26", "r27");
}
#else
static pnn_input_t convolution_value_of(int16_t sum)
{
    if (sum < 0) {
        return 0;
    }
    const uint32_t product = (uint32_t)sum * 146u + 128u;
    const uint8_t halfway = (product & 255u) == 0; /* to even */
    const uint32_t value = product >> 8 & ~(uint32_t)halfway;
    return (pnn_input_t)(value < 15u ? value : 15u);
}

static void convolution_compute(pnn_input_t *output)
{
    //@ loop unroll CONVOLUTION_PLACES;
    for (uint8_t left = CONVOLUTION_PLACES; left > 0; --left, output += 1) {
        {
            static const int16_t bias[] PNN_FLASH = {32};
            int16_t sums[1];
            //@ loop unroll 1;
            for (uint8_t o = 0; o < 1; ++o) {
                sums[o] = (int16_t)PNN_READ_I16(&bias[o]);
            }
            for (uint8_t row = 0; row < CONVOLUTION_SIDE; ++row) {
                for (uint8_t i = 0; i < 3; ++i) {
                    for (uint8_t o = 0; o < 1; ++o) {
                        const uint8_t byte = PNN_READ_U8(&convolution_weights[(row * 3 + i) * 1 + o / 2]);
                        const int8_t own = (int8_t)((byte >> o % 2 * 4 & 15) - 8);
                        sums[o] = (int16_t)((uint16_t)sums[o] + (uint16_t)(convolution_window[row][i] * own));
                    }
                }
            }
            for (uint8_t o = 0; o < 1; ++o) {
                output[o] = convolution_value_of(sums[o]);
            }
        }
        //@ loop unroll CONVOLUTION_SIDE;
        for (uint8_t row = 0; row < CONVOLUTION_SIDE; ++row) {
            convolution_window[row] += CONVOLUTION_STRIDE * 1;
        }
    }
}
#endif

static pnn_input_t *convolution_row(void)
{
    return CONVOLUTION_LINES + convolution_line * CONVOLUTION_LINE_VALUES + CONVOLUTION_MARGIN;
}

static uint8_t convolution_line_behind(uint8_t line)
{
    return line + 1u == CONVOLUTION_SIDE ? 0 : (uint8_t)(line + 1);
}

/* Process the row that was written to convolution_row(). */
static PNN_NOINLINE void convolution_take(void)
{
    uint8_t line = convolution_line_behind(convolution_line);
    convolution_line = line;
    if (--convolution_missing > 0) {
        return;
    }
    PNN_FACT(PASSED(convolution_output_rows, 4, 4));
    convolution_missing = CONVOLUTION_STRIDE;
    //@ loop unroll CONVOLUTION_SIDE;
    for (uint8_t i = 0; i < CONVOLUTION_SIDE; ++i) {
        PNN_FACT(PASSED(convolution_lines, 12, 12));
        convolution_window[i] = CONVOLUTION_LINES + line * CONVOLUTION_LINE_VALUES;
        line = convolution_line_behind(line);
    }
    convolution_compute(pooling_row());
    pooling_take();
}

static void convolution_clear_row(void)
{
    pnn_input_t *value = convolution_row();
    //@ loop unroll CONVOLUTION_ROW_VALUES;
    for (const pnn_input_t *end = value + CONVOLUTION_ROW_VALUES; value != end;) {
        PNN_FACT(PASSED(convolution_cleared, 8, 8));
        *value++ = 0;
    }
}

/* Copy `count` values, at least one. */
static void convolution_copy(uint16_t next, const pnn_input_t *values, uint16_t count)
{
#ifdef PNN_ASSEMBLY
    pnn_input_t *to = &convolution_inputs[next];
    __asm__ volatile(
        ".Lcopied_%=: " PASSED(convolution_copied, 16, 16) "ld    r0, X+\n"
        st Z+, r0; subi %A[count], 1; sbci %B[count], 0; brne .Lcopied_%=
        : "+z"(to), "+x"(values), [count] "+d"(count)
        :
        : "memory", "r0");
#else
    //@ loop unroll 16;
    do {
        convolution_inputs[next++] = *values++;
    } while (--count > 0);
#endif
}

static void convolution_take_image(const pnn_input_t *value)
{
    //@ loop unroll CONVOLUTION_ROWS;
    for (uint8_t left = CONVOLUTION_ROWS; left > 0; --left) {
        PNN_FACT(PASSED(convolution_rows, 4, 4));
        pnn_input_t *to = convolution_row();
        const pnn_input_t *const end = value + CONVOLUTION_ROW_VALUES;
        //@ loop unroll CONVOLUTION_ROW_VALUES;
        while (value != end) {
            PNN_FACT(PASSED(convolution_row_values, 16, 16));
            *to++ = *value++;
        }
        convolution_take();
    }
}

