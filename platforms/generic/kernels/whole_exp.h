/* exp(x). */
static inline uint32_t tilewright_whole_exp(uint32_t x)
{
    const tilewright_whole_turn turn = tilewright_whole_turns(x);
    const int whole = (int)turn.whole;
    if (x << 1 > 0xFF000000u) {
        return x; /* no number */
    }
    return x >> 31 != 0u ? tilewright_whole_packed(0, tilewright_whole_power(turn.rest), -30 - whole)
                         : tilewright_whole_packed(0, tilewright_whole_power(0x7FFFFFFFu - turn.rest), whole - 29);
}
