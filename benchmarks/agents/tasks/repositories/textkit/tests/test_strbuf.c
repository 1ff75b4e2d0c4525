#include <string.h>

#include "check.h"
#include "strbuf.h"

int main(void) {
    struct strbuf buffer;
    strbuf_init(&buffer);
    strbuf_puts(&buffer, "  some words that do not fit into sixteen bytes \n");
    strbuf_trim(&buffer);
    CHECK(strcmp(buffer.text, "some words that do not fit into sixteen bytes") == 0);
    strbuf_free(&buffer);
    return 0;
}
