/* Keeps a register block as it is written, whatever optimisation level the build asks for: gcc's first scheduler moves
 * all loads of a block to its top and spills, and so does the replacement of expressions. Counted: loops in loops want
 * their registers allocated as one region, single loops by priority. */
#if defined(__GNUC__) && !defined(__clang__)
#define TILEWRIGHT_SCALAR __attribute__((noinline, optimize("O2", "no-schedule-insns", "no-tree-ter", "ira-algorithm=priority")))
#define TILEWRIGHT_SCALAR_NESTED __attribute__((noinline, optimize("O2", "no-schedule-insns", "no-tree-ter", "ira-region=one")))
#else
#define TILEWRIGHT_SCALAR __attribute__((noinline))
#define TILEWRIGHT_SCALAR_NESTED __attribute__((noinline))
#endif
/* Hides where a value came from, so that loads keep their small offsets and are not carried between iterations. */
#if defined(__GNUC__)
#define TILEWRIGHT_HIDE(value) __asm__("" : "+r"(value))
#else
#define TILEWRIGHT_HIDE(value) ((void)0)
#endif
