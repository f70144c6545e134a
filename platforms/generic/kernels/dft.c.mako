<% sign = "" if k.inverse else "-" %>\
${f.storage} void ${f.name}(${f.parameters})
{
% for name in k.unread:
    (void)${name};
% endfor
    for (int row = 0; row < ${k.outer * k.inner}; row++) {
        const int outer = row / ${k.inner}, inner = row % ${k.inner};
        for (int bin = 0; bin < ${k.bins}; bin++) {
            double real = 0, imaginary = 0;
            int angle = 0;
            for (int i = 0; i < ${k.taken}; i++) {
                const int at = ((outer * ${k.given} + i) * ${k.inner} + inner) * ${k.parts};
                const double a = (double)x[at];
                const double b = ${"(double)x[at + 1]" if k.parts == 2 else "0"};
                const double c = cosines[angle], s = ${sign}sines[angle];
% if k.mirrored:
                const double factor = i == 0 || 2 * i == ${k.length} ? 1 : 2;
                real += factor * (a * c - (factor == 1 ? 0 : b * s));
% else:
                real += a * c - b * s;
                imaginary += a * s + b * c;
% endif
                angle = (angle + bin) % ${k.length};
            }
            const int to = ((outer * ${k.bins} + bin) * ${k.inner} + inner) * ${k.parts_out};
            y[to] = (${k.c_type})(real${f" / {k.length}" if k.inverse else ""});
% if k.parts_out == 2:
            y[to + 1] = (${k.c_type})(imaginary${f" / {k.length}" if k.inverse else ""});
% else:
            (void)imaginary;
% endif
        }
    }
}
