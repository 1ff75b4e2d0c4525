#ifndef WILDCARD_H
#define WILDCARD_H

/* * stands for any letters, ? for one; returns 1 for a match. */
int wildcard_match(const char *pattern, const char *text);

#endif
