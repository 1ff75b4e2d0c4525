/* Numbers as people write them. */
#include "numbers.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static int shift_of(char unit) {
    switch (unit) {
        case 'k': case 'K': return 10;
        case 'm': case 'M': return 20;
        case 'g': case 'G': return 30;
        case '\0': return 0;
        default: return -1;
    }
}

int parse_size(const char *text, uint64_t *bytes) {
    uint64_t value = 0;
    if (*text < '0' || *text > '9') return -1;
    for (; *text >= '0' && *text <= '9'; text++) {
        uint64_t digit = (uint64_t)(*text - '0');
        if (value > (UINT64_MAX - digit) / 10) return -1;
        value = value * 10 + digit;
    }
    int shift = shift_of(*text);
    if (shift < 0 || (*text && text[1])) return -1;
    if (value > UINT64_MAX >> shift) return -1;
    *bytes = value << shift;
    return 0;
}

size_t format_grouped(int64_t number, char *out, size_t room) {
    char digits[32];
    int length = snprintf(digits, sizeof digits, "%" PRIu64, number < 0 ? -(uint64_t)number : (uint64_t)number);
    size_t at = 0;
    if (number < 0 && at + 1 < room) out[at++] = '-';
    for (int place = 0; place < length && at + 1 < room; place++) {
        if (place > 0 && (length - place) % 3 == 0 && at + 2 < room) out[at++] = ',';
        out[at++] = digits[place];
    }
    out[at] = '\0';
    return at;
}
