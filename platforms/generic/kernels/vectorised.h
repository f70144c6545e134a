/* Keeps the shape of a register-blocked loop nest whatever optimisation level the build asks for: plain -O3 of gcc
 * unrolls the small loops before it vectorises and costs many times more instructions. */
#if defined(__GNUC__) && !defined(__clang__)
#define TILEWRIGHT_VECTORISED __attribute__((optimize("O2", "tree-vectorize", "unroll-loops", "fp-contract=fast")))
#else
#define TILEWRIGHT_VECTORISED
#endif
