#ifndef STRBUF_H
#define STRBUF_H

#include <stddef.h>

/* A string that grows; always ends with a zero byte. */
struct strbuf {
    char *text;
    size_t length;
    size_t capacity;
};

void strbuf_init(struct strbuf *buffer);
void strbuf_free(struct strbuf *buffer);
void strbuf_append(struct strbuf *buffer, const char *text, size_t length);
void strbuf_puts(struct strbuf *buffer, const char *text);
void strbuf_putc(struct strbuf *buffer, char letter);
void strbuf_trim(struct strbuf *buffer);

#endif
