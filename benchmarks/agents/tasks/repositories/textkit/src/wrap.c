/* Filling lines with words. */
#include "wrap.h"

#include <string.h>

#include "utf8.h"

static size_t letters_in(const char *word, size_t bytes) {
    char copy[256];
    if (bytes >= sizeof copy) return bytes;
    memcpy(copy, word, bytes);
    copy[bytes] = '\0';
    return utf8_count(copy);
}

void wrap_text(const char *text, size_t width, struct strbuf *out) {
    size_t column = 0;
    while (*text) {
        text += strspn(text, " \t\n");
        size_t bytes = strcspn(text, " \t\n");
        if (bytes == 0) break;
        size_t letters = letters_in(text, bytes);
        if (column > 0 && column + 1 + letters > width) {
            strbuf_putc(out, '\n');
            column = 0;
        }
        if (column > 0) {
            strbuf_putc(out, ' ');
            column++;
        }
        strbuf_append(out, text, bytes);
        column += letters;
        text += bytes;
    }
}
