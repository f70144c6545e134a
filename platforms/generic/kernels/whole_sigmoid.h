/* 1 / (1 + exp(-x)). */
#if defined(__GNUC__)
__attribute__((unused))
#endif
static inline uint32_t tilewright_whole_sigmoid(uint32_t x)
{
    const tilewright_whole_turn turn = tilewright_whole_turns(x);
    const uint32_t power = tilewright_whole_power(turn.rest);
    const uint32_t share = tilewright_fixed_reciprocal(0x40000000u + tilewright_whole_left(power, turn.whole));
    if (x << 1 > 0xFF000000u) {
        return x; /* no number */
    }
    return x >> 31 != 0u ? tilewright_whole_packed(0, tilewright_whole_upper(power << 1, share << 1) << 1, -31 - (int)turn.whole)
                         : tilewright_whole_packed(0, share, -30);
}
