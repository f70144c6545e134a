/* A hand-made model in the form of a generated project, whose instructions depend on its input. */
#ifndef BRANCHES_H
#define BRANCHES_H
#include <stdint.h>
#define BRANCHES_INPUT_COUNT 1
#define BRANCHES_INPUT_0_BYTES 8
#define BRANCHES_OUTPUT_COUNT 1
#define BRANCHES_OUTPUT_0_BYTES 4
#define BRANCHES_ARENA_BYTES 32
int branches_run(void);
uint8_t *branches_input_0(void);
const uint32_t *branches_output_0(void);
#endif
