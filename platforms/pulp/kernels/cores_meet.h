/* Cores wait for each other inside of what they began: each tells its turn, and goes on when all have told theirs. */
static inline void tilewright_cores_meet(volatile int32_t *told, int core, int cores, int32_t turn)
{
#ifdef __riscv
    __asm__ volatile("fence rw, rw" : : : "memory");
#endif
    told[core] = turn;
    for (int other = 0; other < cores; other++) {
        while (told[other] < turn) {
        }
    }
#ifdef __riscv
    __asm__ volatile("fence rw, rw" : : : "memory");
#endif
}
