/* Codes of four bits, two in a byte of a vector whose lanes are bytes with their sign: sixteen times each. */

TILEWRIGHT_MVE_INTO int32x4_t tilewright_mve_low_codes(int32x4_t bytes)
{
    return vshrq_n_s32(vshlq_n_s32(bytes, 28), 24);
}

TILEWRIGHT_MVE_INTO int32x4_t tilewright_mve_high_codes(int32x4_t bytes)
{
    return vbicq_n_s32(bytes, 15);
}
