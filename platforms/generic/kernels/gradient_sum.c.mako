<% first, second, more, other = k.numbers %>\
static void ${f.name}(${f.parameters})
{
    const int32_t left = a_exponent[0] + ${more}, right = b_exponent[0] + ${other}, most = left > right ? left : right;
    const int32_t a_down = most - left < 31 ? most - left : 31, b_down = most - right < 31 ? most - right : 31;
    uint32_t seen = 0u;
    int32_t bits, half;
    for (int i = 0; i < ${k.elements}; i++) {
        const int32_t sum = tilewright_down(a[i] * ${first}, a_down) + tilewright_down(b[i] * ${second}, b_down);
        const uint32_t size = (uint32_t)(sum < 0 ? -sum : sum);
        seen = size > seen ? size : seen;
    }
    bits = tilewright_length(seen) - 7;
    bits = bits < 0 ? 0 : bits;
    half = (int32_t)(((uint32_t)1 << (uint32_t)bits) >> 1);
    for (int i = 0; i < ${k.elements}; i++) {
        const int32_t sum = tilewright_down(a[i] * ${first}, a_down) + tilewright_down(b[i] * ${second}, b_down);
        codes[i] = (int8_t)tilewright_within(tilewright_down(sum + half, bits), -127, 127);
    }
    exponent[0] = most + bits - 14;
}
