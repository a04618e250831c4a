/* ---- Deskew: constants and variables ------------------------------------------------------ */

/* The image is deskewed. With x and y measured from its middle, b the pixels and cy their centre,
 *
 *     slope = sum (y - cy) x b / sum (y - cy)^2 b
 *
 * row y moves to the left by slope (y - cy) pixels, rounded. The slope is at most 1 either way. */
#define DESKEW_IMAGE_HEIGHT 5
#define DESKEW_IMAGE_WIDTH 6
#define DESKEW_FIRST_ROW 1u   /* the first row used */
#define DESKEW_FIRST_COLUMN 1
#define DESKEW_ROWS 3u
#define DESKEW_CENTRE_BITS 5 /* fractional bits of cy */
#define DESKEW_SLOPE_BITS 8  /* fractional bits of the slope */
#define DESKEW_MOMENT_BITS 3 /* dropped from the moments, so that the slope's numerator fits 32 bits */
#define DESKEW_ROW_PIXELS 4u

static pnn_input_t deskew_image[PNN_FEATURES]; /* the pixels pushed so far */

/* ---- Deskew: functions -------------------------------------------------------------------- */

/* Copy `count` values, at least one. */
static void deskew_copy(uint16_t next, const pnn_input_t *values, uint16_t count)
{
#ifdef PNN_ASSEMBLY
    pnn_input_t *to = &deskew_image[next];
    __asm__ volatile(
        ".Lcopied_%=: " PASSED(deskew_copied, 30, 30) "ld    r0, X+\n"
        st Z+, r0; subi %A[count], 1; sbci %B[count], 0; brne .Lcopied_%=
        : "+z"(to), "+x"(values), [count] "+d"(count)
        :
        : "memory", "r0");
#else
    //@ loop unroll 30;
    do {
        deskew_image[next++] = *values++;
    } while (--count > 0);
#endif
}

struct deskew_row_sums {
    uint16_t pixels;     /* sum b */
    uint32_t from_right; /* sum (DESKEW_IMAGE_WIDTH - column) b */
};

#ifdef PNN_ASSEMBLY
static struct deskew_row_sums deskew_sum_row(const pnn_input_t *pixel)
{
    struct deskew_row_sums sums;
    uint8_t left = DESKEW_IMAGE_WIDTH, low = 0, high = 0, moment_low = 0, moment_high = 0, moment_top = 0;
    uint8_t value, zero = 0;
    __asm__ volatile(
        "1: " PASSED(deskew_pixels, 30, 30) "ld    %[value], %a[pixel]+\n"
        and %[value], %[value]; breq 2f; add %[low], %[value]; adc %[high], %[zero];
        mul %[value], %[left]; add %[moment_low], r0; adc %[moment_high], r1;
        adc %[moment_top], %[zero]
        "2:  dec   %[left]\n"
        brne 1b; clr __zero_reg__
        : [pixel] "+&e"(pixel), [left] "+&r"(left), [value] "=&r"(value), [low] "+&r"(low),
          [high] "+&r"(high), [moment_low] "+&r"(moment_low), [moment_high] "+&r"(moment_high),
          [moment_top] "+&r"(moment_top)
        : [zero] "r"(zero)
        : "r0", "cc", "memory");
    sums.pixels = (uint16_t)(low | (uint16_t)high << 8);
    sums.from_right = moment_low | (uint32_t)moment_high << 8 | (uint32_t)moment_top << 16;
    return sums;
}
#else
static struct deskew_row_sums deskew_sum_row(const pnn_input_t *pixel)
{
    struct deskew_row_sums sums = {0, 0};
    //@ loop unroll DESKEW_IMAGE_WIDTH;
    for (uint8_t left = DESKEW_IMAGE_WIDTH; left > 0; --left) {
        const uint8_t value = *pixel++;
        sums.pixels = (uint16_t)(sums.pixels + value);
        sums.from_right += (uint16_t)(value * left);
    }
    return sums;
}
#endif

struct deskew_slant {
    int16_t shift; /* of the first row, plus half a pixel for rounding, in fractions of a pixel */
    int16_t slope; /* added for each row */
};

/* Sums of sums avoid multiplications: after all rows, row l from the bottom has been counted l times in
 * the sums of first order and l (l + 1) / 2 times in the sum of second order. */
static struct deskew_slant deskew_find_slant(const pnn_input_t *pixels)
{
    const int32_t middle_row = DESKEW_IMAGE_HEIGHT - DESKEW_IMAGE_HEIGHT / 2;
    const int32_t middle_column = DESKEW_IMAGE_WIDTH - DESKEW_IMAGE_WIDTH / 2;
    int32_t mass = 0, rows = 0, squares = 0, columns = 0, products = 0;
    //@ loop unroll DESKEW_IMAGE_HEIGHT;
    for (uint8_t row = DESKEW_IMAGE_HEIGHT; row > 0; --row) {
        PNN_FACT(PASSED(deskew_summed, 5, 5));
        const struct deskew_row_sums sums = deskew_sum_row(pixels);
        pixels += DESKEW_IMAGE_WIDTH;
        mass += sums.pixels;
        rows += mass;
        squares += rows;
        columns += (int32_t)sums.from_right;
        products += columns;
    }
    const int32_t down = middle_row * mass - rows;
    const int32_t across = middle_column * mass - columns;
    int32_t square = middle_row * (middle_row * mass - 2 * rows) + 2 * squares - rows;
    int32_t product = middle_column * down - (middle_row * columns - products);

    int16_t centre = mass > 0 ? (int16_t)(down * (1 << DESKEW_CENTRE_BITS) / mass) : 0;
    const int16_t furthest = DESKEW_IMAGE_HEIGHT / 2 * (1 << DESKEW_CENTRE_BITS); /* always enough; helps a prover */
    centre = centre > furthest || centre < -furthest ? 0 : centre;
    product -= centre * across >> DESKEW_CENTRE_BITS;
    square = (square - (centre * down >> DESKEW_CENTRE_BITS)) >> DESKEW_MOMENT_BITS;
    uint32_t slope = (uint32_t)(product < 0 ? -product : product) >> DESKEW_MOMENT_BITS;
    slope = square > 0 ? (slope << DESKEW_SLOPE_BITS) / (uint32_t)square : 0;
    if (slope > 1u << DESKEW_SLOPE_BITS) {
        slope = 1u << DESKEW_SLOPE_BITS;
    }
    struct deskew_slant slant;
    slant.slope = (int16_t)(product < 0 ? -(int16_t)slope : (int16_t)slope);
    const int16_t from_centre = (int16_t)(-(DESKEW_IMAGE_HEIGHT / 2) * (1 << DESKEW_CENTRE_BITS) - centre);
    slant.shift = (int16_t)((slant.slope * (int32_t)from_centre >> DESKEW_CENTRE_BITS) + (1 << (DESKEW_SLOPE_BITS - 1)));
    return slant;
}

static pnn_input_t *deskew_write_zeros(uint8_t count, pnn_input_t *next)
{
    //@ loop unroll DESKEW_ROW_PIXELS;
    while (count > 0) {
        PNN_FACT(PASSED(deskew_moved, 12, 0));
        *next++ = 0;
        --count;
    }
    return next;
}

/* Return the used pixels of a row, starting at this column; pixels outside the image are 0. */
static const pnn_input_t *deskew_part_of_row(const pnn_input_t *row, int8_t column, pnn_input_t *part)
{
    pnn_input_t *next = part;
    uint8_t left = DESKEW_ROW_PIXELS;
    if (column < 0) {
        const uint8_t before = (uint8_t)-column < left ? (uint8_t)-column : left;
        next = deskew_write_zeros(before, next);
        left = (uint8_t)(left - before);
        column = 0;
    } else if (column <= (int8_t)(DESKEW_IMAGE_WIDTH - DESKEW_ROW_PIXELS)) {
        return row + column;
    }
    uint8_t inside = 0;
    if (column < DESKEW_IMAGE_WIDTH) {
        inside = (uint8_t)(DESKEW_IMAGE_WIDTH - column);
        row += column;
    }
    if (inside > left) {
        inside = left;
    }
    left = (uint8_t)(left - inside);
    //@ loop unroll DESKEW_ROW_PIXELS;
    for (; inside > 0; --inside) {
        PNN_FACT(PASSED(deskew_moved, 12, 0));
        *next++ = *row++;
    }
    deskew_write_zeros(left, next);
    return part;
}

static void deskew_push_rows(const pnn_input_t *pixels)
{
    static pnn_input_t moved[DESKEW_ROW_PIXELS];
    struct deskew_slant slant = deskew_find_slant(pixels);
    pixels += DESKEW_FIRST_ROW * DESKEW_IMAGE_WIDTH;
    slant.shift = (int16_t)(slant.shift + slant.slope * (int16_t)DESKEW_FIRST_ROW);
    //@ loop unroll DESKEW_ROWS;
    for (uint8_t row = DESKEW_ROWS; row > 0; --row) {
        PNN_FACT(PASSED(deskew_rows, 3, 3));
        const int8_t column = (int8_t)(DESKEW_FIRST_COLUMN + (slant.shift >> DESKEW_SLOPE_BITS));
        //@ split column;
        const pnn_input_t *const part = deskew_part_of_row(pixels, column, moved);
        //@ merge column;
        average_pooling_push(part);
        pixels += DESKEW_IMAGE_WIDTH;
        slant.shift = (int16_t)(slant.shift + slant.slope);
    }
}

