/* A hand-made model in the form of a generated project, which loads and stores lists of registers. */
#ifndef LISTS_H
#define LISTS_H
#include <stdint.h>
#define LISTS_INPUT_COUNT 1
#define LISTS_INPUT_0_BYTES 4
#define LISTS_OUTPUT_COUNT 1
#define LISTS_OUTPUT_0_BYTES 4
#define LISTS_ARENA_BYTES 264
int lists_run(void);
uint8_t *lists_input_0(void);
const uint32_t *lists_output_0(void);
#endif
