/* Float sums of six pixels, three or one by sixteen channels: vectors of four registers from v8 on, beside weights in v4.
 * gcc 12 never uses vector registers by itself: they keep their values from one statement to the next. It brings
 * tilewright_vector_block6, tilewright_vector_block3 and tilewright_vector_block1. */

/* Something for every pixel of a block and the first register of its sums. */
#define TILEWRIGHT_RVV_FLOAT_ALL1(each, with) each(0, "v8", with)
#define TILEWRIGHT_RVV_FLOAT_ALL3(each, with) TILEWRIGHT_RVV_FLOAT_ALL1(each, with) each(1, "v12", with) each(2, "v16", with)
#define TILEWRIGHT_RVV_FLOAT_ALL6(each, with) \
    TILEWRIGHT_RVV_FLOAT_ALL3(each, with) each(3, "v20", with) each(4, "v24", with) each(5, "v28", with)

#define TILEWRIGHT_RVV_FLOAT_START(p, sums, from) "vle32.v " sums ", (" from ")\n\t"
#define TILEWRIGHT_RVV_FLOAT_LOAD(p, sums, at) "flw %[v" #p "], " at "(%[x" #p "])\n\t"
#define TILEWRIGHT_RVV_FLOAT_ADD(p, sums, weights) "vfmacc.vf " sums ", %[v" #p "], " weights "\n\t"
#define TILEWRIGHT_RVV_FLOAT_MOVE(p, sums, turn) "addi %[x" #p "], %[x" #p "], " turn "\n\t"
#define TILEWRIGHT_RVV_FLOAT_OPERANDS(p, sums, type) , [x##p] "+r"(x##p), [v##p] "=&" type(v##p)
#define TILEWRIGHT_RVV_FLOAT_SOURCE(p, sums, from) \
    const float *x##p = from[p]; \
    float v##p;
/* One input of every pixel with its weights; so many of them a turn, until the first pixel's inputs end. */
#define TILEWRIGHT_RVV_FLOAT_STEP(all, at) \
    "vle32.v v4, (%[w])\n\tadd %[w], %[w], %[step]\n\t" all(TILEWRIGHT_RVV_FLOAT_LOAD, at) all(TILEWRIGHT_RVV_FLOAT_ADD, "v4")
#define TILEWRIGHT_RVV_FLOAT_LOOP(all, steps, turn) \
    __asm__ volatile(".option push\n\t.option arch, +v\n\t1:\n\t" steps all(TILEWRIGHT_RVV_FLOAT_MOVE, turn) \
                     "bne %[x0], %[end], 1b\n\t.option pop" \
                     : [w] "+r"(w) all(TILEWRIGHT_RVV_FLOAT_OPERANDS, "f") \
                     : [end] "r"(end), [step] "r"(step) : "memory");
/* Sums beyond an end of the range become that end; what is no number stays. */
#define TILEWRIGHT_RVV_FLOAT_LIMIT(beyond, sums, limit) \
    __asm__ volatile(".option push\n\t.option arch, +v\n\t" beyond " v0, " sums ", %0\n\t" \
                     "vfmerge.vfm " sums ", " sums ", %0, v0\n\t.option pop" : : "f"(limit));
#define TILEWRIGHT_RVV_FLOAT_RAISE(p, sums, low) TILEWRIGHT_RVV_FLOAT_LIMIT("vmflt.vf", sums, low)
#define TILEWRIGHT_RVV_FLOAT_LOWER(p, sums, high) TILEWRIGHT_RVV_FLOAT_LIMIT("vmfgt.vf", sums, high)
#define TILEWRIGHT_RVV_FLOAT_PUT(p, sums, y) \
    __asm__ volatile(".option push\n\t.option arch, +v\n\tvse32.v " sums ", (%0)\n\t.option pop" \
                     : : "r"(y + p * stride) : "memory");

/* Writes `columns` channels of every pixel, pixels `stride` apart, sixteen at a time. A pixel has `taps` runs of `run`
 * inputs, which start at sources[tap][pixel]; weights lie [block][tap][input][channel], the starts of its channels before
 * each block. `low` and `high` are the ends of the fused activation's range. Returns what follows the weights. */
#define TILEWRIGHT_RVV_FLOAT_BLOCK(pixels, all) \
    TILEWRIGHT_FLOAT const float *tilewright_vector_block##pixels( \
        const float *const *sources, int taps, int run, const float *w, int columns, float low, float high, float *y, int stride) \
    { \
        for (int left = columns; left > 0; left -= 16) { \
            const int width = left < 16 ? left : 16; \
            const int32_t step = 4 * width; \
            __asm__ volatile(".option push\n\t.option arch, +v\n\tvsetvli zero, %[width], e32, m4, ta, ma\n\t" \
                             all(TILEWRIGHT_RVV_FLOAT_START, "%[w]") ".option pop" : : [width] "r"(width), [w] "r"(w) : "memory"); \
            w += width; \
            const float *const *from = sources; \
            for (int tap = 0; tap < taps; tap++) { \
                all(TILEWRIGHT_RVV_FLOAT_SOURCE, from) \
                const float *end = x0 + run / 4 * 4; \
                if (x0 != end) { \
                    TILEWRIGHT_RVV_FLOAT_LOOP(all, TILEWRIGHT_RVV_FLOAT_STEP(all, "0") TILEWRIGHT_RVV_FLOAT_STEP(all, "4") \
                                           TILEWRIGHT_RVV_FLOAT_STEP(all, "8") TILEWRIGHT_RVV_FLOAT_STEP(all, "12"), "16") \
                } \
                end = x0 + run % 4; \
                if (x0 != end) { \
                    TILEWRIGHT_RVV_FLOAT_LOOP(all, TILEWRIGHT_RVV_FLOAT_STEP(all, "0"), "4") \
                } \
                from += pixels; \
            } \
            if (low > -HUGE_VALF) { \
                all(TILEWRIGHT_RVV_FLOAT_RAISE, low) \
            } \
            if (high < HUGE_VALF) { \
                all(TILEWRIGHT_RVV_FLOAT_LOWER, high) \
            } \
            all(TILEWRIGHT_RVV_FLOAT_PUT, y) \
            y += 16; \
        } \
        return w; \
    }
TILEWRIGHT_RVV_FLOAT_BLOCK(6, TILEWRIGHT_RVV_FLOAT_ALL6)
TILEWRIGHT_RVV_FLOAT_BLOCK(3, TILEWRIGHT_RVV_FLOAT_ALL3)
TILEWRIGHT_RVV_FLOAT_BLOCK(1, TILEWRIGHT_RVV_FLOAT_ALL1)
