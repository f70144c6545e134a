/* A function whose instructions stay in the order of its text: loads right behind one another take a cycle each. */
#if defined(__clang__)
#define TILEWRIGHT_IN_ORDER static __attribute__((noinline, unused))
#else
#define TILEWRIGHT_IN_ORDER \
    static __attribute__((noinline, unused, optimize("O2", "no-schedule-insns", "no-schedule-insns2")))
#endif
