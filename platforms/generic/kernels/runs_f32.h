/* Runs of floats, word by word: small libraries set and copy memory byte by byte. */
TILEWRIGHT_FLOAT void tilewright_zeros(float *to, int count) /* a multiple of four */
{
    for (; count; count -= 4, to += 4) {
        TILEWRIGHT_FORGET(to);
        to[0] = 0.0f, to[1] = 0.0f, to[2] = 0.0f, to[3] = 0.0f;
    }
}

/* Copies from the front, so `to` may be a part of what lies before `from`. */
TILEWRIGHT_FLOAT void tilewright_copied(float *to, const float *from, int count)
{
    for (; count > 3; count -= 4, to += 4, from += 4) {
        TILEWRIGHT_FORGET(to);
        const float v0 = from[0], v1 = from[1], v2 = from[2], v3 = from[3];
        to[0] = v0, to[1] = v1, to[2] = v2, to[3] = v3;
    }
    for (; count; count--) {
        TILEWRIGHT_FORGET(to);
        *to++ = *from++;
    }
}
