${f.storage} void ${f.name}(${f.parameters})
{
% for name in k.unread:
    (void)${name};
% endfor
    for (int row = 0; row < ${k.batch * k.count}; row++) {
        const int first = row / ${k.count} * ${k.samples} + row % ${k.count} * ${k.step};
        for (int bin = 0; bin < ${k.bins}; bin++) {
            double real = 0, imaginary = 0;
            int angle = 0;
            for (int i = 0; i < ${k.length}; i++) {
                const double w = ${"(double)window[i]" if k.window else "1"};
                const double a = w * (double)signal[(first + i) * ${k.parts}];
                const double b = ${f"w * (double)signal[(first + i) * {k.parts} + 1]" if k.parts == 2 else "0"};
                real += a * cosines[angle] + b * sines[angle];
                imaginary += b * cosines[angle] - a * sines[angle];
                angle = (angle + bin) % ${k.length};
            }
            y[(row * ${k.bins} + bin) * 2] = (${k.c_type})real;
            y[(row * ${k.bins} + bin) * 2 + 1] = (${k.c_type})imaginary;
        }
    }
}
