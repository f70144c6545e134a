/* Rows of a recurrent layer's matrices times one vector, eight sums in registers, the last four of a group alone. It
 * brings tilewright_recurrent_rows. */
#define TILEWRIGHT_RECURRENT_EIGHT(x) \
    "vldmia %[w]!, {s16-s23}\n\tvfma.f32 s0, s" #x ", s16\n\tvfma.f32 s1, s" #x ", s17\n\t" \
    "vfma.f32 s2, s" #x ", s18\n\tvfma.f32 s3, s" #x ", s19\n\tvfma.f32 s4, s" #x ", s20\n\t" \
    "vfma.f32 s5, s" #x ", s21\n\tvfma.f32 s6, s" #x ", s22\n\tvfma.f32 s7, s" #x ", s23\n\t"
#define TILEWRIGHT_RECURRENT_SUMS(sums, four, one, a, b, c, d) \
    "vldmia %[start], {" sums "}\n\tcmp %[x], %[whole]\n\tbeq 2f\n\t" \
    "1:\n\tvldmia %[x]!, {" four "}\n\t" a b c d "cmp %[x], %[whole]\n\tbne 1b\n\t" \
    "2:\n\tcmp %[x], %[end]\n\tbeq 3f\n\tvldmia %[x]!, {" one "}\n\t" a "b 2b\n\t3:\n\tvstmia %[out], {" sums "}\n\t"

/* out[row] = start[row] + the row's products; `start` may be `out`. Rows lie [block][input][row], four in the last block
 * where no more are left. */
TILEWRIGHT_FLOAT void tilewright_recurrent_rows(
    float *out, const float *start, const float *w, const float *x, int rows, int inputs)
{
    const float *const whole = x + inputs / 4 * 4, *const end = x + inputs;
    for (int row = 0; row < rows; row += 8) {
        const int left = rows - row;
        const float *vector = x, *from = start + row;
        float rest[8], *to = out + row;
        if (left < 8 && left != 4) {
            for (int i = 0; i < left; i++) {
                TILEWRIGHT_FORGET(i); /* else a call of memcpy */
                rest[i] = from[i];
            }
            from = rest;
            to = rest;
        }
        if (left > 4) {
            __asm__ volatile(
                TILEWRIGHT_RECURRENT_SUMS(
                    "s0-s7", "s8-s11", "s8", TILEWRIGHT_RECURRENT_EIGHT(8), TILEWRIGHT_RECURRENT_EIGHT(9),
                    TILEWRIGHT_RECURRENT_EIGHT(10), TILEWRIGHT_RECURRENT_EIGHT(11))
                : [x] "+r"(vector), [w] "+r"(w)
                : [whole] "r"(whole), [end] "r"(end), [start] "r"(from), [out] "r"(to)
                : "cc", "memory", "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "s16",
                  "s17", "s18", "s19", "s20", "s21", "s22", "s23");
        } else {
            __asm__ volatile(
                TILEWRIGHT_RECURRENT_SUMS(
                    "s0-s3", "s4-s7", "s4", TILEWRIGHT_FLOAT_FOUR_COLUMNS(4), TILEWRIGHT_FLOAT_FOUR_COLUMNS(5),
                    TILEWRIGHT_FLOAT_FOUR_COLUMNS(6), TILEWRIGHT_FLOAT_FOUR_COLUMNS(7))
                : [x] "+r"(vector), [w] "+r"(w)
                : [whole] "r"(whole), [end] "r"(end), [start] "r"(from), [out] "r"(to)
                : "cc", "memory", "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11");
        }
        if (to == rest) {
            for (int i = 0; i < left; i++) {
                TILEWRIGHT_FORGET(i);
                out[row + i] = rest[i];
            }
        }
    }
}
