/* Keeps the shape of a register-blocked loop nest whatever optimisation level the build asks for: plain -O3 of gcc
 * unrolls the small loops before it vectorises and costs many times more instructions. A block of pixels fills the
 * registers: 32 of 512 bits take six pixels, 16 of 256 bits take four. */
#if defined(__GNUC__) && !defined(__clang__) && defined(__AVX512F__)
#define TILEWRIGHT_VECTORISED \
    __attribute__((optimize("O2", "tree-vectorize", "unroll-loops", "fp-contract=fast"), target("prefer-vector-width=512")))
#elif defined(__GNUC__) && !defined(__clang__)
#define TILEWRIGHT_VECTORISED __attribute__((optimize("O2", "tree-vectorize", "unroll-loops", "fp-contract=fast")))
#else
#define TILEWRIGHT_VECTORISED
#endif
#if defined(__AVX512F__)
#define TILEWRIGHT_PIXELS 6
#else
#define TILEWRIGHT_PIXELS 4
#endif
