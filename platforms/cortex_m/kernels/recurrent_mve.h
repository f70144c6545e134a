/* Rows of a recurrent layer's matrices times one vector, eight sums in two vectors, the last four of a group alone. It
 * brings tilewright_recurrent_rows. */
#define TILEWRIGHT_RECURRENT_EIGHT \
    "ldr %[t], [%[x]], #4\n\tvldrw.32 q2, [%[w]], #32\n\tvldrw.32 q3, [%[w], #-16]\n\t" \
    "vfma.f32 %q[a], q2, %[t]\n\tvfma.f32 %q[b], q3, %[t]\n\t"
#define TILEWRIGHT_RECURRENT_FOUR \
    "ldr %[t], [%[x]], #4\n\tvldrw.32 q2, [%[w]], #16\n\tvfma.f32 %q[a], q2, %[t]\n\t"
#define TILEWRIGHT_MVE_RECURRENT_SUMS(input) \
    "cmp %[x], %[whole]\n\tbeq 2f\n\t1:\n\t" input input input input "cmp %[x], %[whole]\n\tbne 1b\n\t" \
    "2:\n\tcmp %[x], %[end]\n\tbeq 3f\n\t" input "b 2b\n\t3:\n\t"

/* out[row] = start[row] + the row's products; `start` may be `out`. Rows lie [block][input][row], four in the last block
 * where no more are left. */
TILEWRIGHT_MVE void tilewright_recurrent_rows(
    float *out, const float *start, const float *w, const float *x, int rows, int inputs)
{
    const float *const whole = x + inputs / 4 * 4, *const end = x + inputs;
    for (int row = 0; row < rows; row += 8) {
        const mve_pred16_t first = vctp32q((uint32_t)rows - (uint32_t)row);
        const float *vector = x;
        float32x4_t a = vldrwq_z_f32(start + row, first);
        uint32_t t;
        if (rows - row > 4) {
            const mve_pred16_t second = vctp32q((uint32_t)rows - (uint32_t)row - 4u);
            float32x4_t b = vldrwq_z_f32(start + row + 4, second);
            __asm__ volatile(
                TILEWRIGHT_MVE_RECURRENT_SUMS(TILEWRIGHT_RECURRENT_EIGHT)
                : [a] "+t"(a), [b] "+t"(b), [x] "+r"(vector), [w] "+r"(w), [t] "=&r"(t)
                : [whole] "r"(whole), [end] "r"(end)
                : "cc", "memory", "q2", "q3");
            vstrwq_p_f32(out + row + 4, b, second);
        } else {
            __asm__ volatile(
                TILEWRIGHT_MVE_RECURRENT_SUMS(TILEWRIGHT_RECURRENT_FOUR)
                : [a] "+t"(a), [x] "+r"(vector), [w] "+r"(w), [t] "=&r"(t)
                : [whole] "r"(whole), [end] "r"(end)
                : "cc", "memory", "q2");
        }
        vstrwq_p_f32(out + row, a, first);
    }
}
