/* ---- Decision: constants and variables ---------------------------------------------------- */

typedef uint32_t pnn_unsigned_score_t;

/* The part of a score that is observed. */
#define DECISION_SHORT(score) ((uint16_t)((pnn_unsigned_score_t)(score) >> 0))

/* ---- Decision: functions ------------------------------------------------------------------ */

/* For each class, a bit for each class that usually has the second largest score, and the start and
 * width of the intervals of the margin and of the sum of scores. */
static const struct usual {
    uint16_t runners_up, margin, margin_width, sum, sum_width;
} usual[PNN_CLASSES] PNN_FLASH = {
    {0x0007, 27153, 23220, 29480, 21408},
    {0x0007, 27153, 23220, 29480, 21408},
    {0x0003, 27153, 23220, 29480, 21408},
};

#define OBSERVED_TAG 111774577ul

/* In the order of the wire protocol: like this chip, it is little endian. */
static struct observations {
    uint32_t tag; /* OBSERVED_TAG if the SRAM was kept */
    uint32_t cycles;
    uint16_t unknown, unusual;
    uint16_t margins[4];
    uint16_t classes[PNN_CLASSES];
    uint8_t level, alarms;
} observations
#ifdef __AVR__
    __attribute__((section(".noinit"))); /* not cleared at a start */
#else
    = { .tag = OBSERVED_TAG };
#endif

/* Return the counters' address in a register: an access then takes two bytes of code instead of four. */
static struct observations *counters(void)
{
    struct observations *place = &observations;
#ifdef __AVR__
    __asm__("" : "+b"(place));
#endif
    return place;
}

void pnn_observe_anew(void)
{
    for (uint8_t i = 0; i < PNN_OBSERVED_BYTES; ++i) {
        ((uint8_t *)&observations)[i] = 0;
    }
    counters()->tag = OBSERVED_TAG;
}

/* Runs before main(). Not a naked function, because gcc warns about the stack of those. */
#ifdef __AVR__
#ifdef __AVR_HAVE_JMP_CALL__
#define OBSERVED_CALL "call"
#else
#define OBSERVED_CALL "rcall"
#endif
void pnn_keep_observations(void); /* called from assembly, which needs its name even with link-time optimization */
__attribute__((used, externally_visible)) void pnn_keep_observations(void)
{
    const struct observations *const kept = counters();
    if (kept->tag != OBSERVED_TAG || kept->level > 100) {
        pnn_observe_anew();
    }
}
__asm__(".section .init8,\"ax\",@progbits\n"
        "    " OBSERVED_CALL " pnn_keep_observations\n"
        ".text\n");
#endif

static void count_one(uint16_t *counter)
{
    const uint16_t count = (uint16_t)(*counter + 1u);
    if (count != 0) {
        *counter = count;
    }
}

/* Return what an answer adds to the level: 0 if it is like those expected. */
static uint8_t added_by(uint8_t best, uint8_t runner_up, uint16_t margin, uint16_t sum)
{
#ifdef PNN_ASSEMBLY
    uint8_t bits = sizeof usual[0], upper;
    uint16_t next;
    __asm__("    mul   %[bits], %[best]\n"
        movw r30, r0; clr __zero_reg__; subi r30, lo8(-(%[usual])); sbci r31, hi8(-(%[usual]));
        lpm %[bits], Z+; lpm %[upper], Z+; sbrc %[runner_up], 3; mov %[bits], %[upper];
        sbrc %[runner_up], 2; swap %[bits]; sbrc %[runner_up], 1; lsr %[bits]; sbrc %[runner_up], 1;
        lsr %[bits]; sbrc %[runner_up], 0; lsr %[bits]; lpm %A[next], Z+; lpm %B[next], Z+;
        sub %A[margin], %A[next]; sbc %B[margin], %B[next]; lpm %A[next], Z+; lpm %B[next], Z+;
        cp %A[next], %A[margin]; cpc %B[next], %B[margin]; brlo 1f; lpm %A[next], Z+;
        lpm %B[next], Z+; sub %A[sum], %A[next]; sbc %B[sum], %B[next]; lpm %A[next], Z+;
        lpm %B[next], Z+; cp %A[next], %A[sum]; cpc %B[next], %B[sum]; brsh 2f
            "1:  clr   %[bits]\n"
            "2:\n"
            : [bits] "+&r"(bits), [upper] "=&r"(upper), [next] "=&r"(next), [margin] "+&r"(margin), [sum] "+&r"(sum)
            : [best] "r"(best), [runner_up] "r"(runner_up), [usual] "i"(usual)
            : "r0", "r30", "r31");
#else
    const struct usual *const row = &usual[best];
    const uint8_t upper = (uint8_t)(PNN_READ_U16(&row->runners_up) >> 8);
    const uint8_t bits = (PNN_READ_U16(&row->runners_up) >> runner_up & 1u) &&
                         (uint16_t)(margin - PNN_READ_U16(&row->margin)) <= PNN_READ_U16(&row->margin_width) &&
                         (uint16_t)(sum - PNN_READ_U16(&row->sum)) <= PNN_READ_U16(&row->sum_width);
#endif
    (void)upper;
    return bits & 1u ? 0 : 10;
}

/* Return the bin of a margin: the number of edges up to it. */
static uint8_t bin_of(uint16_t margin)
{
    return margin < 36038u ? 0 : margin < 39718u ? 1 : margin < 41711u ? 2 : 3;
}

static PNN_NOINLINE void count_unusual(uint8_t added)
{
    struct observations *const all = counters();
    uint8_t level = (uint8_t)(all->level + added);

    if ((uint8_t)(level - 62u) < added && all->alarms != 255) { /* it was below */
        ++all->alarms;
    }
    if (level > 100) {
        level = 100;
    }
    all->level = level;
    count_one(&all->unusual);
}

/* Count an answer. `best` has the largest score, `runner_up` the second largest. */
static void observe(uint8_t answer, uint8_t best, uint8_t runner_up, uint16_t margin, uint16_t sum)
{
    count_one(&observations.margins[bin_of(margin)]);
    count_one(answer == best ? &observations.classes[best] : &observations.unknown);
    const uint8_t added = added_by(best, runner_up, margin, sum);
    if (added != 0) {
        count_unusual(added);
    } else if (observations.level != 0) {
        --observations.level;
    }
}

void pnn_observe_cycles(uint32_t cycles)
{
    struct observations *const all = counters();

    if (cycles > all->cycles) {
        all->cycles = cycles;
    }
}

uint8_t pnn_observed(uint8_t place)
{
    return ((const uint8_t *)&observations)[place];
}

uint8_t pnn_health(void)
{
    if (observations.level >= 62) {
        return PNN_HEALTH_DRIFT;
    }
    uint16_t answers = 0; /* modulo 2**16: stop before it is full */
    for (uint8_t i = 0; i < 4 && answers < 50; ++i) {
        answers = observations.margins[i] < 50 ? (uint16_t)(answers + observations.margins[i]) : 50;
    }
    return answers < 50 ? PNN_HEALTH_NEW : PNN_HEALTH_GOOD;
}

/* Return the class of the largest score, and the second largest, its class, and the sum of all. */
static uint8_t decision_find_largest(pnn_score_t *largest_score, pnn_score_t *second_score, uint8_t *second_class, uint16_t *sum_of_scores)
{
    const pnn_score_t *next = linear_scores;
    pnn_score_t largest = *next++;
    uint8_t best = 0;
    pnn_score_t second = INT32_MIN;
    uint8_t runner_up = 1;
    uint16_t sum = DECISION_SHORT(largest);
#ifndef PNN_ASSEMBLY
    for (uint8_t l = 1; l < PNN_CLASSES; ++l) {
        const pnn_score_t score = linear_scores[l];
        sum = (uint16_t)(sum + DECISION_SHORT(score));
        if (score > largest) {
            second = largest;
            runner_up = best;
            largest = score;
            best = l;
        } else if (score > second) {
            second = score;
            runner_up = l;
        }
    }
#elif PNN_CLASSES > 1
    pnn_score_t score;
    uint8_t l = 1;
    __asm__ volatile(
        ".Lclass_%=:\n"
        "    " PASSED(decision_class, 2, 2) "ld    %A[score], %a[next]+\n"
        ld %B[score], %a[next]+; ld %C[score], %a[next]+; ld %D[score], %a[next]+;
        add %A[sum], %A[score]; adc %B[sum], %B[score]; cp %A[largest], %A[score];
        cpc %B[largest], %B[score]; cpc %C[largest], %C[score]; cpc %D[largest], %D[score];
        brge .Lnot_larger_%=; movw %A[second], %A[largest]; movw %C[second], %C[largest];
        movw %A[largest], %A[score]; movw %C[largest], %C[score]; mov %[runner_up], %[best];
        mov %[best], %[l]; rjmp .Lnext_%=
        ".Lnot_larger_%=:\n"
        cp %A[second], %A[score]; cpc %B[second], %B[score]; cpc %C[second], %C[score];
        cpc %D[second], %D[score]; brge .Lnext_%=; movw %A[second], %A[score];
        movw %C[second], %C[score]; mov %[runner_up], %[l]
        ".Lnext_%=: inc   %[l]\n"
        cpi %[l], %[classes]; brne .Lclass_%=
        : [next] "+e"(next), [largest] "+r"(largest), [second] "+r"(second), [runner_up] "+r"(runner_up), [sum] "+r"(sum), [score] "=&r"(score),
          [best] "+r"(best), [l] "+d"(l)
        : [classes] "M"(PNN_CLASSES)
        : "memory");
#endif
    *largest_score = largest;
    *second_score = second;
    *second_class = runner_up;
    *sum_of_scores = sum;
    return best;
}

