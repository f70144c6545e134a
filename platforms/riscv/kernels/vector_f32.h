/* Float sums of six pixels, three or one by sixteen channels: vectors of four registers from v8 on, beside weights in v4.
 * gcc 12 never uses vector registers by itself: they keep their values from one statement to the next. It brings
 * tilewright_vector_block6, tilewright_vector_block3 and tilewright_vector_block1. */
#define TILEWRIGHT_VECTOR_STEP6(at) \
    "vle32.v v4, (%[w])\n\tadd %[w], %[w], %[step]\n\t" \
    "flw %[v0], " at "(%[x0])\n\tflw %[v1], " at "(%[x1])\n\tflw %[v2], " at "(%[x2])\n\t" \
    "flw %[v3], " at "(%[x3])\n\tflw %[v4], " at "(%[x4])\n\tflw %[v5], " at "(%[x5])\n\t" \
    "vfmacc.vf v8, %[v0], v4\n\tvfmacc.vf v12, %[v1], v4\n\tvfmacc.vf v16, %[v2], v4\n\t" \
    "vfmacc.vf v20, %[v3], v4\n\tvfmacc.vf v24, %[v4], v4\n\tvfmacc.vf v28, %[v5], v4\n\t"
#define TILEWRIGHT_VECTOR_LOOP6(steps, turn) \
    __asm__ volatile(".option push\n\t.option arch, +v\n\t1:\n\t" steps \
                     "addi %[x0], %[x0], " turn "\n\taddi %[x1], %[x1], " turn "\n\taddi %[x2], %[x2], " turn "\n\t" \
                     "addi %[x3], %[x3], " turn "\n\taddi %[x4], %[x4], " turn "\n\taddi %[x5], %[x5], " turn "\n\t" \
                     "bne %[x0], %[end], 1b\n\t.option pop" \
                     : [x0] "+r"(x0), [x1] "+r"(x1), [x2] "+r"(x2), [x3] "+r"(x3), [x4] "+r"(x4), [x5] "+r"(x5), [w] "+r"(w), \
                       [v0] "=&f"(v0), [v1] "=&f"(v1), [v2] "=&f"(v2), [v3] "=&f"(v3), [v4] "=&f"(v4), [v5] "=&f"(v5) \
                     : [end] "r"(end), [step] "r"(step) : "memory")

#define TILEWRIGHT_VECTOR_STEP3(at) \
    "vle32.v v4, (%[w])\n\tadd %[w], %[w], %[step]\n\t" \
    "flw %[v0], " at "(%[x0])\n\tflw %[v1], " at "(%[x1])\n\tflw %[v2], " at "(%[x2])\n\t" \
    "vfmacc.vf v8, %[v0], v4\n\tvfmacc.vf v12, %[v1], v4\n\tvfmacc.vf v16, %[v2], v4\n\t"
#define TILEWRIGHT_VECTOR_LOOP3(steps, turn) \
    __asm__ volatile(".option push\n\t.option arch, +v\n\t1:\n\t" steps \
                     "addi %[x0], %[x0], " turn "\n\taddi %[x1], %[x1], " turn "\n\taddi %[x2], %[x2], " turn "\n\t" \
                     "bne %[x0], %[end], 1b\n\t.option pop" \
                     : [x0] "+r"(x0), [x1] "+r"(x1), [x2] "+r"(x2), [w] "+r"(w), \
                       [v0] "=&f"(v0), [v1] "=&f"(v1), [v2] "=&f"(v2) \
                     : [end] "r"(end), [step] "r"(step) : "memory")

#define TILEWRIGHT_VECTOR_STEP1(at) \
    "vle32.v v4, (%[w])\n\tadd %[w], %[w], %[step]\n\t" \
    "flw %[v0], " at "(%[x0])\n\t" \
    "vfmacc.vf v8, %[v0], v4\n\t"
#define TILEWRIGHT_VECTOR_LOOP1(steps, turn) \
    __asm__ volatile(".option push\n\t.option arch, +v\n\t1:\n\t" steps \
                     "addi %[x0], %[x0], " turn "\n\t" \
                     "bne %[x0], %[end], 1b\n\t.option pop" \
                     : [x0] "+r"(x0), [w] "+r"(w), \
                       [v0] "=&f"(v0) \
                     : [end] "r"(end), [step] "r"(step) : "memory")

/* Sums beyond an end of the range become that end; what is no number stays. */
#define TILEWRIGHT_VECTOR_LIMIT(beyond, sums, limit) \
    __asm__ volatile(".option push\n\t.option arch, +v\n\t" beyond " v0, " sums ", %0\n\t" \
                     "vfmerge.vfm " sums ", " sums ", %0, v0\n\t.option pop" : : "f"(limit))
#define TILEWRIGHT_VECTOR_PUT(sums, to) \
    __asm__ volatile(".option push\n\t.option arch, +v\n\tvse32.v " sums ", (%0)\n\t.option pop" : : "r"(to) : "memory")

/* Writes `columns` channels of every pixel, pixels `stride` apart, sixteen at a time. A pixel has `taps` runs of `run`
 * inputs, which start at sources[tap][pixel]; weights lie [block][tap][input][channel], the starts of its channels before
 * each block. `low` and `high` are the ends of the fused activation's range. Returns what follows the weights. */
TILEWRIGHT_FLOAT const float *tilewright_vector_block6(const float *const *sources, int taps, int run, const float *w, int columns, float low, float high, float *y, int stride)
{
    for (int left = columns; left > 0; left -= 16) {
        const int width = left < 16 ? left : 16;
        const int32_t step = 4 * width;
        __asm__ volatile(".option push\n\t.option arch, +v\n\tvsetvli zero, %[width], e32, m4, ta, ma\n\t"
                         "vle32.v v8, (%[w])\n\tvmv.v.v v12, v8\n\tvmv.v.v v16, v8\n\tvmv.v.v v20, v8\n\tvmv.v.v v24, v8\n\tvmv.v.v v28, v8\n\t.option pop"
                         : : [width] "r"(width), [w] "r"(w) : "memory");
        w += width;
        const float *const *from = sources;
        for (int tap = 0; tap < taps; tap++) {
            const float *x0 = from[0], *x1 = from[1], *x2 = from[2], *x3 = from[3], *x4 = from[4], *x5 = from[5];
            float v0, v1, v2, v3, v4, v5;
            const float *end = x0 + run / 4 * 4;
            if (x0 != end) {
                TILEWRIGHT_VECTOR_LOOP6(TILEWRIGHT_VECTOR_STEP6("0") TILEWRIGHT_VECTOR_STEP6("4")
                                       TILEWRIGHT_VECTOR_STEP6("8") TILEWRIGHT_VECTOR_STEP6("12"), "16");
            }
            end = x0 + run % 4;
            if (x0 != end) {
                TILEWRIGHT_VECTOR_LOOP6(TILEWRIGHT_VECTOR_STEP6("0"), "4");
            }
            from += 6;
        }
        if (low > -HUGE_VALF) {
            TILEWRIGHT_VECTOR_LIMIT("vmflt.vf", "v8", low);
            TILEWRIGHT_VECTOR_LIMIT("vmflt.vf", "v12", low);
            TILEWRIGHT_VECTOR_LIMIT("vmflt.vf", "v16", low);
            TILEWRIGHT_VECTOR_LIMIT("vmflt.vf", "v20", low);
            TILEWRIGHT_VECTOR_LIMIT("vmflt.vf", "v24", low);
            TILEWRIGHT_VECTOR_LIMIT("vmflt.vf", "v28", low);
        }
        if (high < HUGE_VALF) {
            TILEWRIGHT_VECTOR_LIMIT("vmfgt.vf", "v8", high);
            TILEWRIGHT_VECTOR_LIMIT("vmfgt.vf", "v12", high);
            TILEWRIGHT_VECTOR_LIMIT("vmfgt.vf", "v16", high);
            TILEWRIGHT_VECTOR_LIMIT("vmfgt.vf", "v20", high);
            TILEWRIGHT_VECTOR_LIMIT("vmfgt.vf", "v24", high);
            TILEWRIGHT_VECTOR_LIMIT("vmfgt.vf", "v28", high);
        }
        TILEWRIGHT_VECTOR_PUT("v8", y);
        TILEWRIGHT_VECTOR_PUT("v12", y + stride);
        TILEWRIGHT_VECTOR_PUT("v16", y + 2 * stride);
        TILEWRIGHT_VECTOR_PUT("v20", y + 3 * stride);
        TILEWRIGHT_VECTOR_PUT("v24", y + 4 * stride);
        TILEWRIGHT_VECTOR_PUT("v28", y + 5 * stride);
        y += 16;
    }
    return w;
}

/* The same for three pixels. */
TILEWRIGHT_FLOAT const float *tilewright_vector_block3(const float *const *sources, int taps, int run, const float *w, int columns, float low, float high, float *y, int stride)
{
    for (int left = columns; left > 0; left -= 16) {
        const int width = left < 16 ? left : 16;
        const int32_t step = 4 * width;
        __asm__ volatile(".option push\n\t.option arch, +v\n\tvsetvli zero, %[width], e32, m4, ta, ma\n\t"
                         "vle32.v v8, (%[w])\n\tvmv.v.v v12, v8\n\tvmv.v.v v16, v8\n\t.option pop"
                         : : [width] "r"(width), [w] "r"(w) : "memory");
        w += width;
        const float *const *from = sources;
        for (int tap = 0; tap < taps; tap++) {
            const float *x0 = from[0], *x1 = from[1], *x2 = from[2];
            float v0, v1, v2;
            const float *end = x0 + run / 4 * 4;
            if (x0 != end) {
                TILEWRIGHT_VECTOR_LOOP3(TILEWRIGHT_VECTOR_STEP3("0") TILEWRIGHT_VECTOR_STEP3("4")
                                       TILEWRIGHT_VECTOR_STEP3("8") TILEWRIGHT_VECTOR_STEP3("12"), "16");
            }
            end = x0 + run % 4;
            if (x0 != end) {
                TILEWRIGHT_VECTOR_LOOP3(TILEWRIGHT_VECTOR_STEP3("0"), "4");
            }
            from += 3;
        }
        if (low > -HUGE_VALF) {
            TILEWRIGHT_VECTOR_LIMIT("vmflt.vf", "v8", low);
            TILEWRIGHT_VECTOR_LIMIT("vmflt.vf", "v12", low);
            TILEWRIGHT_VECTOR_LIMIT("vmflt.vf", "v16", low);
        }
        if (high < HUGE_VALF) {
            TILEWRIGHT_VECTOR_LIMIT("vmfgt.vf", "v8", high);
            TILEWRIGHT_VECTOR_LIMIT("vmfgt.vf", "v12", high);
            TILEWRIGHT_VECTOR_LIMIT("vmfgt.vf", "v16", high);
        }
        TILEWRIGHT_VECTOR_PUT("v8", y);
        TILEWRIGHT_VECTOR_PUT("v12", y + stride);
        TILEWRIGHT_VECTOR_PUT("v16", y + 2 * stride);
        y += 16;
    }
    return w;
}

/* The same for one. */
TILEWRIGHT_FLOAT const float *tilewright_vector_block1(const float *const *sources, int taps, int run, const float *w, int columns, float low, float high, float *y, int stride)
{
    for (int left = columns; left > 0; left -= 16) {
        const int width = left < 16 ? left : 16;
        const int32_t step = 4 * width;
        __asm__ volatile(".option push\n\t.option arch, +v\n\tvsetvli zero, %[width], e32, m4, ta, ma\n\t"
                         "vle32.v v8, (%[w])\n\t.option pop"
                         : : [width] "r"(width), [w] "r"(w) : "memory");
        w += width;
        const float *const *from = sources;
        for (int tap = 0; tap < taps; tap++) {
            const float *x0 = from[0];
            float v0;
            const float *end = x0 + run / 4 * 4;
            if (x0 != end) {
                TILEWRIGHT_VECTOR_LOOP1(TILEWRIGHT_VECTOR_STEP1("0") TILEWRIGHT_VECTOR_STEP1("4")
                                       TILEWRIGHT_VECTOR_STEP1("8") TILEWRIGHT_VECTOR_STEP1("12"), "16");
            }
            end = x0 + run % 4;
            if (x0 != end) {
                TILEWRIGHT_VECTOR_LOOP1(TILEWRIGHT_VECTOR_STEP1("0"), "4");
            }
            from += 1;
        }
        if (low > -HUGE_VALF) {
            TILEWRIGHT_VECTOR_LIMIT("vmflt.vf", "v8", low);
        }
        if (high < HUGE_VALF) {
            TILEWRIGHT_VECTOR_LIMIT("vmfgt.vf", "v8", high);
        }
        TILEWRIGHT_VECTOR_PUT("v8", y);
        y += 16;
    }
    return w;
}
