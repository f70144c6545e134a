/* Four pixels times pairs of output channels, sixteen inputs at a time (Helium). A sum of products takes an even register,
 * so eight sums are all there are; the odd ones hold what is walked over. The stream of a pair is its weights and the
 * numbers of its codes. It brings TILEWRIGHT_MVE_PIXELS, what is passed to it, and tilewright_mve_signed. */

/* Up to sixteen inputs: those of the four pixels stay in q0 to q3. Weights: [channel][16]. */
#define TILEWRIGHT_MVE_ONE_READ(from) \
    "vldrb.8 q0, [%[x0]" from "\n\tvldrb.8 q1, [%[x1]" from "\n\tvldrb.8 q2, [%[x2]" from "\n\t" \
    "vldrb.8 q3, [%[x3]" from "\n\tvldrh.u16 q7, [%[at]]\n\t"
#define TILEWRIGHT_MVE_ONE \
    "vldrw.32 q4, [%[w]], #16\n\tvmladav.s8 r0, q4, q0\n\tvldrw.32 q5, [%[w]], #16\n\tvmladav.s8 r4, q4, q1\n\t" \
    "vmladav.s8 r8, q4, q2\n\tvmladav.s8 r12, q4, q3\n\tvmladav.s8 r2, q5, q0\n\tvmladav.s8 r6, q5, q1\n\t" \
    "vmladav.s8 r10, q5, q2\n\tvmladav.s8 lr, q5, q3\n\t"
#define TILEWRIGHT_MVE_ONE_STORE(q) "vstrb.16 " q ", [%[y], q7]\n\t"

/* Up to thirty-two: those of three pixels stay in q0 to q5. Weights: [channel][2][16], the second channel's parts swapped. */
#define TILEWRIGHT_MVE_TWO_READ(from, then) \
    "vldrb.8 q0, [%[x0]" from "\n\tvldrb.8 q1, [%[x0]" then "\n\tvldrb.8 q2, [%[x1]" from "\n\tvldrb.8 q3, [%[x1]" then "\n\t" \
    "vldrb.8 q4, [%[x2]" from "\n\tvldrb.8 q5, [%[x2]" then "\n\tmov %[x0], %[at]\n\t"
#define TILEWRIGHT_MVE_TWO(from, then) \
    "vldrw.32 q6, [%[w]], #16\n\tvmladav.s8 r0, q6, q0\n\tvldrb.8 q7, [%[x3]" from "\n\tvmladav.s8 r4, q6, q2\n\t" \
    "vmladav.s8 r8, q6, q4\n\tvmladav.s8 r12, q6, q7\n\tvldrw.32 q6, [%[w]], #16\n\tvldrb.8 q7, [%[x3]" then "\n\t" \
    "vmladava.s8 r0, q6, q1\n\tvmladava.s8 r4, q6, q3\n\tvmladava.s8 r8, q6, q5\n\tvmladava.s8 r12, q6, q7\n\t" \
    "vldrw.32 q6, [%[w]], #16\n\tvmladav.s8 r2, q6, q1\n\tvmladav.s8 r6, q6, q3\n\tvmladav.s8 r10, q6, q5\n\t" \
    "vmladav.s8 lr, q6, q7\n\tvldrw.32 q6, [%[w]], #16\n\tvldrb.8 q7, [%[x3]" from "\n\tvmladava.s8 r2, q6, q0\n\t" \
    "vmladava.s8 r6, q6, q2\n\tvmladava.s8 r10, q6, q4\n\tvmladava.s8 lr, q6, q7\n\t"
#define TILEWRIGHT_MVE_TWO_STORE(q) "vldrh.u16 q7, [%[x0]]\n\tvstrb.16 " q ", [%[y], q7]\n\t"

/* Any number, in steps of sixteen that read all four pixels; `a` is empty in the first. Weights: [step][channel][16]. */
#define TILEWRIGHT_MVE_STEPS_READ "vldrh.u16 q7, [%[at]]\n\t"
#define TILEWRIGHT_MVE_STEP(load, from, a) \
    "vldrw.32 q0, [%[w]], #16\n\t" load " q2, [%[x0]" from "\n\tvldrw.32 q1, [%[w]], #16\n\t" \
    "vmladav" a ".s8 r0, q0, q2\n\t" load " q3, [%[x1]" from "\n\tvmladav" a ".s8 r2, q1, q2\n\t" \
    "vmladav" a ".s8 r4, q0, q3\n\t" load " q2, [%[x2]" from "\n\tvmladav" a ".s8 r6, q1, q3\n\t" \
    "vmladav" a ".s8 r8, q0, q2\n\t" load " q3, [%[x3]" from "\n\tvmladav" a ".s8 r10, q1, q2\n\t" \
    "vmladav" a ".s8 r12, q0, q3\n\tvmladav" a ".s8 lr, q1, q3\n\t"
#define TILEWRIGHT_MVE_BACK(bytes) \
    "sub.w %[x0], %[x0], #" bytes "\n\tsub.w %[x1], %[x1], #" bytes "\n\t" \
    "sub.w %[x2], %[x2], #" bytes "\n\tsub.w %[x3], %[x3], #" bytes "\n\t"

/* Sums to codes in the low bytes of the halves of `p`, pixel by pixel. Numbers: two starts, multipliers and addends, the
 * step to the next pair; a last step below zero ends the loop, as it is the only one to carry. */
#define TILEWRIGHT_MVE_SUMS(p, q) \
    "vmov " p "[2], " p "[0], r0, r8\n\tvmov " p "[3], " p "[1], r4, r12\n\t" \
    "vmov " q "[2], " q "[0], r2, r10\n\tvmov " q "[3], " q "[1], r6, lr\n\t"
#define TILEWRIGHT_MVE_WORDS(p, q) \
    "vadd.i32 " p ", " p ", r0\n\tvadd.i32 " q ", " q ", r2\n\tvqdmulh.s32 " p ", " p ", r4\n\t" \
    "vqdmulh.s32 " q ", " q ", r6\n\tvadd.i32 " p ", " p ", r8\n\tvadd.i32 " q ", " q ", r10\n\t"
#define TILEWRIGHT_MVE_SATURATED(p, q, shift) \
    TILEWRIGHT_MVE_SUMS(p, q) "ldm %[w]!, {r0, r2, r4, r6, r8, r10, r12}\n\t" TILEWRIGHT_MVE_WORDS(p, q) \
    "vqrshrnb.s32 " p ", " p ", #" shift "\n\tvqrshrnt.s32 " p ", " q ", #" shift "\n\tvqmovnb.s16 " p ", " p "\n\t"
/* The same with shifts of each channel and limits, which stand before the step. */
#define TILEWRIGHT_MVE_LIMITED(p, q, shift) \
    TILEWRIGHT_MVE_SUMS(p, q) "ldm %[w]!, {r0, r2, r4, r6, r8, r10}\n\t" TILEWRIGHT_MVE_WORDS(p, q) \
    "ldm %[w]!, {r0, r2, r4, r6, r12}\n\tvshl.s32 " p ", r0\n\tvshl.s32 " q ", r2\n\t" \
    "vqmovnb.s32 " p ", " p "\n\tvqmovnt.s32 " p ", " q "\n\tvdup.16 " q ", r4\n\tvmax.s16 " p ", " p ", " q "\n\t" \
    "vdup.16 " q ", r6\n\tvmin.s16 " p ", " p ", " q "\n\t"

/* `at` holds the places of the results of a pair behind `y`: four pixels, both channels. A macro, as the assembly's text
 * differs. */
#define TILEWRIGHT_MVE_PIXELS(name, read, products, codes, store) \
    TILEWRIGHT_MVE_INTO void name(const int8_t *first, const int8_t *second, const int8_t *third, const int8_t *fourth, \
        const uint32_t *stream, int8_t *y, const uint16_t *places) \
    { \
        TILEWRIGHT_WALKS(const uint16_t *, at, "r0") = places; \
        TILEWRIGHT_WALKS(const int8_t *, x0, "r1") = first; \
        TILEWRIGHT_WALKS(const int8_t *, x1, "r3") = second; \
        TILEWRIGHT_WALKS(const int8_t *, x2, "r5") = third; \
        TILEWRIGHT_WALKS(const int8_t *, x3, "r7") = fourth; \
        TILEWRIGHT_WALKS(const uint32_t *, w, "r9") = stream; \
        TILEWRIGHT_WALKS(int8_t *, to, "r11") = y; \
        __asm__ volatile(read "1:\n\t" products codes store "adds %[y], %[y], r12\n\tbcc.w 1b\n\t" \
            : [at] "+r"(at), [x0] "+r"(x0), [x1] "+r"(x1), [x2] "+r"(x2), [x3] "+r"(x3), [w] "+r"(w), [y] "+r"(to) \
            : \
            : "cc", "memory", "r2", "r4", "r6", "r8", "r10", "r12", "lr", "q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7"); \
    }

/* Unsigned codes less 128. */
TILEWRIGHT_MVE_INTO int8x16_t tilewright_mve_signed(int8x16_t codes)
{
    return veorq_s8(codes, vdupq_n_s8(INT8_MIN));
}
