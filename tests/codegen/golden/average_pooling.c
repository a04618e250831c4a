/* ---- Average pooling: constants and variables --------------------------------------------- */

/* The image has 5x6 pixels, of which the central 3x4 are used; its averages are 2x3. Widths and heights are in units: a pixel
 * and an area are each a whole number of units. */
#define AVERAGE_POOLING_PIXELS 23u /* up to the last used pixel */
#define AVERAGE_POOLING_ROW_PIXELS 4u
#define AVERAGE_POOLING_PIXELS_BEFORE 7u
#define AVERAGE_POOLING_PIXELS_BETWEEN_ROWS 2u
#define AVERAGE_POOLING_PIXEL_WIDTH 3u
#define AVERAGE_POOLING_AREA_WIDTH 4u
#define AVERAGE_POOLING_PIXEL_HEIGHT 2u
#define AVERAGE_POOLING_AREA_HEIGHT 3u
#define AVERAGE_POOLING_AREAS_IN_ROW 3u
#define AVERAGE_POOLING_AVERAGE_MULTIPLIER 1349u

static uint16_t average_pooling_ignored; /* pixels to skip before the next used pixel */
static uint8_t average_pooling_row_left; /* pixels left in the row */
static uint8_t average_pooling_units_right; /* width left in the current area, from the next pixel on */
static uint16_t average_pooling_row_sum; /* sum of the current area in this row */
static uint8_t average_pooling_units_below; /* height left in the current areas, from this row on */
static uint16_t *average_pooling_area_sum; /* sum of the current area in the rows above */
static uint16_t average_pooling_area_sums[AVERAGE_POOLING_AREAS_IN_ROW];
static pnn_input_t average_pooling_values[6u];
static pnn_input_t *average_pooling_next_average;

/* ---- Average pooling: functions ----------------------------------------------------------- */

static void average_pooling_begin(void)
{
    average_pooling_ignored = AVERAGE_POOLING_PIXELS_BEFORE;
    average_pooling_row_left = AVERAGE_POOLING_ROW_PIXELS;
    average_pooling_units_right = AVERAGE_POOLING_AREA_WIDTH;
    average_pooling_row_sum = 0;
    average_pooling_next_average = average_pooling_values;
    average_pooling_units_below = AVERAGE_POOLING_AREA_HEIGHT;
    average_pooling_area_sum = average_pooling_area_sums;
    for (uint16_t i = 0; i < AVERAGE_POOLING_AREAS_IN_ROW; ++i) {
        PNN_FACT(PASSED(average_pooling_begun, 3, 3));
        average_pooling_area_sums[i] = 0;
    }
}

/* Sum `count` pixels, at least one, all in one row and before its end. Write the averages of the areas
 * that they complete, and return where the next average goes. */
#ifdef PNN_ASSEMBLY
static PNN_NOINLINE pnn_input_t *average_pooling_sum_part(const pnn_input_t *pixel, uint8_t count, pnn_input_t *average)
{
    uint16_t sum = average_pooling_row_sum;
    uint8_t right = average_pooling_units_right;
    uint16_t *area = average_pooling_area_sum;
    const uint8_t complete = average_pooling_units_below <= AVERAGE_POOLING_PIXEL_HEIGHT;
    const uint8_t within = complete ? average_pooling_units_below : AVERAGE_POOLING_PIXEL_HEIGHT;
    const uint8_t below = (uint8_t)(AVERAGE_POOLING_PIXEL_HEIGHT - within);
    __asm__ volatile(
        bst %[complete], 0
        ".Lpixel_%=: " SHARED(average_pooling_pixels, 12, 12, 1, pixel) "ld    r18, %a[pixel]+\n"
        cpi %[right], 4; brlo .Llast_%=; mul r18, %[width]; add %A[sum], r0; adc %B[sum], r1;
        subi %[right], 3
        ".Lwithin_%=: dec   %[count]\n"
        brne .Lpixel_%=; rjmp .Lend_%=
        ".Llast_%=: " PASSED(average_pooling_last, 9, 0) "mov   r19, %A[sum]\n"
        or r19, %B[sum]; or r19, r18; breq .Lempty_%=; mul r18, %[right]; add %A[sum], r0;
        adc %B[sum], r1; subi %[right], 3
        "    neg   %[right]\n" /* units of the pixel beyond this area */
        mul %B[sum], %[within]; mov r21, r0; mul %A[sum], %[within]; add r21, r1; ld r20, %a[area];
        add r20, r0; ldd r0, %a[area]+1; adc r21, r0; brts .Lcomplete_%=; st %a[area]+, r20;
        st %a[area]+, r21
        ".Lnext_%=:\n"
        mul r18, %[right]; movw %A[sum], r0; subi %[right], 4; neg %[right]; rjmp .Lwithin_%=
        ".Lempty_%=: brts  .Lnothing_%=\n" /* the row adds nothing */
        adiw %[area], 2; subi %[right], 3 - 4; rjmp .Lwithin_%=
        ".Lnothing_%=: ld    r20, %a[area]\n"
        ldd r21, %a[area]+1; subi %[right], 3; neg %[right]; mov r19, r20; or r19, r21;
        brne .Lsummed_%=; adiw %[area], 2; rjmp .Lstore_%=
        ".Lcomplete_%=:\n"
        ".Lsummed_%=:\n"
        "    " PASSED(average_pooling_complete, 6, 0) "mul   %B[sum], %[below]\n"
        mov r19, r0; mul %A[sum], %[below]; add r19, r1; st %a[area]+, r0; st %a[area]+, r19;
        mul r20, %A[multiplier]; ldi r22, 0x80; add r22, r1; clr r19; rol r19;
        mul r21, %A[multiplier]; add r22, r0; adc r19, r1; mul r20, %B[multiplier]; add r22, r0;
        adc r19, r1; mul r21, %B[multiplier]; add r19, r0
        ".Lstore_%=: " SHARED(average_pooling_averages, 6, 6, 1, store) "movw  r20, %A[pixel]\n"
        movw %A[pixel], %A[average]; st %a[pixel]+, r19; movw %A[average], %A[pixel];
        movw %A[pixel], r20; rjmp .Lnext_%=
        ".Lend_%=: clr   __zero_reg__\n"
        : [pixel] "+&x"(pixel), [average] "+&r"(average), [count] "+&r"(count), [sum] "+&r"(sum),
          [right] "+&d"(right), [area] "+&z"(area)
        : [multiplier] "r"((uint16_t)AVERAGE_POOLING_AVERAGE_MULTIPLIER), [width] "r"((uint8_t)AVERAGE_POOLING_PIXEL_WIDTH),
          [complete] "r"(complete), [within] "r"(within), [below] "r"(below)
        : "memory", "r0", "r18", "r19", "r20", "r21", "r22");
    average_pooling_row_sum = sum;
    average_pooling_units_right = right;
    average_pooling_area_sum = area;
    return average;
}

static pnn_input_t *average_pooling_pool_part(const pnn_input_t *features, pnn_place_t first, pnn_place_t end, uint8_t count, pnn_input_t *average)
{
    (void)features;
    (void)end;
    return average_pooling_sum_part(first, count, average);
}

#else
static uint8_t average_pooling_average_of(uint16_t sum)
{
    return (uint8_t)(((uint32_t)sum * AVERAGE_POOLING_AVERAGE_MULTIPLIER + 0x8000u) >> 16);
}

static pnn_input_t *average_pooling_pool_part(const pnn_input_t *features, pnn_place_t first, pnn_place_t end, uint8_t count, pnn_input_t *average)
{
    uint16_t next = (uint16_t)(average - average_pooling_values);
    (void)features; /* on the AVR */
    //@ loop widen_hints next, 6;
    for (; count > 0 && first < end; --count, ++first) {
        const uint8_t x = PNN_AT(features, first);
        if (average_pooling_units_right > AVERAGE_POOLING_PIXEL_WIDTH) {
            average_pooling_row_sum = (uint16_t)(average_pooling_row_sum + x * AVERAGE_POOLING_PIXEL_WIDTH);
            average_pooling_units_right = (uint8_t)(average_pooling_units_right - AVERAGE_POOLING_PIXEL_WIDTH);
            continue;
        }
        const uint8_t beyond = (uint8_t)(AVERAGE_POOLING_PIXEL_WIDTH - average_pooling_units_right); /* into the next area */
        average_pooling_row_sum = (uint16_t)(average_pooling_row_sum + (uint16_t)x * average_pooling_units_right);
        if (average_pooling_area_sum == average_pooling_area_sums + AVERAGE_POOLING_AREAS_IN_ROW) {
            average_pooling_area_sum = average_pooling_area_sums; /* as at the start of every row; helps a prover */
        }
        if (average_pooling_units_below > AVERAGE_POOLING_PIXEL_HEIGHT) {
            *average_pooling_area_sum = (uint16_t)(*average_pooling_area_sum + average_pooling_row_sum * AVERAGE_POOLING_PIXEL_HEIGHT);
        } else {
            if (next != sizeof average_pooling_values) { /* always true; helps a prover */
                average_pooling_values[next++] = average_pooling_average_of((uint16_t)(*average_pooling_area_sum + average_pooling_row_sum * average_pooling_units_below));
            }
            *average_pooling_area_sum = (uint16_t)(average_pooling_row_sum * (uint8_t)(AVERAGE_POOLING_PIXEL_HEIGHT - average_pooling_units_below));
        }
        ++average_pooling_area_sum;
        average_pooling_row_sum = (uint16_t)((uint16_t)x * beyond);
        average_pooling_units_right = (uint8_t)(AVERAGE_POOLING_AREA_WIDTH - beyond);
    }
    return average_pooling_values + next;
}

#endif

static void average_pooling_next_row(void)
{
    average_pooling_area_sum = average_pooling_area_sums;
    if (average_pooling_units_below <= AVERAGE_POOLING_PIXEL_HEIGHT) {
        average_pooling_units_below = (uint8_t)(average_pooling_units_below + AVERAGE_POOLING_AREA_HEIGHT);
    }
    average_pooling_units_below = (uint8_t)(average_pooling_units_below - AVERAGE_POOLING_PIXEL_HEIGHT);
}

/* The same for pixels of several rows. */
static PNN_NOINLINE pnn_input_t *average_pooling_pool(const pnn_input_t *features, pnn_place_t first, pnn_place_t end, uint16_t count, pnn_input_t *average)
{
    while (count > 0) {
        if (average_pooling_ignored > 0) {
            PNN_FACT(EACH_AND(average_pooling_ignored, average_pooling_pools, 1, 3));
            if (average_pooling_ignored >= count) {
                average_pooling_ignored = (uint16_t)(average_pooling_ignored - count);
                break;
            }
            first = (pnn_place_t)(first + average_pooling_ignored);
            count = (uint16_t)(count - average_pooling_ignored);
            average_pooling_ignored = 0;
        }
        PNN_FACT(EACH_AND(average_pooling_parts, average_pooling_pools, 1, 3));
        const uint8_t part = count < average_pooling_row_left ? (uint8_t)count : average_pooling_row_left;
        average = average_pooling_pool_part(features, first, end, part, average);
        first = (pnn_place_t)(first + part);
        count = (uint16_t)(count - part);
        average_pooling_row_left = (uint8_t)(average_pooling_row_left - part);
        if (average_pooling_row_left == 0) {
            average_pooling_row_left = AVERAGE_POOLING_ROW_PIXELS;
            average_pooling_ignored = AVERAGE_POOLING_PIXELS_BETWEEN_ROWS;
            average_pooling_next_row();
        }
    }
    return average;
}

