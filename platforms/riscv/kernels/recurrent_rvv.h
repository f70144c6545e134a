/* Rows of a recurrent layer's matrices times one vector, up to thirty-two sums in v8, weights in v16. It brings
 * tilewright_recurrent_rows. */
#define TILEWRIGHT_RVV_RECURRENT(at) \
    "vle32.v v16, (%[w])\n\tflw %[v], " at "(%[x])\n\tadd %[w], %[w], %[step]\n\tvfmacc.vf v8, %[v], v16\n\t"

/* out[row] = start[row] + the row's products; `start` may be `out`. Rows lie [block][input][row], thirty-two in a block and
 * as many as are left in the last one. */
TILEWRIGHT_FLOAT void tilewright_recurrent_rows(
    float *out, const float *start, const float *w, const float *x, int rows, int inputs)
{
    const float *const whole = x + inputs / 4 * 4, *const end = x + inputs;
    for (int row = 0; row < rows; row += 32) {
        const int width = rows - row < 32 ? rows - row : 32;
        const int32_t step = 4 * width;
        const float *vector = x;
        float v;
        __asm__ volatile(".option push\n\t.option arch, +v\n\tvsetvli zero, %[width], e32, m8, ta, ma\n\tvle32.v v8, (%[start])\n\t"
                         "beq %[x], %[whole], 2f\n\t1:\n\t"
                         TILEWRIGHT_RVV_RECURRENT("0") TILEWRIGHT_RVV_RECURRENT("4") TILEWRIGHT_RVV_RECURRENT("8")
                         TILEWRIGHT_RVV_RECURRENT("12") "addi %[x], %[x], 16\n\tbne %[x], %[whole], 1b\n\t"
                         "2:\n\tbeq %[x], %[end], 3f\n\t" TILEWRIGHT_RVV_RECURRENT("0") "addi %[x], %[x], 4\n\tj 2b\n\t3:\n\t"
                         "vse32.v v8, (%[out])\n\t.option pop"
                         : [x] "+r"(vector), [w] "+r"(w), [v] "=&f"(v)
                         : [width] "r"(width), [step] "r"(step), [start] "r"(start + row), [whole] "r"(whole), [end] "r"(end),
                           [out] "r"(out + row)
                         : "memory");
    }
}
