/* Pairs are shared among the cores. */
TILEWRIGHT_EACH_ROUNDED static void ${f.name}(${f.parameters})
{
    TILEWRIGHT_EACH_ROUNDED_BODY
    const int end = tilewright_share(tile->rows * ${k.half}, core + 1, cores);
    for (int pair = tilewright_share(tile->rows * ${k.half}, core, cores); pair < end; pair++) {
        const int row = pair / ${k.half}, i = pair % ${k.half};
        const int one = row * ${k.depth} + ${"2 * i" if k.pairs else "i"}, two = one + ${1 if k.pairs else k.half};
        const int angle = row % tile->columns * ${k.half} + i;
        const float c = cos_cache[angle], s = sin_cache[angle], a = x[one], b = x[two];
        y[one] = c * a - s * b;
        y[two] = s * a + c * b;
    }
}
