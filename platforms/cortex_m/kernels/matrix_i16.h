/* The sums of the matrix core for inputs of 16 bits: some pixels times two channels of weights of 8 or of 16 bits. Pairs of
 * inputs lie as they come, [pair][pixel]. It brings tilewright_halves_gather, and for 1 to 4 pixels:
 *   tilewright_half_sums1 tilewright_half_sums2 tilewright_half_sums3 tilewright_half_sums4
 *   tilewright_matrix1_wide_halves tilewright_matrix2_wide_halves tilewright_matrix3_wide_halves tilewright_matrix4_wide_halves
 *   tilewright_matrix1_wide_limited_halves tilewright_matrix2_wide_limited_halves
 *   tilewright_matrix3_wide_limited_halves tilewright_matrix4_wide_limited_halves
 *   tilewright_matrix1_wide_own_limited_halves tilewright_matrix2_wide_own_limited_halves
 *   tilewright_matrix3_wide_own_limited_halves tilewright_matrix4_wide_own_limited_halves
 *   tilewright_matrix1_sixteen_halves tilewright_matrix2_sixteen_halves
 *   tilewright_matrix3_sixteen_halves tilewright_matrix4_sixteen_halves
 *   tilewright_matrix1_sixteen_limited_halves tilewright_matrix2_sixteen_limited_halves
 *   tilewright_matrix3_sixteen_limited_halves tilewright_matrix4_sixteen_limited_halves
 *   tilewright_matrix1_sixteen_own_limited_halves tilewright_matrix2_sixteen_own_limited_halves
 *   tilewright_matrix3_sixteen_own_limited_halves tilewright_matrix4_sixteen_own_limited_halves
 *   tilewright_half_sums1_sixteen tilewright_half_sums2_sixteen tilewright_half_sums3_sixteen tilewright_half_sums4_sixteen
 */

/* Puts `count` inputs in pairs, `step` words from one to the next; `flip` turns unsigned ones into those less 32768. The
 * last of an odd number has a zero beside it. Returns where the next pair belongs. */
TILEWRIGHT_ONCE uint32_t *tilewright_halves_gather(const int16_t *from, uint32_t *to, int count, int step, uint32_t flip)
{
    int pairs = count / 2;
    for (; pairs >= 4; pairs -= 4) {
        TILEWRIGHT_UNROLL
        for (int i = 0; i < 4; i++) {
            *to = tilewright_load(from + 2 * i) ^ flip;
            to = &to[step];
        }
        from += 8;
    }
    for (; pairs > 0; pairs--) {
        *to = tilewright_load(from) ^ flip;
        to = &to[step];
        from += 2;
    }
    if ((count & 1) != 0) {
        *to = ((uint32_t)*from ^ flip) & 0xffffu;
        to = &to[step];
    }
    return to;
}

#define TILEWRIGHT_HALF_SUMS(pixels, name, form) \
    TILEWRIGHT_ONCE void tilewright_half_sums##pixels##name( \
        const uint32_t *xs, const uint32_t *w, const int32_t *starts, int pairs, int32_t sums[2][4]) \
    { \
        TILEWRIGHT_UNROLL \
        for (int j = 0; j < 4; j++) { \
            sums[0][j] = starts[0]; \
            sums[1][j] = starts[1]; \
        } \
        (void)tilewright_sum(pixels, form, xs, w, pairs, sums[0], sums[1]); \
    }
TILEWRIGHT_HALF_SUMS(1, , 0)
TILEWRIGHT_HALF_SUMS(2, , 0)
TILEWRIGHT_HALF_SUMS(3, , 0)
TILEWRIGHT_HALF_SUMS(4, , 0)
TILEWRIGHT_HALF_SUMS(1, _sixteen, TILEWRIGHT_SIXTEEN)
TILEWRIGHT_HALF_SUMS(2, _sixteen, TILEWRIGHT_SIXTEEN)
TILEWRIGHT_HALF_SUMS(3, _sixteen, TILEWRIGHT_SIXTEEN)
TILEWRIGHT_HALF_SUMS(4, _sixteen, TILEWRIGHT_SIXTEEN)

#define TILEWRIGHT_HALF_MATRICES(pixels) \
    TILEWRIGHT_MATRIX(pixels, _wide_halves, TILEWRIGHT_TO_HALVES) \
    TILEWRIGHT_MATRIX(pixels, _wide_limited_halves, TILEWRIGHT_TO_HALVES | TILEWRIGHT_LIMITED) \
    TILEWRIGHT_MATRIX(pixels, _wide_own_limited_halves, TILEWRIGHT_TO_HALVES | TILEWRIGHT_OWN | TILEWRIGHT_LIMITED) \
    TILEWRIGHT_MATRIX(pixels, _sixteen_halves, TILEWRIGHT_TO_HALVES | TILEWRIGHT_SIXTEEN) \
    TILEWRIGHT_MATRIX(pixels, _sixteen_limited_halves, TILEWRIGHT_TO_HALVES | TILEWRIGHT_SIXTEEN | TILEWRIGHT_LIMITED) \
    TILEWRIGHT_MATRIX(pixels, _sixteen_own_limited_halves, \
        TILEWRIGHT_TO_HALVES | TILEWRIGHT_SIXTEEN | TILEWRIGHT_OWN | TILEWRIGHT_LIMITED)
TILEWRIGHT_HALF_MATRICES(1)
TILEWRIGHT_HALF_MATRICES(2)
TILEWRIGHT_HALF_MATRICES(3)
TILEWRIGHT_HALF_MATRICES(4)
