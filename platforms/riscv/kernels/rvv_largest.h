/* The largest codes of a window, up to sixteen channels at a time. gcc 12 never uses vector registers by itself: they
 * keep their values from one statement to the next, and none need to be named as clobbered. */
#define TILEWRIGHT_RVV_LARGEST(name, type, bits, group, larger)                                                       \
    static inline void name(const type *x, type *y, int rows, int row, int columns, int column, int width)            \
    {                                                                                                                 \
        __asm__ volatile(".option push\n\t.option arch, +v\n\tvsetvli zero, %1, e" bits ", " group ", ta, ma\n\t"     \
                         "vle" bits ".v v8, (%0)\n\t.option pop" : : "r"(x), "r"(width) : "memory");                  \
        for (; rows > 0; rows--) {                                                                                    \
            const type *at = x;                                                                                       \
            for (int n = columns; n > 0; n--) {                                                                       \
                __asm__ volatile(".option push\n\t.option arch, +v\n\tvle" bits ".v v12, (%0)\n\t" larger             \
                                 " v8, v8, v12\n\t.option pop" : : "r"(at) : "memory");                               \
                at += column;                                                                                         \
            }                                                                                                         \
            x += row;                                                                                                 \
        }                                                                                                             \
        __asm__ volatile(".option push\n\t.option arch, +v\n\tvse" bits ".v v8, (%0)\n\t.option pop"                  \
                         : : "r"(y) : "memory");                                                                      \
    }
TILEWRIGHT_RVV_LARGEST(tilewright_rvv_largest_i8, int8_t, "8", "m1", "vmax.vv")
TILEWRIGHT_RVV_LARGEST(tilewright_rvv_largest_u8, uint8_t, "8", "m1", "vmaxu.vv")
TILEWRIGHT_RVV_LARGEST(tilewright_rvv_largest_i16, int16_t, "16", "m2", "vmax.vv")
TILEWRIGHT_RVV_LARGEST(tilewright_rvv_largest_u16, uint16_t, "16", "m2", "vmaxu.vv")
