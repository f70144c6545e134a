${f.storage} void ${f.name}(${f.parameters})
{
    int found = 0;
    for (int at = 0; at < ${k.elements} && found < ${k.bound}; at++) {
        if (${k.value} != 0) {
            int rest = at;
% for digit in k.digits:
            y[${digit.axis * k.bound} + found] = rest % ${digit.size};
            rest /= ${digit.size};
% endfor
            (void)rest;
            found++;
        }
    }
    for (int row = 0; row < ${k.rows}; row++) {
        for (int i = found; i < ${k.bound}; i++) {
            y[row * ${k.bound} + i] = 0;
        }
    }
    count[0] = found;
}
