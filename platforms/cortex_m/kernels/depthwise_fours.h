/* The address as it is, of which the compiler knows nothing more: it keeps one, not one for each row of a window. */
TILEWRIGHT_INTO const void *tilewright_here(const void *at)
{
    __asm__("" : "+r"(at));
    return at;
}

TILEWRIGHT_INTO int32_t tilewright_twice_of(int32_t sum)
{
    return (int32_t)((uint32_t)sum << 1);
}
