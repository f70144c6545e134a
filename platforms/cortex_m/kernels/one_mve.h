/* The sum of a run of codes times weights (Helium). It brings tilewright_mve_one_run. */
TILEWRIGHT_MVE_INTO int32_t tilewright_mve_one_run(const int8_t *x, const int8_t *w, int codes, int32_t sum)
{
    __asm__ volatile(
        "dlstp.8 lr, %[codes]\n\t1:\n\tvldrb.8 q0, [%[x]], #16\n\tvldrb.8 q1, [%[w]], #16\n\t"
        "vmladava.s8 %[sum], q0, q1\n\tletp lr, 1b\n\t"
        : [sum] "+Te"(sum), [x] "+r"(x), [w] "+r"(w)
        : [codes] "r"(codes)
        : "memory", "lr", "q0", "q1");
    return sum;
}
