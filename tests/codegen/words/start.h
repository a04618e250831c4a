/* What a program for an emulated chip may do besides computing. */
#ifndef START_H
#define START_H

#include <stdint.h>

void print(const char *text);
void print_number(uint32_t number);
void stop(int succeeded);

#endif
