/* Reading and writing code points. */
#include "utf8.h"

/* Bytes of the sequence that begins with this byte, 0 for none. */
static size_t sequence_length(unsigned char first) {
    if (first < 0x80) return 1;
    if ((first & 0xe0) == 0xc0) return 2;
    if ((first & 0xf0) == 0xe0) return 3;
    if ((first & 0xf8) == 0xf0) return 4;
    return 0;
}

/* Reads one code point; returns its bytes, or 0 where the text is not well-formed. */
size_t utf8_decode(const char *text, uint32_t *point) {
    static const unsigned char masks[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    size_t length = sequence_length((unsigned char)text[0]);
    if (length == 0) return 0;
    *point = (unsigned char)text[0] & masks[length];
    for (size_t at = 1; at < length; at++) {
        if (((unsigned char)text[at] & 0xc0) != 0x80) return 0;
        *point = (*point << 6) | ((unsigned char)text[at] & 0x3f);
    }
    return length;
}

size_t utf8_encode(uint32_t point, char out[4]) {
    if (point < 0x80) {
        out[0] = (char)point;
        return 1;
    }
    size_t length = point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    for (size_t at = length - 1; at > 0; at--) {
        out[at] = (char)(0x80 | (point & 0x3f));
        point >>= 6;
    }
    static const unsigned char marks[] = {0, 0, 0xc0, 0xe0, 0xf0};
    out[0] = (char)(marks[length] | point);
    return length;
}

/* Code points of a text; a broken byte counts as one. */
size_t utf8_count(const char *text) {
    size_t count = 0;
    while (*text) {
        uint32_t point;
        size_t length = utf8_decode(text, &point);
        text += length ? length : 1;
        count++;
    }
    return count;
}
