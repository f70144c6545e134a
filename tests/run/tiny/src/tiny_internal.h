#ifndef TINY_INTERNAL_H
#define TINY_INTERNAL_H
#include <stdint.h>
extern const int8_t tiny_weights[16];
#ifdef TINY_TRACE
void tiny_trace(int instruction, int phase);
#endif
#endif
