/* Lines of comma separated cells. */
#include "csvline.h"

#include <stddef.h>

const char *csv_cell(const char *line, struct strbuf *out) {
    if (*line == '"') {
        for (line++; *line; line++) {
            if (*line == '"') {
                if (line[1] != '"') {
                    line++;
                    break;
                }
                line++;
            }
            strbuf_putc(out, *line);
        }
    }
    while (*line && *line != ',') strbuf_putc(out, *line++);
    return *line == ',' ? line + 1 : NULL;
}
