/* Four rows of codes times up to sixteen columns of weights in vectors: acc[p][o] = b[o] + sum x[p * stride + i] * w[i][o].
 * gcc 12 has no vector intrinsics and never uses vector registers by itself, so none need to be named as clobbered. */
#define TILEWRIGHT_RVV_PRODUCTS(name, load, type)                                                                  \
    static inline void name(const type *x, int32_t stride, const int8_t *w, int32_t depth, int32_t width,          \
                            const int32_t *b, int32_t *acc)                                                        \
    {                                                                                                              \
        const type *x1 = x + stride;                                                                               \
        const type *x2 = x1 + stride;                                                                              \
        const type *x3 = x2 + stride;                                                                              \
        const type *const end = x + depth;                                                                         \
        int32_t v0, v1, v2, v3;                                                                                    \
        __asm__ volatile(".option push\n\t.option arch, +v\n\t"                                                    \
                         "vsetvli zero, %[width], e32, m4, ta, ma\n\t"                                             \
                         "vle32.v v16, (%[b])\n\tvmv.v.v v20, v16\n\tvmv.v.v v24, v16\n\tvmv.v.v v28, v16\n\t"     \
                         "vsetvli zero, %[width], e16, m2, ta, ma\n"                                               \
                         "1:\n\t"                                                                                  \
                         "vle8.v v8, (%[w])\n\t" load " %[v0], 0(%[x])\n\t" load " %[v1], 0(%[x1])\n\t"            \
                         load " %[v2], 0(%[x2])\n\t" load " %[v3], 0(%[x3])\n\t"                                   \
                         "vsext.vf2 v10, v8\n\t"                                                                   \
                         "vwmacc.vx v16, %[v0], v10\n\tvwmacc.vx v20, %[v1], v10\n\t"                              \
                         "vwmacc.vx v24, %[v2], v10\n\tvwmacc.vx v28, %[v3], v10\n\t"                              \
                         "addi %[x], %[x], 1\n\taddi %[x1], %[x1], 1\n\taddi %[x2], %[x2], 1\n\t"                  \
                         "addi %[x3], %[x3], 1\n\tadd %[w], %[w], %[width]\n\tbne %[x], %[end], 1b\n\t"            \
                         "vsetvli zero, %[width], e32, m4, ta, ma\n\t"                                             \
                         "vse32.v v16, (%[acc])\n\taddi %[v0], %[acc], 64\n\tvse32.v v20, (%[v0])\n\t"             \
                         "addi %[v0], %[acc], 128\n\tvse32.v v24, (%[v0])\n\t"                                     \
                         "addi %[v0], %[acc], 192\n\tvse32.v v28, (%[v0])\n\t"                                     \
                         ".option pop"                                                                             \
                         : [x] "+&r"(x), [x1] "+&r"(x1), [x2] "+&r"(x2), [x3] "+&r"(x3), [w] "+&r"(w),             \
                           [v0] "=&r"(v0), [v1] "=&r"(v1), [v2] "=&r"(v2), [v3] "=&r"(v3)                          \
                         : [width] "r"(width), [b] "r"(b), [acc] "r"(acc), [end] "r"(end)                          \
                         : "memory");                                                                              \
    }
TILEWRIGHT_RVV_PRODUCTS(tilewright_rvv_products_i8, "lb", int8_t)
TILEWRIGHT_RVV_PRODUCTS(tilewright_rvv_products_u8, "lbu", uint8_t)
