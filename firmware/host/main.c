/*
 * Run a generated model on the host. Standard input has PNN_FEATURES bytes per point; standard output
 * receives, per point, the class as one byte and PNN_CLASSES scores as little-endian int32.
 *
 * With the argument "push", features are pushed one by one; with "split", in two unequal parts; with
 * "chunks", in chunks of 0 to 40, whose sizes continue from point to point; otherwise all at once. The
 * results must agree. With "short", the last third is not pushed and counts as 0.
 *
 * With "raw", a point is PNN_FEATURES raw integers of 16 bits, low byte first, which pnn_quantize
 * converts to features, as in a sketch.
 */
#include <stdio.h>
#include <string.h>

#ifdef _WIN32
#include <fcntl.h>
#include <io.h>
#endif

#include "pnn_model.h"

static uint8_t push_each(const pnn_input_t *features)
{
    pnn_begin();
    for (size_t i = 0; i < PNN_FEATURES; ++i) {
        pnn_push(features[i]);
    }
    return pnn_finish();
}

static uint8_t push_parts(const pnn_input_t *features)
{
    const uint16_t first = PNN_FEATURES / 3u;
    pnn_begin();
    pnn_push_many(features, first);
    pnn_push_many(features + first, (uint16_t)(PNN_FEATURES - first));
    return pnn_finish();
}

static uint8_t push_chunks(const pnn_input_t *features)
{
    static uint16_t size;
    uint16_t done = 0;
    pnn_begin();
    while (done < PNN_FEATURES) {
        size = (uint16_t)((size + 17u) % 41u);
        pnn_push_many(features + done,
                      size < PNN_FEATURES - done ? size : (uint16_t)(PNN_FEATURES - done));
        done = (uint16_t)(done + size);
    }
    return pnn_finish();
}

static uint8_t push_two_thirds(const pnn_input_t *features)
{
    pnn_begin();
    pnn_push_many(features, (uint16_t)(PNN_FEATURES - PNN_FEATURES / 3u));
    return pnn_finish();
}

static uint8_t push_raw(const pnn_input_t *bytes)
{
    pnn_begin();
    for (size_t i = 0; i < PNN_FEATURES; ++i) {
        const unsigned raw = bytes[2 * i] | (unsigned)bytes[2 * i + 1] << 8;
        const int value = raw < 0x8000u ? (int)raw : (int)raw - 0x10000;
        pnn_push(pnn_quantize((uint16_t)i, (int16_t)value));
    }
    return pnn_finish();
}

static int write_answer(uint8_t class_index)
{
    if (putchar(class_index) == EOF) {
        return -1;
    }
    for (size_t l = 0; l < PNN_CLASSES; ++l) {
        const uint32_t score = (uint32_t)(int32_t)pnn_scores()[l];
        for (unsigned shift = 0; shift < 32; shift += 8) {
            if (putchar((int)(score >> shift & 0xffu)) == EOF) {
                return -1;
            }
        }
    }
    return 0;
}

static const struct {
    const char *argument;
    uint8_t (*classify)(const pnn_input_t *);
    size_t feature_bytes;
} ways[] = {
    {"whole", pnn_predict, 1},  {"push", push_each, 1},        {"split", push_parts, 1},
    {"chunks", push_chunks, 1}, {"short", push_two_thirds, 1}, {"raw", push_raw, 2},
};

int main(int argc, char **argv)
{
    static pnn_input_t features[2 * PNN_FEATURES];
    size_t way = argc > 1 ? sizeof ways / sizeof ways[0] - 1 : 0;
    while (way > 0 && strcmp(argv[1], ways[way].argument) != 0) { /* none: all at once */
        way--;
    }
    const size_t point_bytes = ways[way].feature_bytes * PNN_FEATURES;
#ifdef _WIN32 /* else bytes that look like line ends would be changed */
    _setmode(_fileno(stdin), _O_BINARY);
    _setmode(_fileno(stdout), _O_BINARY);
#endif
    while (fread(features, 1, point_bytes, stdin) == point_bytes) {
        if (write_answer(ways[way].classify(features)) != 0) {
            return 1;
        }
    }
    return 0;
}
