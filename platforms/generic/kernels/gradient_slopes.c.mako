static void ${f.name}(${f.parameters})
{
    for (int i = 0; i < ${k.elements}; i++) {
        const int32_t product = codes[i] * slopes[x[i]${" + %d" % -k.numbers[0] if k.numbers[0] else ""}];
        sloped[i] = (int8_t)tilewright_within(tilewright_down(product + 8192, 14), -127, 127);
    }
}
