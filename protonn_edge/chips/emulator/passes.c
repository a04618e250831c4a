/*
 * Counts how often places of the program are passed: sums of passes over each prediction, with
 * their minimum and maximum.
 *
 * A sum has a row, to which a pass of a place adds a number. Passes count while a span is marked; a
 * prediction begins with the span at the address `first`, and ends with that at `last`.
 */
#include "uno.h"

#include <inttypes.h>
#include <stdlib.h>

enum { ROWS_MAX = 1 << 14 };

struct place {
    long row, times;
    struct place *next; /* at the same address */
};

static struct place **place_at; /* by words of flash; NULL where nothing is watched */
static struct {
    int64_t now, least, most;
} rows[ROWS_MAX];
static long row_count;
static uint64_t predictions;
static avr_flashaddr_t first_span, last_span;
static bool is_last;

/* The text is "row:address:times,...". */
bool passes_watch(const char *text, unsigned first, unsigned last)
{
    first_span = first;
    last_span = last;
    place_at = calloc(chip.flash_bytes / 2, sizeof *place_at);
    while (place_at && *text) {
        char *end;
        struct place *place = malloc(sizeof *place);
        const long row = strtol(text, &end, 10), address = strtol(end + 1, &end, 10);
        const long times = strtol(end + 1, &end, 10);
        if (!place || row < 0 || row >= ROWS_MAX || address < 0 ||
            address >= (long)chip.flash_bytes) {
            return false;
        }
        *place = (struct place){row, times, place_at[address / 2]};
        place_at[address / 2] = place;
        row_count = row >= row_count ? row + 1 : row_count;
        text = *end ? end + 1 : end;
    }
    return place_at != NULL;
}

void passes_at(avr_flashaddr_t pc)
{
    if (place_at) {
        for (const struct place *place = place_at[pc / 2]; place; place = place->next) {
            rows[place->row].now += place->times;
        }
    }
}

void passes_begin_span(avr_flashaddr_t pc)
{
    for (long row = 0; row < row_count && pc == first_span; row++) {
        rows[row].now = 0; /* of a prediction that did not end */
    }
    is_last = pc == last_span;
}

void passes_end_span(void)
{
    if (!place_at || !is_last) {
        return;
    }
    for (long row = 0; row < row_count; row++) {
        const int64_t now = rows[row].now;
        rows[row].least = predictions == 0 || now < rows[row].least ? now : rows[row].least;
        rows[row].most = predictions == 0 || now > rows[row].most ? now : rows[row].most;
    }
    predictions++;
}

void passes_print(FILE *stream)
{
    fprintf(stream, "\"passes\": [");
    for (long row = 0; row < (predictions ? row_count : 0); row++) {
        fprintf(stream, "%s[%" PRId64 ", %" PRId64 "]", row ? ", " : "", rows[row].least,
                rows[row].most);
    }
    fprintf(stream, "], ");
}
