/* Filling in names between double braces. */
#include "template.h"

#include <string.h>

#define MAX_KEY 64

void template_render(const char *text, const struct map *values, struct strbuf *out) {
    const char *open;
    while ((open = strstr(text, "{{"))) {
        const char *close = strstr(open + 2, "}}");
        if (!close || close - open - 2 >= MAX_KEY) break;
        strbuf_append(out, text, (size_t)(open - text));
        char key[MAX_KEY];
        memcpy(key, open + 2, (size_t)(close - open - 2));
        key[close - open - 2] = '\0';
        const char *value = map_get(values, key);
        if (value) strbuf_puts(out, value);
        text = close + 2;
    }
    strbuf_puts(out, text);
}
