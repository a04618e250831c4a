/* ---- Window features: constants and variables --------------------------------------------- */

#define WINDOW_FEATURES_BANDS 2u
/* How features are scaled to bytes */
static const struct pnn_raw_scale window_features_scales[6u] PNN_FLASH = {
    /*  first    span  multiplier shift mirrored offset */
    {      0,     16,   8192, 11, 0,    2097152 },
    {      0,     17,   8192, 11, 0,   -6291456 },
    {      1,     16,   8192, 11, 0,    2097152 },
    {      1,     17,   8192, 11, 0,   -6291456 },
    {      2,     16,   8192, 11, 0,    2097152 },
    {      2,     17,   8192, 11, 0,   -6291456 },
};

static pnn_input_t window_features_values[6u];

/* Statistics of the samples x of a channel, which are bytes minus 128: 8 samples in
 * -128..127 */
static struct window_features_channel {
    int16_t sum;           /* of x: -1024..1016 */
    uint32_t squares;      /* sum of x^2: 0..131072 */
    int8_t most;
    int8_t last;
    uint16_t changes;      /* sum of |x - last|: 0..1785 */
    int16_t first[WINDOW_FEATURES_BANDS];  /* of a pair, a sum of 1, 2, 4 ... samples: -256..254 */
    uint32_t squared[WINDOW_FEATURES_BANDS]; /* sum of squared differences in pairs: 0..520200 */
} window_features_channels[PNN_CHANNELS];

#ifdef PNN_ASSEMBLY
typedef char window_features_channel_is_packed[sizeof(struct window_features_channel) == 22 ? 1 : -1];
#endif

static struct window_features_channel *window_features_next_channel;
static uint8_t window_features_sample_number; /* of the window */

/* ---- Window features: functions ----------------------------------------------------------- */

static void window_features_begin_channel(struct window_features_channel *channel, int8_t x)
{
    channel->sum = 0;
    channel->squares = 0;
    channel->most = x;
    channel->last = x;
    channel->changes = 0;
    for (uint8_t level = 0; level < WINDOW_FEATURES_BANDS; ++level) {
        PNN_FACT(PASSED(window_features_bands_begun, 2, 2));
        channel->squared[level] = 0;
    }
}

#ifdef PNN_ASSEMBLY
static inline void window_features_take_sample(struct window_features_channel *channel, int8_t x)
{
    uint8_t number = window_features_sample_number;
    uint16_t low, high, pair, sum;
    __asm__ volatile(
        ".Lsample_%=:\n"
        "    clr   %A[pair]\n" /* the sum */
        sbrc %[x], 7; com %A[pair]; ldd %A[low], Z+0; ldd %B[low], Z+1; add %A[low], %[x];
        adc %B[low], %A[pair]; std Z+0, %A[low]; std Z+1, %B[low]
        "    muls  %[x], %[x]\n" /* the squares, below 2^23 */
        ldd %A[low], Z+2; add %A[low], r0; std Z+2, %A[low]; ldd %A[low], Z+3; adc %A[low], r1;
        std Z+3, %A[low]; clr r1; ldd %A[low], Z+4; adc %A[low], r1; std Z+4, %A[low];
        ldd %A[low], Z+6; cp %A[low], %[x]; brge .Lmost_%=; std Z+6, %[x]
        ".Lmost_%=:\n"
        "    ldd   %A[low], Z+7\n" /* the changes */
        std Z+7, %[x]; sub %A[low], %[x]; brge .Lchanged_%=; neg %A[low]
        ".Lchanged_%=: ldd   %B[low], Z+8\n"
        add %B[low], %A[low]; std Z+8, %B[low]; ldd %B[low], Z+9; adc %B[low], __zero_reg__;
        std Z+9, %B[low]
        "    mov   %A[sum], %[x]\n" /* the pairs */
        clr %B[sum]; sbrc %[x], 7; com %B[sum]
        ".Llevel0_%=: lsr   %[number]\n"
        brcs .Lpair0_%=; std Z+10, %A[sum]; std Z+11, %B[sum]; rjmp .Lend_%=
        ".Lpair0_%=: " PASSED(window_features_pair0, 4, 4) "ldd   %A[low], Z+10\n"
        ldd %B[low], Z+11; movw %A[pair], %A[sum]; add %A[sum], %A[low]; adc %B[sum], %B[low];
        sub %A[pair], %A[low]; sbc %B[pair], %B[low]; brpl .Lordered0_%=; com %B[pair];
        neg %A[pair]; sbci %B[pair], 0xff
        ".Lordered0_%=: mul   %A[pair], %A[pair]\n"
        ldd %A[low], Z+14; add %A[low], r0; std Z+14, %A[low]; ldd %A[low], Z+15; adc %A[low], r1;
        std Z+15, %A[low]; clr r1; ldd %A[low], Z+16; adc %A[low], r1; std Z+16, %A[low]
        ".Llevel1_%=: lsr   %[number]\n"
        brcs .Lpair1_%=; std Z+12, %A[sum]; std Z+13, %B[sum]; rjmp .Lend_%=
        ".Lpair1_%=: " PASSED(window_features_pair1, 2, 2) "ldd   %A[low], Z+12\n"
        ldd %B[low], Z+13; movw %A[pair], %A[sum]; add %A[sum], %A[low]; adc %B[sum], %B[low];
        sub %A[pair], %A[low]; sbc %B[pair], %B[low]; brpl .Lordered1_%=; com %B[pair];
        neg %A[pair]; sbci %B[pair], 0xff
        ".Lordered1_%=: mul   %A[pair], %A[pair]\n"
        movw %A[low], r0; mul %B[pair], %B[pair]; movw %A[high], r0; mul %A[pair], %B[pair];
        clr %A[pair]; add %B[low], r0; adc %A[high], r1; adc %B[high], %A[pair]; add %B[low], r0;
        adc %A[high], r1; adc %B[high], %A[pair]; clr r1; ldd %A[pair], Z+18; add %A[pair], %A[low];
        std Z+18, %A[pair]; ldd %A[pair], Z+19; adc %A[pair], %B[low]; std Z+19, %A[pair];
        ldd %A[pair], Z+20; adc %A[pair], %A[high]; std Z+20, %A[pair]; ldd %A[pair], Z+21;
        adc %A[pair], %B[high]; std Z+21, %A[pair]
        ".Lend_%=:\n"
        : [low] "=&d"(low), [high] "=&r"(high), [pair] "=&d"(pair), [sum] "=&r"(sum),
          [number] "+&r"(number)
        : [x] "d"(x), "z"(channel)
        : "r0", "cc", "memory");
}
#else
static void window_features_take_sample(struct window_features_channel *channel, int8_t x)
{
    channel->sum = (int16_t)((uint16_t)channel->sum + (uint16_t)x);
    channel->squares += (uint16_t)(x * x);
    if (x > channel->most) {
        channel->most = x;
    }
    const int16_t change = (int16_t)(x - channel->last);
    channel->last = x;
    channel->changes = (uint16_t)(channel->changes + (uint16_t)(change < 0 ? -change : change));

    /* A sample completes pairs at as many levels as its number has trailing one bits. */
    int16_t sum = x;
    uint8_t number = window_features_sample_number;
    for (uint8_t level = 0; level < WINDOW_FEATURES_BANDS; ++level) {
        if (!(number & 1u)) {
            channel->first[level] = sum;
            break;
        }
        const int16_t difference = (int16_t)(sum - channel->first[level]);
        channel->squared[level] += (uint32_t)((int32_t)difference * difference);
        sum = (int16_t)(sum + channel->first[level]);
        number >>= 1;
    }
}
#endif

/* The square root, rounded down, of a number below 2^30. */
static int16_t window_features_square_root(uint32_t square)
{
    uint16_t root = 0;
    for (uint16_t bit = 1u << 14; bit > 0; bit >>= 1) {
        PNN_FACT(PASSED(window_features_bits, 45, 45));
        const uint16_t tried = root | bit;
        if ((uint32_t)tried * tried <= square) {
            root = tried;
        }
    }
    return (int16_t)root;
}

static pnn_input_t *window_features_write_input(pnn_input_t *input, int16_t feature)
{
    *input = pnn_scale_raw(&window_features_scales[input - window_features_values], feature, 63u);
    return input + 1;
}

static void window_features_write_inputs(void)
{
    pnn_input_t *input = window_features_values;
    //@ loop unroll PNN_CHANNELS;
    for (const struct window_features_channel *channel = window_features_channels; channel != window_features_channels + PNN_CHANNELS; ++channel) {
        PNN_FACT(PASSED(window_features_channels_ended, 1, 1));
        input = window_features_write_input(input, channel->sum);
        /* both below 2^30 */
        const uint32_t square = (uint32_t)((int32_t)channel->sum * channel->sum);
        input = window_features_write_input(input, window_features_square_root(PNN_WINDOW * channel->squares - square));
        input = window_features_write_input(input, channel->most);
        input = window_features_write_input(input, (int16_t)(channel->changes >> 1));
        for (uint8_t level = 0; level < WINDOW_FEATURES_BANDS; ++level) {
            PNN_FACT(PASSED(window_features_bands_ended, 2, 2));
            input = window_features_write_input(input, window_features_square_root(channel->squared[level]));
        }
    }
}

