/* Keeps a register block as it is written, whatever optimisation level the build asks for: gcc's first scheduler moves
 * all loads of a block to its top and spills, and so does the replacement of expressions. */
#if defined(__GNUC__) && !defined(__clang__)
#define TILEWRIGHT_SCALAR __attribute__((noinline, optimize("O2", "no-schedule-insns", "no-tree-ter")))
#else
#define TILEWRIGHT_SCALAR __attribute__((noinline))
#endif
/* Hides where a pointer came from, so that its loads keep their small offsets and are not carried between iterations. */
#if defined(__GNUC__)
#define TILEWRIGHT_HIDE(pointer) __asm__("" : "+r"(pointer))
#else
#define TILEWRIGHT_HIDE(pointer) ((void)0)
#endif
