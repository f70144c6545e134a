/* The sums of a window, up to sixteen channels at a time, of codes of eight bits in sixteen and of those in 32; vector
 * registers keep their values as in rvv_largest.h. */
#define TILEWRIGHT_RVV_SUMS(name, type, bits, group, sum_bits, sum_group, sum, wider)                                 \
    static inline void name(const type *x, int32_t *sums, int rows, int row, int columns, int column, int width)      \
    {                                                                                                                 \
        __asm__ volatile(".option push\n\t.option arch, +v\n\tvsetvli zero, %0, e" sum_bits ", " sum_group ", ta, ma\n\t"\
                         "vmv.v.i v8, 0\n\tvsetvli zero, %0, e" bits ", " group ", ta, ma\n\t.option pop"             \
                         : : "r"(width));                                                                             \
        for (; rows > 0; rows--) {                                                                                    \
            const type *at = x;                                                                                       \
            for (int n = columns; n > 0; n--) {                                                                       \
                __asm__ volatile(".option push\n\t.option arch, +v\n\tvle" bits ".v v16, (%0)\n\t" sum                \
                                 " v8, v8, v16\n\t.option pop" : : "r"(at) : "memory");                               \
                at += column;                                                                                         \
            }                                                                                                         \
            x += row;                                                                                                 \
        }                                                                                                             \
        __asm__ volatile(".option push\n\t.option arch, +v\n\tvsetvli zero, %1, e32, m4, ta, ma\n\t" wider            \
                         " v16, v8\n\tvse32.v v16, (%0)\n\t.option pop" : : "r"(sums), "r"(width) : "memory");        \
    }
TILEWRIGHT_RVV_SUMS(tilewright_rvv_sums_i8, int8_t, "8", "m1", "16", "m2", "vwadd.wv", "vsext.vf2")
TILEWRIGHT_RVV_SUMS(tilewright_rvv_sums_u8, uint8_t, "8", "m1", "16", "m2", "vwaddu.wv", "vzext.vf2")
TILEWRIGHT_RVV_SUMS(tilewright_rvv_sums_i16, int16_t, "16", "m2", "32", "m4", "vwadd.wv", "vmv.v.v")
TILEWRIGHT_RVV_SUMS(tilewright_rvv_sums_u16, uint16_t, "16", "m2", "32", "m4", "vwaddu.wv", "vmv.v.v")
