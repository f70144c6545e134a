/* A function whose instructions stay in the order of its text: loads right behind one another take a cycle each. */
#if defined(__clang__)
#define TILEWRIGHT_IN_ORDER static __attribute__((noinline, unused))
#define TILEWRIGHT_UNROLL_EIGHT _Pragma("unroll 8")
#else
#define TILEWRIGHT_UNROLL_EIGHT _Pragma("GCC unroll 8")
#define TILEWRIGHT_IN_ORDER \
    static __attribute__((noinline, unused, optimize("O2", "no-schedule-insns", "no-schedule-insns2")))
#endif
/* Both values are there from here on: the loads of both lie behind one another, addresses are made before. */
#define TILEWRIGHT_BOTH(a, b) __asm__("" : "+r"(a), "+r"(b))
#define TILEWRIGHT_ONE_FLOAT(a) __asm__("" : "+t"(a))
#define TILEWRIGHT_FOUR_FLOATS(a, b, c, d) __asm__("" : "+t"(a), "+t"(b), "+t"(c), "+t"(d))
