#ifndef TEMPLATE_H
#define TEMPLATE_H

#include "map.h"
#include "strbuf.h"

/* Writes text into out with each {{name}} replaced by its value; unknown names become nothing. */
void template_render(const char *text, const struct map *values, struct strbuf *out);

#endif
