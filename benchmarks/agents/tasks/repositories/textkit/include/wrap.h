#ifndef WRAP_H
#define WRAP_H

#include <stddef.h>

#include "strbuf.h"

/* Breaks a paragraph into lines of at most width letters; longer words get a line of their own. */
void wrap_text(const char *text, size_t width, struct strbuf *out);

#endif
