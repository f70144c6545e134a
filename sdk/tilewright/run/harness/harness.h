/* What the parts of the test image know of each other: the model behind plain names, and the port to the machine. */
#ifndef TW_HARNESS_H
#define TW_HARNESS_H

#include <stdint.h>

#define TW_MAGIC 0x31525754u /* "TWR1" */
#define TW_PAINT 1u          /* paint the stack and measure it */
#define TW_GUARD 2u          /* host: poison what an instruction may not touch, compare what it may not write */
#define TW_CLOCK 4u          /* count instructions, or cycles, by the core's own counter */
#define TW_PROFILE 8u        /* tell the port where each instruction of the plan begins and ends */
#define TW_PATTERN 0xa5u
#define TW_TRACE_MARKS 4096u

/* Status of a run, the exit code of the image and the first word of result.bin. */
enum { TW_OK = 0, TW_MODEL_FAILED = 64, TW_BAD_FILE = 65, TW_FENCED = 67, TW_TRAP = 99 };

/* The model, written for one model by run/build.py. */
extern const uint32_t tw_input_count;
extern const uint32_t tw_output_count;
void *tw_input(uint32_t index);
const void *tw_output(uint32_t index);
uint32_t tw_input_bytes(uint32_t index);
uint32_t tw_output_bytes(uint32_t index);
extern const uint32_t tw_state_bytes;
const void *tw_state(void);
extern int (*const tw_run)(void); /* a pointer, so that the measured stack holds no frame of ours */
int tw_init(void);
void tw_trace(int instruction, int phase);
#ifdef TILEWRIGHT_ROW_TAPS
void tilewright_tap(int node, int first_row, const void *rows, int size_bytes);
#endif

#ifdef TW_TEXT
int tw_feed(void); /* sets the inputs of the next call; 0 where there is none */
void tw_take(void);
#endif

#ifdef TW_COVER
void tw_cover(void); /* writes how often every line and branch of the model ran */
#endif

/* The port. A file is 0 where it could not be opened; reads and writes return 0 or -1. */
typedef intptr_t tw_file;
tw_file tw_open(const char *path, int for_writing);
int tw_read(tw_file file, void *to, uint32_t bytes);
int tw_write(tw_file file, const void *from, uint32_t bytes);
void tw_close(tw_file file);
void tw_print(const char *text);
void tw_exit(int status);
uint8_t *tw_stack_low(void);
int tw_call_on_painted_stack(int (*call)(void)); /* ports without a stack of their own just call */
uint32_t tw_clock(void); /* ticks of the core's counter since any moment, 0 where it has none */
int tw_nothing(void);    /* where tw_clock counts: exactly one instruction */
void tw_fault(const char *access, uint32_t pc, uint32_t address); /* bare cores: reports a trap and ends */
void tw_mark(int instruction, int phase);
void tw_guard_load(void);
void tw_guard_before(int instruction);
void tw_guard_after(int instruction);

/* Lowest byte of the caller's own frame; where the core is not known, a little below it. */
#if defined(__x86_64__)
#define TW_STACK_POINTER(p) __asm__ volatile("movq %%rsp, %0" : "=r"(p))
#elif defined(__aarch64__) || defined(__arm__)
#define TW_STACK_POINTER(p) __asm__ volatile("mov %0, sp" : "=r"(p))
#elif defined(__riscv)
#define TW_STACK_POINTER(p) __asm__ volatile("mv %0, sp" : "=r"(p))
#else
#define TW_STACK_POINTER(p) ((p) = (volatile uint8_t *)__builtin_frame_address(0) - 96)
#endif

extern volatile int tw_layer;          /* plan instruction that runs now, -1 outside */
extern volatile uint32_t tw_stack_used; /* bytes that the model's calls took */
extern volatile uint32_t tw_interrupts; /* of the counter: five instructions each */

#endif
