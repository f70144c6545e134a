${f.storage} void ${f.name}(const int element, ${f.parameters})
{
    (void)element;
    const int start = element / ${k.inner} * ${k.length * k.inner} + element % ${k.inner};
    const float *xr = x + start;
    float *yr = y + start;
    float largest = xr[0];
    for (int j = 1; j < ${k.length}; j++) {
        largest = fmaxf(largest, xr[j * ${k.inner}]);
    }
    float total = 0.0f;
    for (int j = 0; j < ${k.length}; j++) {
        const float power = expf(xr[j * ${k.inner}] - largest);
        yr[j * ${k.inner}] = power;
        total += power;
    }
    for (int j = 0; j < ${k.length}; j++) {
        const float value = yr[j * ${k.inner}] / total;
        yr[j * ${k.inner}] = ${k.clamp};
    }
}
