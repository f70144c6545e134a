/* Bytes copied, or set to one value, as many at a time as eight registers hold; none need to be named as clobbered, since
 * gcc 12 never uses vector registers by itself. */
static inline void tilewright_rvv_copy(void *to, const void *from, int bytes)
{
    int some;
    __asm__ volatile(".option push\n\t.option arch, +v\n"
                     "1:\n\tvsetvli %[some], %[bytes], e8, m8, ta, ma\n\tvle8.v v8, (%[from])\n\t"
                     "sub %[bytes], %[bytes], %[some]\n\tadd %[from], %[from], %[some]\n\tvse8.v v8, (%[to])\n\t"
                     "add %[to], %[to], %[some]\n\tbnez %[bytes], 1b\n\t.option pop"
                     : [some] "=&r"(some), [bytes] "+&r"(bytes), [from] "+&r"(from), [to] "+&r"(to) : : "memory");
}

#define TILEWRIGHT_RVV_FILL(fill, fill_apart, bits, shift)                                                            \
    static inline void fill(void *to, int value, int count)                                                           \
    {                                                                                                                 \
        int some;                                                                                                     \
        __asm__ volatile(".option push\n\t.option arch, +v\n\t"                                                       \
                         "vsetvli %[some], zero, e" #bits ", m8, ta, ma\n\tvmv.v.x v8, %[value]\n"                    \
                         "1:\n\tvsetvli %[some], %[count], e" #bits ", m8, ta, ma\n\tvse" #bits ".v v8, (%[to])\n\t"  \
                         "sub %[count], %[count], %[some]\n\tslli %[some], %[some], " #shift "\n\t"                   \
                         "add %[to], %[to], %[some]\n\tbnez %[count], 1b\n\t.option pop"                              \
                         : [some] "=&r"(some), [count] "+&r"(count), [to] "+&r"(to) : [value] "r"(value) : "memory"); \
    }                                                                                                                 \
    static inline void fill_apart(void *to, int value, int count, int step)                                           \
    {                                                                                                                 \
        int some;                                                                                                     \
        __asm__ volatile(".option push\n\t.option arch, +v\n\t"                                                       \
                         "vsetvli %[some], zero, e" #bits ", m8, ta, ma\n\tvmv.v.x v8, %[value]\n"                    \
                         "1:\n\tvsetvli %[some], %[count], e" #bits ", m8, ta, ma\n\t"                                \
                         "vsse" #bits ".v v8, (%[to]), %[stride]\n\tsub %[count], %[count], %[some]\n\t"              \
                         "mul %[some], %[some], %[stride]\n\tadd %[to], %[to], %[some]\n\tbnez %[count], 1b\n\t"      \
                         ".option pop"                                                                                \
                         : [some] "=&r"(some), [count] "+&r"(count), [to] "+&r"(to)                                   \
                         : [value] "r"(value), [stride] "r"(step * ((bits) / 8))                                        \
                         : "memory");                                                                                 \
    }
TILEWRIGHT_RVV_FILL(tilewright_rvv_fill8, tilewright_rvv_fill8_apart, 8, 0)
TILEWRIGHT_RVV_FILL(tilewright_rvv_fill16, tilewright_rvv_fill16_apart, 16, 1)
TILEWRIGHT_RVV_FILL(tilewright_rvv_fill32, tilewright_rvv_fill32_apart, 32, 2)
