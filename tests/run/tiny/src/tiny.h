/* A hand-made model in the form of a generated project: double = x + weights, then y = running sum of double. */
#ifndef TINY_H
#define TINY_H
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif
#define TINY_INPUT_COUNT 1
#define TINY_INPUT_0_BYTES 16
#define TINY_OUTPUT_COUNT 1
#define TINY_OUTPUT_0_BYTES 64
#define TINY_ARENA_BYTES 96
int tiny_run(void);
int8_t *tiny_input_0(void);
const int32_t *tiny_output_0(void);
#ifdef __cplusplus
}
#endif
#endif
