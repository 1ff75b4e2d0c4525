#ifndef INI_H
#define INI_H

/* Called for each key; a return other than 0 stops reading. */
typedef int (*ini_handler)(void *user, const char *section, const char *key, const char *value);

/* Returns 0, or the number of the first line that is not well-formed. */
int ini_parse(const char *text, ini_handler handler, void *user);

#endif
