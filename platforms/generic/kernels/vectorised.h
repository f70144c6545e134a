/* Keeps the shape of a register-blocked loop nest whatever optimisation level the build asks for: plain -O3 of gcc
 * unrolls the small loops before it vectorises and costs many times more instructions. */
#if defined(__GNUC__) && !defined(__clang__) && defined(__AVX512F__)
#define TILEWRIGHT_VECTORISED \
    __attribute__((optimize("O2", "tree-vectorize", "unroll-loops", "no-tree-loop-distribute-patterns", "fp-contract=fast"), target("prefer-vector-width=512")))
#elif defined(__GNUC__) && !defined(__clang__)
#define TILEWRIGHT_VECTORISED __attribute__((optimize("O2", "tree-vectorize", "unroll-loops", "no-tree-loop-distribute-patterns", "fp-contract=fast")))
#else
#define TILEWRIGHT_VECTORISED
#endif
/* The size of a block that fills the registers: 32 of 512 bits, 16 of 256, 32 of 128, 16 of 128, or none known. */
#if defined(__AVX512F__)
#define TILEWRIGHT_BY_VECTOR(avx512, avx, neon, sse, none) (avx512)
#elif defined(__AVX__)
#define TILEWRIGHT_BY_VECTOR(avx512, avx, neon, sse, none) (avx)
#elif defined(__aarch64__)
#define TILEWRIGHT_BY_VECTOR(avx512, avx, neon, sse, none) (neon)
#elif defined(__SSE__)
#define TILEWRIGHT_BY_VECTOR(avx512, avx, neon, sse, none) (sse)
#else
#define TILEWRIGHT_BY_VECTOR(avx512, avx, neon, sse, none) (none)
#endif
