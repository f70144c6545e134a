/* Float sums of products over planes in L1. Two cores share a floating-point unit, so loads stand where they are written,
 * between products. It brings TILEWRIGHT_IN_ORDER, TILEWRIGHT_TIMES, tilewright_plane_row and what goes with them. */
#if defined(__GNUC__) && !defined(__clang__)
#define TILEWRIGHT_IN_ORDER static __attribute__((noinline, unused, optimize("O2", "no-schedule-insns", "no-schedule-insns2", "no-tree-ter", "ira-region=one")))
#elif defined(__clang__)
#define TILEWRIGHT_IN_ORDER static __attribute__((noinline, unused))
#else
#define TILEWRIGHT_IN_ORDER static
#endif
#if defined(__riscv_flen)
#define TILEWRIGHT_ADD_PRODUCT(a, b, sum) __builtin_fmaf((a), (b), (sum))
#else
#define TILEWRIGHT_ADD_PRODUCT(a, b, sum) ((sum) + (a) * (b)) /* fused ones take a core without the unit far longer */
#endif
#define TILEWRIGHT_TIMES(sum, a, b) sum = TILEWRIGHT_ADD_PRODUCT(a, b, sum);

/* A row of results of some lanes: where weights, operand and results begin, so many planes of each of so many rows of the
 * window are summed, and the elements between neighbouring lanes, rows and planes; `next`: from the end of all terms of the
 * inner loop to those of the next turn of the outer one. Sums begin with `start` of each lane, or with `add`, which lies as
 * the results do, as does `mask`. `middle`: blocks between the edges of the row. */
typedef struct {
    const float *w, *x;
    float *y;
    int rows, planes;
    int w_lane, w_row, w_plane, w_next, x_row, x_plane, x_next, y_plane, middle, results;
    const float *start, *add, *mask;
} tilewright_plane_row;
