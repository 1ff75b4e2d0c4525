#ifndef CSVLINE_H
#define CSVLINE_H

#include "strbuf.h"

/* Reads the next cell of a line into out; returns where the next one begins, NULL after the last. */
const char *csv_cell(const char *line, struct strbuf *out);

#endif
