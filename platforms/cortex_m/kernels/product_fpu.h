/* Float products of two operands of the run time: four rows by four columns in registers, two inputs at a time, read where
 * they lie. It brings tilewright_float_lines_by_rows, tilewright_float_lines_by_columns, tilewright_float_lines_outer and
 * tilewright_float_lines_any, and takes a tilewright_float_lines. */

/* Where four rows and columns begin, and the elements from one input to the next. */
typedef struct {
    const float *a[4];
    const float *b[4];
    int32_t a_step;
    int32_t b_step;
    int inputs;
} tilewright_float_lines;

/* Adds the products of the inputs from `first` on to sums[row][column]. */
TILEWRIGHT_FLOAT void tilewright_float_lines_any(const tilewright_float_lines *lines, int first, float *sums)
{
    for (int j = 0; j < 4; j++) {
        for (int o = 0; o < 4; o++) {
            const float *a = lines->a[j] + first * lines->a_step;
            const float *b = lines->b[o] + first * lines->b_step;
            float sum = sums[4 * j + o];
            for (int i = first; i < lines->inputs; i++) {
                sum += *a * *b;
                a += lines->a_step;
                b += lines->b_step;
            }
            sums[4 * j + o] = sum;
        }
    }
}

#define TILEWRIGHT_FLOAT_LEFT \
    "vldmia %[a0]!, {s16, s17}\n\tvldmia %[a1]!, {s18, s19}\n\tvldmia %[a2]!, {s24, s25}\n\tvldmia %[a3]!, {s26, s27}\n\t"
#define TILEWRIGHT_FLOAT_LEFT_ONE \
    "vldmia %[a0]!, {s16}\n\tvldmia %[a1]!, {s18}\n\tvldmia %[a2]!, {s24}\n\tvldmia %[a3]!, {s26}\n\t"
#define TILEWRIGHT_FLOAT_LINE(op, x, a, b, c, d, e, f, g, h) \
    op " s" a ", s" x ", s" e "\n\t" op " s" b ", s" x ", s" f "\n\t" \
    op " s" c ", s" x ", s" g "\n\t" op " s" d ", s" x ", s" h "\n\t"
#define TILEWRIGHT_FLOAT_INPUT(op, j, k, l, m, e, f, g, h) \
    TILEWRIGHT_FLOAT_LINE(op, j, "0", "1", "2", "3", e, f, g, h) TILEWRIGHT_FLOAT_LINE(op, k, "4", "5", "6", "7", e, f, g, h) \
    TILEWRIGHT_FLOAT_LINE(op, l, "8", "9", "10", "11", e, f, g, h) TILEWRIGHT_FLOAT_LINE(op, m, "12", "13", "14", "15", e, f, g, h)

/* The first input makes the sums, one alone or one of two; others add to them. */
#define TILEWRIGHT_FLOAT_RIGHT_ROW "vldmia %[b], {s20-s23}\n\tadd %[b], %[b], %[step]\n\t"
#define TILEWRIGHT_FLOAT_TWO_BY_ROWS(op) \
    TILEWRIGHT_FLOAT_LEFT TILEWRIGHT_FLOAT_RIGHT_ROW \
    TILEWRIGHT_FLOAT_INPUT(op, "16", "18", "24", "26", "20", "21", "22", "23") TILEWRIGHT_FLOAT_RIGHT_ROW \
    TILEWRIGHT_FLOAT_INPUT("vfma.f32", "17", "19", "25", "27", "20", "21", "22", "23")
#define TILEWRIGHT_FLOAT_TWO_BY_COLUMNS(op) \
    TILEWRIGHT_FLOAT_LEFT \
    "vldmia %[b0]!, {s20, s21}\n\tvldmia %[b1]!, {s22, s23}\n\tvldmia %[b2]!, {s28, s29}\n\tvldmia %[b3]!, {s30, s31}\n\t" \
    TILEWRIGHT_FLOAT_INPUT(op, "16", "18", "24", "26", "20", "22", "28", "30") \
    TILEWRIGHT_FLOAT_INPUT("vfma.f32", "17", "19", "25", "27", "21", "23", "29", "31")
#define TILEWRIGHT_FLOAT_ONE_BY_ROWS \
    TILEWRIGHT_FLOAT_LEFT_ONE TILEWRIGHT_FLOAT_RIGHT_ROW \
    TILEWRIGHT_FLOAT_INPUT("vmul.f32", "16", "18", "24", "26", "20", "21", "22", "23")
#define TILEWRIGHT_FLOAT_ONE_BY_COLUMNS \
    TILEWRIGHT_FLOAT_LEFT_ONE \
    "vldmia %[b0]!, {s20}\n\tvldmia %[b1]!, {s22}\n\tvldmia %[b2]!, {s28}\n\tvldmia %[b3]!, {s30}\n\t" \
    TILEWRIGHT_FLOAT_INPUT("vmul.f32", "16", "18", "24", "26", "20", "22", "28", "30")
#define TILEWRIGHT_FLOAT_OUTER \
    "vldmia %[a], {s16-s19}\n\tadd %[a], %[a], %[left]\n\t" TILEWRIGHT_FLOAT_RIGHT_ROW \
    TILEWRIGHT_FLOAT_INPUT("vfma.f32", "16", "17", "18", "19", "20", "21", "22", "23")
#define TILEWRIGHT_FPU_NOTHING(double) "vmov d" double ", %[zero], %[zero]\n\t"
#define TILEWRIGHT_FPU_PAIRS_OF_INPUTS(one, two) \
    "cmp %[odd], #0\n\tbeq 3f\n\t" one "b 2f\n\t3:\n\t" two("vmul.f32") "b 2f\n\t1:\n\t" two("vfma.f32") \
    "2:\n\tcmp %[a0], %[end]\n\tbne 1b\n\tvstmia %[sums], {s0-s15}\n\t"

/* Inputs of a row side by side, and columns side by side; at least one input. */
TILEWRIGHT_FLOAT void tilewright_float_lines_by_rows(const tilewright_float_lines *lines, float *sums)
{
    const float *a0 = lines->a[0], *a1 = lines->a[1], *a2 = lines->a[2], *a3 = lines->a[3], *b = lines->b[0];
    const float *const end = a0 + lines->inputs;
    __asm__ volatile(
        TILEWRIGHT_FPU_PAIRS_OF_INPUTS(TILEWRIGHT_FLOAT_ONE_BY_ROWS, TILEWRIGHT_FLOAT_TWO_BY_ROWS)
        : [a0] "+r"(a0), [a1] "+r"(a1), [a2] "+r"(a2), [a3] "+r"(a3), [b] "+r"(b)
        : [step] "r"(lines->b_step * 4), [end] "r"(end), [sums] "r"(sums), [odd] "r"(lines->inputs & 1)
        : "cc", "memory", TILEWRIGHT_FLOAT_ACCUMULATORS, "s16", "s17", "s18", "s19", "s20", "s21", "s22", "s23",
          "s24", "s25", "s26", "s27");
}

/* Inputs of a row side by side, and those of a column; at least one. */
TILEWRIGHT_FLOAT void tilewright_float_lines_by_columns(const tilewright_float_lines *lines, float *sums)
{
    const float *a0 = lines->a[0], *a1 = lines->a[1], *a2 = lines->a[2], *a3 = lines->a[3];
    const float *b0 = lines->b[0], *b1 = lines->b[1], *b2 = lines->b[2], *b3 = lines->b[3];
    const float *const end = a0 + lines->inputs;
    __asm__ volatile(
        TILEWRIGHT_FPU_PAIRS_OF_INPUTS(TILEWRIGHT_FLOAT_ONE_BY_COLUMNS, TILEWRIGHT_FLOAT_TWO_BY_COLUMNS)
        : [a0] "+r"(a0), [a1] "+r"(a1), [a2] "+r"(a2), [a3] "+r"(a3), [b0] "+r"(b0), [b1] "+r"(b1), [b2] "+r"(b2),
          [b3] "+r"(b3)
        : [end] "r"(end), [sums] "r"(sums), [odd] "r"(lines->inputs & 1)
        : "cc", "memory", TILEWRIGHT_FLOAT_ACCUMULATORS, "s16", "s17", "s18", "s19", "s20", "s21", "s22", "s23",
          "s24", "s25", "s26", "s27", "s28", "s29", "s30", "s31");
}

/* Four rows side by side, and four columns. */
TILEWRIGHT_FLOAT void tilewright_float_lines_outer(const tilewright_float_lines *lines, float *sums)
{
    const float *a = lines->a[0], *b = lines->b[0];
    const float *const end = a + lines->inputs * lines->a_step;
    __asm__ volatile(
        TILEWRIGHT_FPU_NOTHING("0") TILEWRIGHT_FPU_NOTHING("1") TILEWRIGHT_FPU_NOTHING("2")
        TILEWRIGHT_FPU_NOTHING("3") TILEWRIGHT_FPU_NOTHING("4") TILEWRIGHT_FPU_NOTHING("5")
        TILEWRIGHT_FPU_NOTHING("6") TILEWRIGHT_FPU_NOTHING("7")
        "cmp %[odd], #0\n\tbne 2f\n\t1:\n\t" TILEWRIGHT_FLOAT_OUTER "2:\n\t" TILEWRIGHT_FLOAT_OUTER
        "cmp %[a], %[end]\n\tbne 1b\n\tvstmia %[sums], {s0-s15}\n\t"
        : [a] "+r"(a), [b] "+r"(b)
        : [left] "r"(lines->a_step * 4), [step] "r"(lines->b_step * 4), [end] "r"(end), [sums] "r"(sums), [zero] "r"(0),
          [odd] "r"(lines->inputs & 1)
        : "cc", "memory", TILEWRIGHT_FLOAT_ACCUMULATORS, "s16", "s17", "s18", "s19", "s20", "s21", "s22", "s23");
}
