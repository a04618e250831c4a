/* ---- Pooling: constants and variables ----------------------------------------------------- */

#define POOLING_ROW_VALUES 4u
#define POOLING_WINDOWS 2u /* in a row */
#define POOLING_HEIGHT 2u   /* of a window */
#define POOLING_WIDTH 2u
#define POOLING_CHANNELS 1u

static uint8_t pooling_missing; /* rows of the current windows */

/* ---- Pooling 2: constants and variables --------------------------------------------------- */

#define POOLING_2_ROW_VALUES 2u
#define POOLING_2_VALUES 1u /* values in a row of the output */
#define POOLING_2_WINDOWS 1u /* in a row */
#define POOLING_2_HEIGHT 2u   /* of a window */
#define POOLING_2_WIDTH 2u
#define POOLING_2_CHANNELS 1u
#define POOLING_2_SUMS 1u
#define POOLING_2_MULTIPLIER 16384u

static uint8_t pooling_2_missing; /* rows of the current windows */
static uint16_t pooling_2_sums[POOLING_2_SUMS]; /* of these windows */
static pnn_input_t pooling_2_values[POOLING_2_VALUES]; /* a row of the output */

/* ---- Pooling 2: functions ----------------------------------------------------------------- */

static pnn_input_t *pooling_2_row(void)
{
    return POOLING_2_LINES;
}

/* Add the row to the current windows. */
static void pooling_2_add_row(uint16_t *under_way)
{
#ifdef PNN_ASSEMBLY
    const pnn_input_t *value = POOLING_2_LINES;
    uint8_t left = POOLING_2_WINDOWS;
    register uint8_t counter __asm__("r21") = left;
    __asm__ volatile(
        ".Lwindow_%=:\n"
        "    " PASSED(pooling_2_window, 2, 2) "ldi   r23, 2\n"
        ".Lpixel_%=:\n"
        "    " PASSED(pooling_2_pixel, 4, 4) "ldi   r20, 1\n"
        ".Lvalue_%=:\n"
        "    " PASSED(pooling_2_value, 4, 4) "ld    r18, X+\n"
        ld r19, Z; ldd r22, Z+1; add r19, r18; adc r22, r1; st Z+, r19; st Z+, r22; dec r20;
        brne .Lvalue_%=; dec r23; breq .Lnext_%=; subi r30, lo8(2); sbci r31, hi8(2);
        rjmp .Lpixel_%=
        ".Lnext_%=:\n"
        dec r21; brne .Lwindow_%=
        : "+x"(value), "+z"(under_way), "+r"(counter)
        :
        : "memory", "r18", "r19", "r20", "r22", "r23");
#else
    const pnn_input_t *value = POOLING_2_LINES;
    //@ loop unroll POOLING_2_WINDOWS;
    for (uint8_t left = POOLING_2_WINDOWS; left > 0; --left) {
        //@ loop unroll POOLING_2_WIDTH;
        for (uint8_t pixels = POOLING_2_WIDTH; pixels > 0; --pixels) {
            //@ loop unroll POOLING_2_CHANNELS;
            for (uint8_t c = 0; c < POOLING_2_CHANNELS; ++c) {
                const pnn_input_t x = *value++;
                under_way[c] = (uint16_t)(under_way[c] + x);
            }
        }
        under_way += POOLING_2_CHANNELS;
    }
#endif
}

/* Compute the averages from the sums, and begin the next windows. */
static void pooling_2_average(pnn_input_t *average)
{
    uint16_t *sum = pooling_2_sums;
#ifdef PNN_ASSEMBLY
    uint16_t left = POOLING_2_SUMS;
    __asm__ volatile(
        ldi r16, lo8(%[multiplier]); ldi r17, hi8(%[multiplier]); clr r23
        ".Laverage_%=:\n"
        "    " PASSED(pooling_2_average, 1, 1) "ld    r20, Z\n"
        ldd r21, Z+1; mul r20, r16
        "    ldi   r22, 128\n" /* a half */
        add r22, r1; clr r19; rol r19; mul r21, r16; add r22, r0; adc r19, r1; mul r20, r17;
        add r22, r0; adc r19, r1; mul r21, r17; add r19, r0; st X+, r19; st Z+, r23; st Z+, r23;
        sbiw %[left], 1; brne .Laverage_%=; clr r1
        : "+x"(average), "+z"(sum), [left] "+w"(left)
        : [multiplier] "i"(POOLING_2_MULTIPLIER)
        : "memory", "r0", "r16", "r17", "r19", "r20", "r21", "r22", "r23");
#else
    //@ loop unroll POOLING_2_SUMS;
    for (; sum != pooling_2_sums + POOLING_2_SUMS; ++sum) {
        *average++ = (pnn_input_t)(((uint32_t)*sum * POOLING_2_MULTIPLIER + 0x8000u) >> 16);
        *sum = 0;
    }
#endif
}

/* Process the row that was written to pooling_2_row(). */
static PNN_NOINLINE void pooling_2_take(void)
{
    pooling_2_add_row(pooling_2_sums);
    if (--pooling_2_missing > 0) {
        return;
    }
    PNN_FACT(PASSED(pooling_2_output_rows, 1, 1));
    pooling_2_missing = POOLING_2_HEIGHT;
    pooling_2_average(pooling_2_values);
    const pnn_input_t *values = pooling_2_values;
    uint16_t count = POOLING_2_VALUES;
    linear_push(values, count);
}

/* ---- Pooling: functions ------------------------------------------------------------------- */

static pnn_input_t *pooling_row(void)
{
    return POOLING_LINES;
}

/* Add the row to the current windows. */
static void pooling_add_row(pnn_input_t *under_way)
{
#ifdef PNN_ASSEMBLY
    const pnn_input_t *value = POOLING_LINES;
    uint8_t left = POOLING_WINDOWS;
    register uint8_t counter __asm__("r21") = left;
    __asm__ volatile(
        ".Lwindow_%=:\n"
        "    " PASSED(pooling_window, 8, 8) "ldi   r23, 2\n"
        ".Lpixel_%=:\n"
        "    " PASSED(pooling_pixel, 16, 16) "ldi   r20, 1\n"
        ".Lvalue_%=:\n"
        "    " PASSED(pooling_value, 16, 16) "ld    r18, X+\n"
        ld r19, Z; cp r19, r18; brcc .Lkeep_%=; mov r19, r18
        ".Lkeep_%=:\n"
        st Z+, r19; dec r20; brne .Lvalue_%=; dec r23; breq .Lnext_%=; subi r30, lo8(1);
        sbci r31, hi8(1); rjmp .Lpixel_%=
        ".Lnext_%=:\n"
        dec r21; brne .Lwindow_%=
        : "+x"(value), "+z"(under_way), "+r"(counter)
        :
        : "memory", "r18", "r19", "r20", "r22", "r23");
#else
    const pnn_input_t *value = POOLING_LINES;
    //@ loop unroll POOLING_WINDOWS;
    for (uint8_t left = POOLING_WINDOWS; left > 0; --left) {
        //@ loop unroll POOLING_WIDTH;
        for (uint8_t pixels = POOLING_WIDTH; pixels > 0; --pixels) {
            //@ loop unroll POOLING_CHANNELS;
            for (uint8_t c = 0; c < POOLING_CHANNELS; ++c) {
                const pnn_input_t x = *value++;
                if (x > under_way[c]) {
                    under_way[c] = x;
                }
            }
        }
        under_way += POOLING_CHANNELS;
    }
#endif
}

/* Process the row that was written to pooling_row(). */
static PNN_NOINLINE void pooling_take(void)
{
    pnn_input_t *const largest = pooling_2_row();
    if (pooling_missing == POOLING_HEIGHT) {
        //@ loop unroll 2;
        for (pnn_input_t *value = largest; value != largest + 2u; ++value) {
            PNN_FACT(PASSED(pooling_cleared, 4, 4));
            *value = 0;
        }
    }
    pooling_add_row(largest);
    if (--pooling_missing > 0) {
        return;
    }
    PNN_FACT(PASSED(pooling_output_rows, 2, 2));
    pooling_missing = POOLING_HEIGHT;
    pooling_2_take();
}

