/* Sums of products of two lines of floats from their high words on. */

/* One that the high words alone do not show to be enough: as it is known, of longer products, or of floats. */
TILEWRIGHT_WHOLE_ONCE float tilewright_whole_pair(int64_t sum, tilewright_whole_seen of_a, tilewright_whole_seen of_b, const float *a, int a_step,
                                                  const float *b, int b_step, int length, uint64_t needed)
{
    const uint32_t top_a = of_a.largest >> 24, top_b = of_b.largest >> 24;
    if (tilewright_whole_ordinary(top_a, top_b, 30) != 0) {
        uint64_t seen = 0;
        uint32_t sizes = 0;
        int64_t total = 0;
        for (int i = 0; i < length; i++) {
            const uint32_t left_bits = tilewright_whole_bits(a + i * a_step), right_bits = tilewright_whole_bits(b + i * b_step);
            if (left_bits << 1 != 0u && right_bits << 1 != 0u) {
                const uint32_t left = tilewright_whole_size(left_bits, top_a, 30), right = tilewright_whole_size(right_bits, top_b, 30);
                const uint64_t product = ((uint64_t)left * right) >> 14;
                sizes += (left >> 14) + (right >> 14) + 3u;
                seen += product;
                total += ((left_bits ^ right_bits) >> 31) != 0u ? -(int64_t)product : (int64_t)product;
                if (seen >= needed << 18) {
                    return tilewright_whole_real(sum, (int)top_a + (int)top_b - 280);
                }
            }
        }
        if (seen >= (uint64_t)sizes << 20) {
            return tilewright_whole_real(total, (int)top_a + (int)top_b - 298);
        }
    }
    return tilewright_whole_exact(0.0f, a, a_step, b, b_step, length, tilewright_whole_finite(top_a, top_b));
}

TILEWRIGHT_WHOLE_INLINE float tilewright_whole_paired(int64_t sum, const tilewright_whole_seen *of_a, const tilewright_whole_seen *of_b, const float *a,
                                                      int a_step, const float *b, int b_step, int length, uint32_t margin)
{
    const uint32_t top_a = of_a->largest >> 24, top_b = of_b->largest >> 24;
    const int32_t count = of_a->count < of_b->count ? of_a->count : of_b->count;
    const uint32_t most = (uint32_t)count + 2u;
    const uint64_t needed = (uint64_t)most << margin;
    const int32_t half = count / 2;
    const int64_t middle = sum + half;
    const uint64_t size = middle < 0 ? (uint64_t)0 - (uint64_t)middle : (uint64_t)middle;
    if (size >= needed && tilewright_whole_ordinary(top_a, top_b, 30) != 0) {
        return tilewright_whole_real(middle, (int)top_a + (int)top_b - 280);
    }
    return tilewright_whole_pair(middle, *of_a, *of_b, a, a_step, b, b_step, length, needed);
}
