/* The largest codes and the sums of a window in vectors of channels (Helium); lanes behind `width` are neither read nor
 * written. Codes of eight bits are added in sixteen. */
#define TILEWRIGHT_MVE_POOL_LARGEST(name, type, vector, load, store, larger, some)                                    \
    TILEWRIGHT_MVE_INTO void name(const type *x, type *y, int rows, int row, int columns, int column, int width)      \
    {                                                                                                                 \
        const mve_pred16_t lanes = some((uint32_t)width);                                                             \
        vector largest = load(x, lanes);                                                                              \
        for (; rows > 0; rows--) {                                                                                    \
            const type *at = x;                                                                                       \
            for (int n = columns; n > 0; n--) {                                                                       \
                largest = larger(largest, load(at, lanes));                                                           \
                at = &at[column];                                                                                     \
            }                                                                                                         \
            x = &x[row];                                                                                              \
        }                                                                                                             \
        store(y, largest, lanes);                                                                                     \
    }
TILEWRIGHT_MVE_POOL_LARGEST(tilewright_mve_largest_i8, int8_t, int16x8_t, vldrbq_z_s16, vstrbq_p_s16, vmaxq_s16, vctp16q)
TILEWRIGHT_MVE_POOL_LARGEST(tilewright_mve_largest_u8, uint8_t, uint16x8_t, vldrbq_z_u16, vstrbq_p_u16, vmaxq_u16, vctp16q)
TILEWRIGHT_MVE_POOL_LARGEST(tilewright_mve_largest_i16, int16_t, int16x8_t, vldrhq_z_s16, vstrhq_p_s16, vmaxq_s16, vctp16q)
TILEWRIGHT_MVE_POOL_LARGEST(tilewright_mve_largest_u16, uint16_t, uint16x8_t, vldrhq_z_u16, vstrhq_p_u16, vmaxq_u16, vctp16q)

#define TILEWRIGHT_MVE_POOL_BYTES(name, type, vector, half, load, store, add, none, widen, store_word)                \
    TILEWRIGHT_MVE_INTO void name(const type *x, int32_t *sums, int rows, int row, int columns, int column, int width)\
    {                                                                                                                 \
        const mve_pred16_t lanes = vctp16q((uint32_t)width);                                                          \
        vector sum = none(0);                                                                                         \
        half halves[8];                                                                                               \
        for (; rows > 0; rows--) {                                                                                    \
            const type *at = x;                                                                                       \
            for (int n = columns; n > 0; n--) {                                                                       \
                sum = add(sum, load(at, lanes));                                                                      \
                at = &at[column];                                                                                     \
            }                                                                                                         \
            x = &x[row];                                                                                              \
        }                                                                                                             \
        store(halves, sum);                                                                                           \
        vstrwq_s32(sums, store_word(widen(halves)));                                                                  \
        vstrwq_s32(sums + 4, store_word(widen(halves + 4)));                                                          \
    }
TILEWRIGHT_MVE_POOL_BYTES(tilewright_mve_sums_i8, int8_t, int16x8_t, int16_t, vldrbq_z_s16, vstrhq_s16, vaddq_s16,
    vdupq_n_s16, vldrhq_s32, )
TILEWRIGHT_MVE_POOL_BYTES(tilewright_mve_sums_u8, uint8_t, uint16x8_t, uint16_t, vldrbq_z_u16, vstrhq_u16, vaddq_u16,
    vdupq_n_u16, vldrhq_u32, vreinterpretq_s32_u32)

#define TILEWRIGHT_MVE_POOL_SUMS(name, type, load, word)                                                              \
    TILEWRIGHT_MVE_INTO void name(const type *x, int32_t *sums, int rows, int row, int columns, int column, int width)\
    {                                                                                                                 \
        const mve_pred16_t lanes = vctp32q((uint32_t)width);                                                          \
        const mve_pred16_t behind = vctp32q(width > 4 ? (uint32_t)width - 4u : 0u);                                   \
        int32x4_t first = vdupq_n_s32(0), second = first;                                                             \
        for (; rows > 0; rows--) {                                                                                    \
            const type *at = x;                                                                                       \
            for (int n = columns; n > 0; n--) {                                                                       \
                first = vaddq_s32(first, word(load(at, lanes)));                                                      \
                second = vaddq_s32(second, word(load(at + 4, behind)));                                               \
                at = &at[column];                                                                                     \
            }                                                                                                         \
            x = &x[row];                                                                                              \
        }                                                                                                             \
        vstrwq_s32(sums, first);                                                                                      \
        vstrwq_s32(sums + 4, second);                                                                                 \
    }
TILEWRIGHT_MVE_POOL_SUMS(tilewright_mve_sums_i16, int16_t, vldrhq_z_s32, )
TILEWRIGHT_MVE_POOL_SUMS(tilewright_mve_sums_u16, uint16_t, vldrhq_z_u32, vreinterpretq_s32_u32)
