/* ---- Audio: constants and variables ------------------------------------------------------- */

#define AUDIO_FRAME 128u /* samples */
#define AUDIO_BANDS 3u
#define AUDIO_MIRRORED 1u /* the last bands */
#define AUDIO_QUIET 32u
#define AUDIO_BASE 80u
#define AUDIO_OCTAVE 16u
#define AUDIO_MAXIMUM 127u
#define AUDIO_ONSET 128u
#define AUDIO_LEVEL_SHIFT 5

#ifndef PNN_ASSEMBLY
static const struct audio_coefficients {
    uint8_t turn, decay, gain;
} audio_coefficients[AUDIO_BANDS] PNN_FLASH = {
    {188,  83,  34 },
    {108,  66,  47 },
    { 27,  46,  68 },
};
#endif

/* The part of a logarithm given by the five bits after the leading 1. */
static const uint8_t audio_steps[32] PNN_FLASH = {
    0,    0,    1,    2,    2,    3,    3,    4,    5,    5,    6,    6,    7,    7,    8,    8,
    9,    9,   10,   10,   11,   11,   12,   12,   12,   13,   13,   14,   14,   14,   15,   15,
};

static struct audio_band {
    int16_t last, earlier; /* the two latest y */
    uint16_t energy;
} audio_bands[AUDIO_BANDS];

#ifdef PNN_ASSEMBLY
typedef char audio_band_is_packed[sizeof(struct audio_band) == 6 ? 1 : -1];
#endif

static uint16_t audio_pushed; /* samples pushed so far */
static uint16_t audio_left;   /* samples left in the frame */
static pnn_input_t audio_before, audio_older; /* the last two samples */
static pnn_input_t audio_values[6u];
static uint16_t audio_next; /* index of the next value */

/* For the onset: a level that follows the differences of samples, times 32: 0..8191 */
static uint16_t audio_level;
static pnn_input_t audio_heard_before, audio_heard_older;
static uint8_t audio_hears;

/* ---- Audio: functions --------------------------------------------------------------------- */

static void audio_begin(void)
{
    audio_pushed = 0;
    audio_left = AUDIO_FRAME;
    audio_next = 0;
    audio_hears = 0;
    for (uint8_t i = 0; i < AUDIO_BANDS; ++i) {
        PNN_FACT(PASSED(audio_begun, 3, 3));
        audio_bands[i].last = 0;
        audio_bands[i].earlier = 0;
        audio_bands[i].energy = 0;
    }
}

/* Compute the next y of all bands from the samples' difference v, or from w for mirrored bands. */
#ifdef PNN_ASSEMBLY
static PNN_NOINLINE void audio_filter(int16_t v, int16_t w)
{
    struct audio_band *band = audio_bands;
    register int16_t difference __asm__("r24") = v;
    register int16_t mirrored __asm__("r14") = w;
    register uint8_t zero __asm__("r22") = 0;
    __asm__ volatile(
        ".Lband0_%=:\n"
        "    ldd   r18, Z+0\n" /* the band's last y */
        ldd r19, Z+1; ldi r20, 188; mul r18, r20; movw r26, r0; clr r23; mulsu r19, r20;
        add r27, r0; adc r23, r1
        "    ldd   r21, Z+2\n" /* the y before */
        std Z+2, r18; ldi r20, 83; mul r21, r20; sub r26, r0; sbc r27, r1; sbci r23, 0;
        ldd r21, Z+3; std Z+3, r19; mulsu r21, r20; sub r27, r0; sbc r23, r1; lsl r26; rol r27;
        rol r23; ldi r20, 34; mul r24, r20; add r27, r0; adc r23, r1; sbrc r25, 7; sub r23, r20;
        std Z+0, r27; std Z+1, r23; sbrc r23, 7; com r23
        "    ldd   r18, Z+4\n" /* the energy */
        add r18, r23; std Z+4, r18; ldd r18, Z+5; adc r18, r22; std Z+5, r18
        ".Lband1_%=:\n"
        "    ldd   r18, Z+6\n" /* the band's last y */
        ldd r19, Z+7; ldi r20, 108; mul r18, r20; movw r26, r0; clr r23; mulsu r19, r20;
        add r27, r0; adc r23, r1
        "    ldd   r21, Z+8\n" /* the y before */
        std Z+8, r18; ldi r20, 66; mul r21, r20; sub r26, r0; sbc r27, r1; sbci r23, 0;
        ldd r21, Z+9; std Z+9, r19; mulsu r21, r20; sub r27, r0; sbc r23, r1; lsl r26; rol r27;
        rol r23; ldi r20, 47; mul r24, r20; add r27, r0; adc r23, r1; sbrc r25, 7; sub r23, r20;
        std Z+6, r27; std Z+7, r23; sbrc r23, 7; com r23
        "    ldd   r18, Z+10\n" /* the energy */
        add r18, r23; std Z+10, r18; ldd r18, Z+11; adc r18, r22; std Z+11, r18
        ".Lband2_%=:\n"
        "    ldd   r18, Z+12\n" /* the band's last y */
        ldd r19, Z+13; ldi r20, 27; mul r18, r20; movw r26, r0; clr r23; mulsu r19, r20;
        add r27, r0; adc r23, r1
        "    ldd   r21, Z+14\n" /* the y before */
        std Z+14, r18; ldi r20, 46; mul r21, r20; sub r26, r0; sbc r27, r1; sbci r23, 0;
        ldd r21, Z+15; std Z+15, r19; mulsu r21, r20; sub r27, r0; sbc r23, r1; lsl r26; rol r27;
        rol r23; ldi r20, 68; mul r14, r20; add r27, r0; adc r23, r1; sbrc r15, 7; sub r23, r20;
        std Z+12, r27; std Z+13, r23; sbrc r23, 7; com r23
        "    ldd   r18, Z+16\n" /* the energy */
        add r18, r23; std Z+16, r18; ldd r18, Z+17; adc r18, r22; std Z+17, r18
        ".Lband3_%=:\n"
        clr r1
        : "+z"(band)
        : "r"(difference), "r"(mirrored), "r"(zero)
        : "memory", "r0", "r18", "r19", "r20", "r21", "r23", "r26", "r27");
}
#else
static void audio_filter(int16_t v, int16_t w)
{
    for (uint8_t i = 0; i < AUDIO_BANDS; ++i) {
        struct audio_band *const band = &audio_bands[i];
        const struct audio_coefficients *const by = &audio_coefficients[i];
        const int32_t turned = (int32_t)band->last * PNN_READ_U8(&by->turn);
        const int32_t kept = turned - (int32_t)band->earlier * PNN_READ_U8(&by->decay);
        const int32_t added = (int32_t)(i < AUDIO_BANDS - AUDIO_MIRRORED ? v : w) * PNN_READ_U8(&by->gain);
        const int16_t y = (int16_t)((kept >> 7) + added);
        band->earlier = band->last;
        band->last = y;
        band->energy = (uint16_t)(band->energy + (uint8_t)(y < 0 ? ~(y >> 8) : y >> 8));
    }
}
#endif

/* The logarithm of 32..65535, above the logarithm of no energy. */
static uint8_t audio_logarithm(uint16_t z)
{
    uint8_t octaves = (uint8_t)(5u * AUDIO_OCTAVE - AUDIO_BASE);
    while (z >= 64) {
        PNN_FACT(EACH(audio_octaves, audio_logarithms, 8, 0));
        z >>= 1;
        octaves = (uint8_t)(octaves + AUDIO_OCTAVE);
    }
    const uint8_t logarithm = (uint8_t)(octaves + PNN_READ_U8(&audio_steps[z & 31u]));
    return logarithm < AUDIO_MAXIMUM ? logarithm : AUDIO_MAXIMUM;
}

static void audio_take(pnn_input_t sample)
{
    if (audio_pushed == 0) {
        audio_before = sample;
        audio_older = sample;
    }
    const int16_t v = (int16_t)(sample - audio_older);
    audio_older = audio_before;
    audio_before = sample;
    audio_filter(v, audio_pushed & 1u ? (int16_t)-v : v);
    ++audio_pushed;
    if (--audio_left < AUDIO_BANDS) {
        uint16_t *const energy = &audio_bands[AUDIO_BANDS - 1u - audio_left].energy;
        if (audio_next < 6u) { /* always true; helps a prover */
            PNN_FACT(PASSED(audio_logarithms, 6, 6));
            audio_values[audio_next++] = audio_logarithm((uint16_t)(*energy + AUDIO_QUIET));
        }
        *energy = 0;
        if (audio_left == 0) {
            audio_left = AUDIO_FRAME;
        }
    }
}

uint8_t pnn_onset(uint8_t sample)
{
    if (!audio_hears) {
        audio_hears = 1;
        audio_heard_before = sample;
        audio_heard_older = sample;
        audio_level = 0;
    }
    const int16_t v = (int16_t)(sample - audio_heard_older);
    audio_heard_older = audio_heard_before;
    audio_heard_before = sample;
    audio_level = (uint16_t)(audio_level - (audio_level >> AUDIO_LEVEL_SHIFT) + (uint16_t)(v < 0 ? -v : v));
    return audio_level > AUDIO_ONSET;
}

