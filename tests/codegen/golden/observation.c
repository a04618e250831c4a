/* ---- Decision: constants and variables ---------------------------------------------------- */

typedef uint32_t pnn_unsigned_score_t;

/* The part of a score that is observed. */
#define DECISION_SHORT(score) ((uint16_t)((pnn_unsigned_score_t)(score) >> 0))

/* ---- Decision: functions ------------------------------------------------------------------ */

/* For each class, the start and width of the intervals of the margin and of the sum of scores. */
static const uint16_t usual[PNN_CLASSES][4] PNN_FLASH = {
    {27153, 23220, 29480, 21408},
    {27153, 23220, 29480, 21408},
    {27153, 23220, 29480, 21408},
};

#define OBSERVED_TAG 72536735ul

/* In the order of the wire protocol: like this chip, it is little endian. */
static struct {
    uint32_t tag; /* OBSERVED_TAG if the SRAM was kept */
    uint32_t cycles;
    uint16_t rejected, unusual;
    uint16_t margins[8];
    uint16_t classes[PNN_CLASSES];
    uint8_t level, alarms;
} observations
#ifdef __AVR__
    __attribute__((section(".noinit"))); /* not cleared at a start */
#else
    = { .tag = OBSERVED_TAG };
#endif

void pnn_observe_anew(void)
{
    for (uint8_t i = 0; i < PNN_OBSERVED_BYTES; ++i) {
        ((uint8_t *)&observations)[i] = 0;
    }
    observations.tag = OBSERVED_TAG;
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
    if (observations.tag != OBSERVED_TAG || observations.level > 100) {
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

/* Count an answer, and return it. `best` has the largest score. */
static uint8_t observe(uint8_t answer, uint8_t best, uint16_t margin, uint16_t sum)
{
    uint16_t *bin = observations.margins;

    if (margin >= 39718u) {
        bin += margin >= 41711u ? (margin >= 43319u ? 7 : 6) : (margin >= 40721u ? 5 : 4);
    } else {
        bin += margin >= 36038u ? (margin >= 38056u ? 3 : 2) : (margin >= 32884u ? 1 : 0);
    }
    count_one(bin);
    count_one(answer == best ? &observations.classes[best] : &observations.rejected);
    if ((uint16_t)(margin - PNN_READ_U16(&usual[best][0])) <= PNN_READ_U16(&usual[best][1]) &&
        (uint16_t)(sum - PNN_READ_U16(&usual[best][2])) <= PNN_READ_U16(&usual[best][3])) {
        observations.level = (uint8_t)(observations.level - (observations.level != 0));
        return answer;
    }
    count_one(&observations.unusual);
    const uint8_t before = observations.level;
    observations.level = before > 90 ? 100 : (uint8_t)(before + 10);
    if (before < 50 && observations.level >= 50 && observations.alarms != 255) {
        ++observations.alarms;
    }
    return answer;
}

void pnn_observe_cycles(uint32_t cycles)
{
    if (cycles > observations.cycles) {
        observations.cycles = cycles;
    }
}

uint8_t pnn_observed(uint8_t place)
{
    return ((const uint8_t *)&observations)[place];
}

uint8_t pnn_health(void)
{
    if (observations.level >= 50) {
        return PNN_HEALTH_DRIFT;
    }
    uint16_t answers = 0; /* modulo 2**16: stop before it is full */
    for (uint8_t i = 0; i < 8 && answers < 50; ++i) {
        answers = observations.margins[i] < 50 ? (uint16_t)(answers + observations.margins[i]) : 50;
    }
    if (answers < 50) {
        return PNN_HEALTH_NEW;
    }
    return PNN_HEALTH_GOOD;
}

/* Return the class of the largest score, and the second largest, and the sum of all. */
static uint8_t decision_find_largest(pnn_score_t *largest_score, pnn_score_t *second_score, uint16_t *sum_of_scores)
{
    const pnn_score_t *next = linear_scores;
    pnn_score_t largest = *next++;
    uint8_t best = 0;
    pnn_score_t second = INT32_MIN;
    uint16_t sum = DECISION_SHORT(largest);
#ifndef PNN_ASSEMBLY
    for (uint8_t l = 1; l < PNN_CLASSES; ++l) {
        const pnn_score_t score = linear_scores[l];
        sum = (uint16_t)(sum + DECISION_SHORT(score));
        if (score > largest) {
            second = largest;
            largest = score;
            best = l;
        } else if (score > second) {
            second = score;
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
        movw %A[largest], %A[score]; movw %C[largest], %C[score]; mov %[best], %[l]; rjmp .Lnext_%=
        ".Lnot_larger_%=:\n"
        cp %A[second], %A[score]; cpc %B[second], %B[score]; cpc %C[second], %C[score];
        cpc %D[second], %D[score]; brge .Lnext_%=; movw %A[second], %A[score];
        movw %C[second], %C[score]
        ".Lnext_%=: inc   %[l]\n"
        cpi %[l], %[classes]; brne .Lclass_%=
        : [next] "+e"(next), [largest] "+r"(largest), [second] "+r"(second), [sum] "+r"(sum), [score] "=&r"(score),
          [best] "+r"(best), [l] "+d"(l)
        : [classes] "M"(PNN_CLASSES)
        : "memory");
#endif
    *largest_score = largest;
    *second_score = second;
    *sum_of_scores = sum;
    return best;
}

