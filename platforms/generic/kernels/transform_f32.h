/* Steps of a fast Fourier transform in place. `z` holds `points` numbers, real and imaginary part after one another, in
 * parts of `length` that are transformed; a step makes parts of two, four or `radix` times that length of them. `turns`
 * holds the numbers of that kind of the powers of a turn divided by `points`. */
__attribute__((unused))
static void tilewright_transform_two(float *z, int points, int length, const float *turns)
{
    const int step = points / (2 * length);
    for (int k = 0; k < length; k++) {
        const float c = turns[2 * k * step], s = turns[2 * k * step + 1];
        for (int first = k; first < points; first += 2 * length) {
            float *const a = z + 2 * first, *const b = a + 2 * length;
            const float re = b[0] * c - b[1] * s, im = b[0] * s + b[1] * c;
            b[0] = a[0] - re;
            b[1] = a[1] - im;
            a[0] += re;
            a[1] += im;
        }
    }
}

__attribute__((unused))
static void tilewright_transform_four(float *z, int points, int length, const float *turns)
{
    const int step = points / (4 * length);
    for (int k = 0; k < length; k++) {
        const float *const w = turns + 2 * k * step, *const v = w + 2 * k * step, *const u = v + 2 * k * step;
        const float wc = w[0], ws = w[1], vc = v[0], vs = v[1], uc = u[0], us = u[1];
        for (int first = k; first < points; first += 4 * length) {
            float *const a = z + 2 * first, *const b = a + 2 * length, *const c = b + 2 * length, *const d = c + 2 * length;
            const float br = b[0] * wc - b[1] * ws, bi = b[0] * ws + b[1] * wc;
            const float cr = c[0] * vc - c[1] * vs, ci = c[0] * vs + c[1] * vc;
            const float dr = d[0] * uc - d[1] * us, di = d[0] * us + d[1] * uc;
            const float er = a[0] + cr, ei = a[1] + ci, fr = a[0] - cr, fi = a[1] - ci;
            const float gr = br + dr, gi = bi + di, hr = br - dr, hi = bi - di;
            a[0] = er + gr;
            a[1] = ei + gi;
            b[0] = fr + hi;
            b[1] = fi - hr;
            c[0] = er - gr;
            c[1] = ei - gi;
            d[0] = fr - hi;
            d[1] = fi + hr;
        }
    }
}

/* As the others, of an odd `radix`; `part` has room for that many numbers. */
__attribute__((unused))
static void tilewright_transform_odd(float *z, int points, int length, int radix, const float *turns, float *part)
{
    const int step = points / (radix * length), turn = points / radix;
    for (int k = 0; k < length; k++) {
        for (int first = k; first < points; first += radix * length) {
            for (int q = 0; q < radix; q++) {
                const float *const w = turns + 2 * q * k * step, *const a = z + 2 * (first + q * length);
                part[2 * q] = a[0] * w[0] - a[1] * w[1];
                part[2 * q + 1] = a[0] * w[1] + a[1] * w[0];
            }
            for (int p = 0; p < radix; p++) {
                float re = part[0], im = part[1];
                int at = 0;
                for (int q = 1; q < radix; q++) {
                    at += p * turn;
                    at -= at >= points ? points : 0;
                    const float c = turns[2 * at], s = turns[2 * at + 1];
                    re += part[2 * q] * c - part[2 * q + 1] * s;
                    im += part[2 * q] * s + part[2 * q + 1] * c;
                }
                z[2 * (first + p * length)] = re;
                z[2 * (first + p * length) + 1] = im;
            }
        }
    }
}

/* The transform of 2 * `points` real numbers from that of `points` numbers made of two each: `z` becomes `points` + 1.
 * `halves` holds the powers of a turn divided by 2 * `points`, up to half of `points`. */
__attribute__((unused))
static void tilewright_transform_real(float *z, int points, const float *halves)
{
    const float re = z[0], im = z[1];
    z[0] = re + im;
    z[1] = 0.0f;
    z[2 * points] = re - im;
    z[2 * points + 1] = 0.0f;
    for (int k = 1; 2 * k <= points; k++) {
        float *const a = z + 2 * k, *const b = z + 2 * (points - k);
        const float c = halves[2 * k], s = halves[2 * k + 1];
        const float er = 0.5f * (a[0] + b[0]), ei = 0.5f * (a[1] - b[1]);
        const float dr = 0.5f * (a[1] + b[1]), di = 0.5f * (b[0] - a[0]);
        const float od = dr * c - di * s, oi = dr * s + di * c;
        a[0] = er + od;
        a[1] = ei + oi;
        b[0] = er - od;
        b[1] = oi - ei;
    }
}
