/* ---- Gradients: constants and variables --------------------------------------------------- */

/* The image has 5x8 pixels, of which the central 5x7 are used. */
#define GRADIENTS_PIXELS 39u /* up to the last used pixel */
#define GRADIENTS_ROW_PIXELS 7u
#define GRADIENTS_PIXELS_BEFORE 0u
#define GRADIENTS_PIXELS_BETWEEN_ROWS 1u
#define GRADIENTS_DIRECTIONS 4u
#define GRADIENTS_ROW_SUMS 8u /* of a row of cells */
#define GRADIENTS_SUMS 8u
#define GRADIENTS_SHIFT 1

/* Runs of adjacent pixels of a row, or of rows, that belong to the same cells: the length of the run,
 * whether the run begins a new cell, and whether this cell shares the run with the next cell. */
#define GRADIENTS_RUN_COUNT 0x3fu
#define GRADIENTS_RUN_NEXT 0x40u
#define GRADIENTS_RUN_SHARED 0x80u
static const uint8_t gradients_row_runs[] PNN_FLASH = {5, 0};
static const uint8_t gradients_column_runs[] PNN_FLASH = {3, 129, 67, 0};

/* The input for each sum; the index is the sum without its lowest bits. */
static const uint8_t gradients_roots[256] PNN_FLASH = {
    0,    5,    6,    7,    8,    9,   10,   11,   12,   12,   13,   14,   14,   15,   15,   16,
  ...
};

#ifdef __AVR__
typedef uint16_t *gradients_cell_t;
typedef pnn_input_t *gradients_line_t;
#else
typedef uint16_t gradients_cell_t, gradients_line_t;
#endif
/* Return the run at this place; 0 after the last run. */
#define GRADIENTS_RUN(runs, place) (PNN_SURE((place) < sizeof runs) ? PNN_READ_U8(&PNN_AT(runs, place)) : 0)

static uint16_t gradients_ignored; /* pixels to skip before the next used pixel */
static uint8_t gradients_column; /* of the next pixel */
static uint8_t gradients_row; /* of the next pixel */
static uint8_t gradients_rows_left; /* of the current run of rows */
static uint8_t gradients_row_shared; /* whether two rows of cells share that run */
static pnn_place_t gradients_next_rows;
static gradients_cell_t gradients_cells; /* the sums of the current row of cells */
/* Two alternating rows of pixels, and one of zeros; each has a zero pixel at either end. */
static pnn_input_t gradients_lines[3 * (GRADIENTS_ROW_PIXELS + 2)];
#define GRADIENTS_LINE(i) PNN_PLACE(gradients_lines, i * (GRADIENTS_ROW_PIXELS + 2))
static union {
    uint16_t sums[GRADIENTS_SUMS];
    pnn_input_t values[GRADIENTS_SUMS]; /* their roots */
} gradients;

/* ---- Gradients: functions ----------------------------------------------------------------- */

/* Begin the next run of rows. */
static PNN_NOINLINE void gradients_begin_rows(void)
{
    PNN_FACT(PASSED(gradients_row_runs, 2, 0));
    const uint8_t run = GRADIENTS_RUN(gradients_row_runs, gradients_next_rows);
    ++gradients_next_rows;
    gradients_rows_left = run & GRADIENTS_RUN_COUNT;
    gradients_row_shared = (run & GRADIENTS_RUN_SHARED) != 0;
    if (run & GRADIENTS_RUN_NEXT) {
        gradients_cells = (gradients_cell_t)(gradients_cells + GRADIENTS_ROW_SUMS);
    }
}

static void gradients_begin(void)
{
    gradients_ignored = GRADIENTS_PIXELS_BEFORE;
    gradients_column = 0;
    gradients_row = 0;
    gradients_next_rows = PNN_PLACE(gradients_row_runs, 0);
    gradients_cells = PNN_PLACE(gradients.sums, 0);
    gradients_begin_rows();
    for (uint8_t i = 1; i <= GRADIENTS_ROW_PIXELS; ++i) {
        PNN_FACT(PASSED(gradients_above, 7, 7));
        gradients_lines[GRADIENTS_ROW_PIXELS + 2 + i] = 0; /* above the first row */
    }
    //@ loop unroll GRADIENTS_SUMS;
    for (uint16_t *sum = gradients.sums; sum != gradients.sums + GRADIENTS_SUMS; sum += GRADIENTS_DIRECTIONS) {
        PNN_FACT(PASSED(gradients_begun, 2, 2));
        sum[0] = 0;
        sum[1] = 0;
        sum[2] = 0;
        sum[3] = 0;
    }
}

/* Add the gradients of the runs of pixels in a row. `left` is the pixel before the first pixel, and
 * `above` the pixel above the first; the pixels `below`, from the arriving row, overwrite the pixels
 * above. A run of 0 pixels ends the list. */
#ifdef PNN_ASSEMBLY
static PNN_NOINLINE void gradients_add_runs(gradients_cell_t cell, const pnn_input_t *features, pnn_place_t below,
    pnn_place_t end, gradients_line_t above, gradients_line_t left, uint8_t run, pnn_place_t next)
{
    (void)features;
    (void)end;
    register uint16_t *this_cell __asm__("r24") = cell;
    register const pnn_input_t *first __asm__("r18") = left;
    register const uint8_t *next_run __asm__("r12") = next;
    register uint8_t this_run __asm__("r16") = run;
    __asm__ volatile(
        movw r10, r28; movw r28, r18; lds r19, %[row_shared]
        ".Lrow_%=:\n"
        rjmp .Lbegin_%=
        ".Lrun_%=:\n"
        "    " EACH_AND(gradients_run, gradients_pushes, 1, 15) "movw  r30, r12\n"
        lpm r16, Z+; movw r12, r30; movw r30, r14; tst r16; brne .Lbegin_%=; rjmp .Ldone_%=
        ".Lbegin_%=:\n"
        "    bst   r16, 7\n" /* whether the run is shared along the row */
        sbrc r16, 6; adiw r24, 8; andi r16, 63
        ".Lpixel_%=:\n"
        "    " PASSED(gradients_pixel, 35, 35) "ldd   r21, Y+2\n" /* right */
        "    ld    r20, Y+\n" /* left */
        "    ld    r22, Z\n" /* above */
        "    ld    r23, X+\n" /* below */
        st Z+, r23; cp r20, r21; cpc r22, r23; brne .Lgradient_%=; dec r16; brne .Lpixel_%=;
        movw r14, r30; rjmp .Lrun_%=
        ".Lgradient_%=:\n"
        movw r14, r30; movw r30, r24; ldi r18, 6; sub r20, r21
        "    brcc  .Lalong_%=\n" /* gx is not above 0 */
        neg r20; ldi r18, 4
        ".Lalong_%=:\n"
        sub r22, r23
        "    brcc  .Ldown_%=\n" /* gy is not above 0 */
        neg r22; subi r18, 10; neg r18
        ".Ldown_%=:\n"
        cp r20, r22; brcs .Lsteep_%=; mov r0, r20; sub r0, r22; cp r0, r22
        "    brcc  .Ladd_%=\n" /* along the row */
        rjmp .Lplace_%=
        ".Lsteep_%=:\n"
        mov r0, r22; sub r0, r20; cp r0, r20; mov r20, r22; brcs .Lplace_%=
        "    ldi   r18, 2\n" /* along the column */
        ".Lplace_%=:\n"
        add r30, r18; adc r31, r1
        ".Ladd_%=:\n"
        sbrc r19, 0; rjmp .Lshared_row_%=; brts .Lshared_%=
        ".Lown_%=:\n"
        ldd r0, Z+0; add r0, r20; std Z+0, r0; brcc .Lback_%=; ldd r0, Z+1; inc r0; std Z+1, r0
        ".Lback_%=:\n"
        movw r30, r14; dec r16; brne .Lpixel_%=; rjmp .Lrun_%=
        ".Lshared_%=:\n"
        "    " PASSED(gradients_shared, 5, 0) "lsr   r20\n"
        ".Lboth_%=:\n"
        ldd r0, Z+0; add r0, r20; std Z+0, r0; brcc .Lother_%=; ldd r0, Z+1; inc r0; std Z+1, r0
        ".Lother_%=:\n"
        adiw r30, 8; rjmp .Lown_%=
        ".Lshared_row_%=:\n"
        "    " PASSED(gradients_shared_row, 0, 0) "lsr   r20\n"
        brts .Lcorner_%=; ldd r0, Z+0; add r0, r20; std Z+0, r0; brcc .Lbelow_%=; ldd r0, Z+1;
        inc r0; std Z+1, r0
        ".Lbelow_%=:\n"
        subi r30, lo8(-(16)); sbci r31, hi8(-(16)); rjmp .Lown_%=
        ".Lcorner_%=:\n"
        "    " PASSED(gradients_corner, 0, 0) "lsr   r20\n"
        ldd r0, Z+0; add r0, r20; std Z+0, r0; brcc .Lbeside_%=; ldd r0, Z+1; inc r0; std Z+1, r0
        ".Lbeside_%=:\n"
        ldd r0, Z+8; add r0, r20; std Z+8, r0; brcc .Lbeneath_%=; ldd r0, Z+9; inc r0; std Z+9, r0
        ".Lbeneath_%=:\n"
        subi r30, lo8(-(16)); sbci r31, hi8(-(16)); rjmp .Lboth_%=
        ".Ldone_%=:\n"
        movw r28, r10
        : "+x"(below), "+z"(above), "+r"(this_cell), "+r"(first), "+r"(next_run), "+r"(this_run)
        : [row_shared] "i"(&gradients_row_shared)
        : "memory", "r0", "r10", "r11", "r14", "r15", "r20", "r21", "r22", "r23");
}
#else
static uint8_t gradients_distance(pnn_input_t one, pnn_input_t other)
{
    return (uint8_t)(one > other ? one - other : other - one);
}

static void gradients_add(uint16_t at, uint8_t counted)
{
    if (at < GRADIENTS_SUMS) { /* always true; this limit and others here help a prover */
        gradients.sums[at] = (uint16_t)(gradients.sums[at] + counted);
    }
}

static void gradients_add_runs(gradients_cell_t cell, const pnn_input_t *features, pnn_place_t below,
    pnn_place_t end, gradients_line_t above, gradients_line_t left, uint8_t run, pnn_place_t next)
{
    uint16_t above_at = PNN_INDEX(gradients_lines, above), left_at = PNN_INDEX(gradients_lines, left);
    uint16_t sums_at = PNN_INDEX(gradients.sums, cell);
    (void)features;
    for (; run > 0; run = GRADIENTS_RUN(gradients_column_runs, next), ++next) {
        const uint8_t shared = (run & GRADIENTS_RUN_SHARED) != 0;
        if (run & GRADIENTS_RUN_NEXT) {
            sums_at = (uint16_t)(sums_at + GRADIENTS_DIRECTIONS);
        }
        for (uint8_t i = run & GRADIENTS_RUN_COUNT; i > 0; --i, ++above_at, ++left_at, ++below) {
            if (below >= end || above_at >= sizeof gradients_lines || left_at >= sizeof gradients_lines - 2) {
                return;
            }
            const pnn_input_t behind = gradients_lines[left_at + 2], before = gradients_lines[left_at];
            const pnn_input_t upper = gradients_lines[above_at], lower = PNN_AT(features, below);
            const uint8_t ahead = behind > before, down = lower > upper;
            const uint8_t along = gradients_distance(behind, before), across = gradients_distance(lower, upper);
            gradients_lines[above_at] = lower;
            const uint8_t largest = along < across ? across : along, least = along < across ? along : across;
            uint8_t direction = along < across;
            if (largest - least < least) {
                direction = (uint8_t)(2 + (ahead == down));
            }
            const uint8_t counted = (uint8_t)(largest >> (shared + gradients_row_shared));
            uint16_t at = (uint16_t)(sums_at + direction);
            for (uint8_t rows = (uint8_t)(1 + gradients_row_shared); rows > 0; --rows) {
                gradients_add(at, counted);
                if (shared) {
                    gradients_add((uint16_t)(at + GRADIENTS_DIRECTIONS), counted);
                }
                at = (uint16_t)(at + GRADIENTS_ROW_SUMS);
            }
        }
    }
}
#endif

static void gradients_add_row(const pnn_input_t *features, pnn_place_t below, pnn_place_t end, gradients_line_t above, gradients_line_t left)
{
    gradients_add_runs(gradients_cells, features, below, end, above, left, PNN_READ_U8(gradients_column_runs), PNN_PLACE(gradients_column_runs, 1));
}

/* The same for a part of a row. */
static PNN_NOINLINE void gradients_add_part(const pnn_input_t *features, pnn_place_t below, pnn_place_t end, gradients_line_t above, gradients_line_t left, uint8_t column, uint8_t count)
{
    pnn_place_t next = PNN_PLACE(gradients_column_runs, 0);
    gradients_cell_t cell = gradients_cells;
    while (count > 0) {
        PNN_FACT(EACH(gradients_part_runs, gradients_parts, 3, 0));
        PNN_FACT(WHOLE(gradients_part_runs, 0, 0));
        const uint8_t run = GRADIENTS_RUN(gradients_column_runs, next);
        uint8_t part = run & GRADIENTS_RUN_COUNT;
        ++next;
        if (run & GRADIENTS_RUN_NEXT) {
            cell = (gradients_cell_t)(cell + GRADIENTS_DIRECTIONS);
        }
        if (part <= column) {
            column = (uint8_t)(column - part);
            continue;
        }
        part = (uint8_t)(part - column);
        column = 0;
        if (part > count) {
            part = count;
        }
        gradients_add_runs(cell, features, below, end, above, left, (uint8_t)((run & GRADIENTS_RUN_SHARED) | part), PNN_PLACE(gradients_column_runs, 3));
        below = (pnn_place_t)(below + part);
        left = (gradients_line_t)(left + part);
        above = (gradients_line_t)(above + part);
        count = (uint8_t)(count - part);
    }
}

static void gradients_next_row(void)
{
    if (gradients_row++ > 0 && --gradients_rows_left == 0) {
        gradients_begin_rows();
    }
}

/* Process pixels of the arriving row, which completes gradients in the previous row, if there is one. */
static PNN_NOINLINE void gradients_take(const pnn_input_t *features, pnn_place_t below, pnn_place_t end, uint8_t count)
{
    const uint8_t odd = gradients_row & 1;
    gradients_line_t above = (gradients_line_t)((odd ? GRADIENTS_LINE(1) : GRADIENTS_LINE(0)) + 1 + gradients_column);
    const uint8_t column = gradients_column;
    gradients_column = (uint8_t)(column + count);
    if (gradients_row == 0) {
        for (uint8_t i = count; i > 0 && PNN_SURE(below < end && above < sizeof gradients_lines); --i) {
            PNN_FACT(PASSED(gradients_copied, 7, 7));
            PNN_AT(gradients_lines, above++) = PNN_AT(features, below++);
        }
    } else {
        const gradients_line_t left = (gradients_line_t)((odd ? GRADIENTS_LINE(0) : GRADIENTS_LINE(1)) + column);
        if (count < GRADIENTS_ROW_PIXELS) {
            gradients_add_part(features, below, end, above, left, column, count);
        } else {
            gradients_add_row(features, below, end, above, left);
        }
    }
    if (gradients_column >= GRADIENTS_ROW_PIXELS) {
        gradients_column = 0;
        gradients_ignored = GRADIENTS_PIXELS_BETWEEN_ROWS;
        gradients_next_row();
    }
}

/* Replace all sums by their roots. */
#ifdef PNN_ASSEMBLY
static void gradients_take_roots(void)
{
    const uint16_t *sum = gradients.sums;
    register uint16_t left __asm__("r24") = GRADIENTS_SUMS;
    __asm__ volatile(
        movw r14, r28; movw r28, r26; ldi r22, lo8(%[roots]); ldi r23, hi8(%[roots]); clr r16;
        ldi r20, 128
        ".Lsum_%=:\n"
        "    " PASSED(gradients_sum, 8, 8) "ld    r18, X+\n"
        ld r19, X+; mul r19, r20; mov r21, r0; tst r1; brne .Lmost_%=; mul r18, r20; or r21, r1
        ".Lroot_%=:\n"
        movw r30, r22; add r30, r21; adc r31, r16; lpm r0, Z; st Y+, r0; sbiw r24, 1; brne .Lsum_%=;
        rjmp .Ldone_%=
        ".Lmost_%=:\n"
        ldi r21, 255; rjmp .Lroot_%=
        ".Ldone_%=:\n"
        clr r1; movw r28, r14
        : "+x"(sum), "+r"(left)
        : [roots] "i"(gradients_roots)
        : "memory", "r0", "r14", "r15", "r16", "r18", "r19", "r20", "r21", "r22", "r23", "r30", "r31");
}
#else
static void gradients_take_roots(void)
{
    for (uint16_t i = 0; i < GRADIENTS_SUMS; ++i) {
        const uint16_t level = gradients.sums[i] >> GRADIENTS_SHIFT;
        gradients.values[i] = PNN_READ_U8(&gradients_roots[level < 255 ? level : 255]);
    }
}
#endif

