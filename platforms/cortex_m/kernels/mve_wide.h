/* Sums of eight products of 16 bits at a time (Helium): four pixels by two channels, or one by eight. Inputs are widened or
 * copied to halves first; weights are bytes or halves. The first step reads eight inputs of which only as many count as make
 * the others whole steps. It brings tilewright_mve_halves_i8, tilewright_mve_halves_u8, tilewright_mve_halves_i16,
 * tilewright_mve_halves_u16, TILEWRIGHT_MVE_WIDE_SUMS and TILEWRIGHT_MVE_WIDE_ROW, and what is passed to these:
 * TILEWRIGHT_MVE_WIDE_BYTES and TILEWRIGHT_MVE_WIDE_HALVES. */

/* Copies `count` inputs as halves. */
#define TILEWRIGHT_MVE_HALVES(name, type, load) \
    TILEWRIGHT_MVE void name(const type *from, int16_t *to, int count) \
    { \
        for (int i = 0; i < count; i += 8) { \
            const mve_pred16_t left = vctp16q((uint32_t)(count - i)); \
            vstrhq_p_s16(to + i, load, left); \
        } \
    }
TILEWRIGHT_MVE_HALVES(tilewright_mve_halves_i8, int8_t, vldrbq_z_s16(from + i, left))
TILEWRIGHT_MVE_HALVES(tilewright_mve_halves_u8, uint8_t, vreinterpretq_s16_u16(vldrbq_z_u16(from + i, left)))
TILEWRIGHT_MVE_HALVES(tilewright_mve_halves_i16, int16_t, vldrhq_z_s16(from + i, left))
TILEWRIGHT_MVE_HALVES(tilewright_mve_halves_u16, uint16_t, \
    vreinterpretq_s16_u16(veorq_u16(vldrhq_z_u16(from + i, left), vdupq_n_u16(0x8000u))))

#define TILEWRIGHT_MVE_WIDE_BYTES(q) "vldrb.s16 " q ", [%[w]], #8\n\t"
#define TILEWRIGHT_MVE_WIDE_HALVES(q) "vldrh.u16 " q ", [%[w]], #16\n\t"

#define TILEWRIGHT_MVE_WIDE_STEP(weights, onward) \
    weights("q0") "vldrh.u16 q2, [%[x0]], #" onward "\n\t" weights("q1") \
    "vmladava.s16 r0, q0, q2\n\tvldrh.u16 q3, [%[x1]], #" onward "\n\tvmladava.s16 r2, q1, q2\n\t" \
    "vmladava.s16 r4, q0, q3\n\tvldrh.u16 q2, [%[x2]], #" onward "\n\tvmladava.s16 r6, q1, q3\n\t" \
    "vmladava.s16 r8, q0, q2\n\tvldrh.u16 q3, [%[x3]], #" onward "\n\tvmladava.s16 r10, q1, q2\n\t" \
    "vmladava.s16 r12, q0, q3\n\tvmladava.s16 lr, q1, q3\n\t"

/* `sums` are those of both channels pixel by pixel; of the first step `first` bytes count. The stream is two starts and the
 * weights, [step][channel][8]. A macro, as the assembly's text differs. */
#define TILEWRIGHT_MVE_WIDE_SUMS(name, weights, first) \
    TILEWRIGHT_MVE void name(const int16_t *const *pixels, const int16_t *last, const uint32_t *stream, int32_t *sums) \
    { \
        TILEWRIGHT_WALKS(const int16_t *, x0, "r1") = pixels[0]; \
        TILEWRIGHT_WALKS(const int16_t *, x1, "r3") = pixels[1]; \
        TILEWRIGHT_WALKS(const int16_t *, x2, "r5") = pixels[2]; \
        TILEWRIGHT_WALKS(const int16_t *, x3, "r9") = pixels[3]; \
        TILEWRIGHT_WALKS(const uint32_t *, w, "r7") = stream; \
        TILEWRIGHT_WALKS(const int16_t *, end, "r11") = last; \
        int32_t *to = sums; \
        __asm__ volatile( \
            "ldrd r0, r2, [%[w]], #8\n\tmov r4, r0\n\tmov r8, r0\n\tmov r12, r0\n\tmov r6, r2\n\tmov r10, r2\n\tmov lr, r2\n\t" \
            TILEWRIGHT_MVE_WIDE_STEP(weights, first) "cmp %[x0], %[end]\n\tbeq 2f\n\t" \
            "1:\n\t" TILEWRIGHT_MVE_WIDE_STEP(weights, "16") "cmp %[x0], %[end]\n\tbne 1b\n\t2:\n\t" \
            "ldr %[x0], %[to]\n\tstm %[x0], {r0, r2, r4, r6, r8, r10, r12, lr}\n\t" \
            : [x0] "+r"(x0), [x1] "+r"(x1), [x2] "+r"(x2), [x3] "+r"(x3), [w] "+r"(w) \
            : [end] "r"(end), [to] "m"(to) \
            : "cc", "memory", "r0", "r2", "r4", "r6", "r8", "r10", "r12", "lr", "q0", "q1", "q2", "q3"); \
    }

#define TILEWRIGHT_MVE_WIDE_CHANNEL(weights, q, sum) weights(q) "vmladava.s16 " sum ", " q ", q0\n\t"

#define TILEWRIGHT_MVE_WIDE_EIGHT(weights, onward) \
    "vldrh.u16 q0, [%[x]], #" onward "\n\t" \
    TILEWRIGHT_MVE_WIDE_CHANNEL(weights, "q1", "r0") TILEWRIGHT_MVE_WIDE_CHANNEL(weights, "q2", "r2") \
    TILEWRIGHT_MVE_WIDE_CHANNEL(weights, "q1", "r4") TILEWRIGHT_MVE_WIDE_CHANNEL(weights, "q2", "r6") \
    TILEWRIGHT_MVE_WIDE_CHANNEL(weights, "q1", "r8") TILEWRIGHT_MVE_WIDE_CHANNEL(weights, "q2", "r10") \
    TILEWRIGHT_MVE_WIDE_CHANNEL(weights, "q1", "r12") TILEWRIGHT_MVE_WIDE_CHANNEL(weights, "q2", "lr")

/* One pixel by eight channels: eight starts and the weights, [step][channel][8]. */
#define TILEWRIGHT_MVE_WIDE_ROW(name, weights, first) \
    TILEWRIGHT_MVE void name(const int16_t *pixel, const int16_t *last, const uint32_t *stream, int32_t *sums) \
    { \
        TILEWRIGHT_WALKS(const int16_t *, x, "r1") = pixel; \
        TILEWRIGHT_WALKS(const uint32_t *, w, "r3") = stream; \
        TILEWRIGHT_WALKS(const int16_t *, end, "r5") = last; \
        TILEWRIGHT_WALKS(int32_t *, to, "r7") = sums; \
        __asm__ volatile( \
            "ldm %[w]!, {r0, r2, r4, r6, r8, r10, r12, lr}\n\t" \
            TILEWRIGHT_MVE_WIDE_EIGHT(weights, first) "cmp %[x], %[end]\n\tbeq 2f\n\t" \
            "1:\n\t" TILEWRIGHT_MVE_WIDE_EIGHT(weights, "16") "cmp %[x], %[end]\n\tbne 1b\n\t2:\n\t" \
            "stm %[to], {r0, r2, r4, r6, r8, r10, r12, lr}\n\t" \
            : [x] "+r"(x), [w] "+r"(w) \
            : [end] "r"(end), [to] "r"(to) \
            : "cc", "memory", "r0", "r2", "r4", "r6", "r8", "r10", "r12", "lr", "q0", "q1", "q2"); \
    }
