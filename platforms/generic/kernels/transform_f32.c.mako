<%
s = k.source
first = f"row / {s.per_batch} * {s.samples * s.parts} + row % {s.per_batch} * {s.step * s.parts}" if s.per_batch > 1 else f"row * {s.samples * s.parts}"
real, imaginary = k.loads
%>\
/* ${s.rows} transforms of ${k.length} points. */
${f.storage} void ${f.name}(${f.parameters})
{
% for name in k.unread:
    (void)${name};
% endfor
    for (int row = 0; row < ${s.rows}; row++) {
        const float *const from = ${s.name} + (${first});
        float *const to = y + row * ${k.parts * k.bins};
        float *const z = ${"(float *)scratch" if k.room else "to"};
        for (int i = 0; i < ${k.points}; i++) {
% if k.pairs:
            const int at = 2 * order[i];
            z[2 * i] = ${k.weighed("at")};
            z[2 * i + 1] = ${k.weighed("at + 1")};
% else:
% if k.mirrored:
            const float sign = 2 * order[i] > ${k.length} ? -1.0f : 1.0f;
            const int at = 2 * order[i] > ${k.length} ? ${k.length} - order[i] : order[i];
% else:
            const int at = order[i];
% endif
% if k.given < (k.length // 2 + 1 if k.mirrored else k.length):
            z[2 * i] = at < ${k.given} ? ${real} : 0.0f;
            z[2 * i + 1] = at < ${k.given} ? ${imaginary} : 0.0f;
% else:
            z[2 * i] = ${real};
            z[2 * i + 1] = ${imaginary};
% endif
% endif
        }
% for step in k.steps:
% if step.radix == 2:
        tilewright_transform_two(z, ${k.points}, ${step.length}, turns);
% elif step.radix == 4:
        tilewright_transform_four(z, ${k.points}, ${step.length}, turns);
% else:
        tilewright_transform_odd(z, ${k.points}, ${step.length}, ${step.radix}, turns, (float *)scratch + ${k.beside});
% endif
% endfor
% if k.pairs:
        tilewright_transform_real(z, ${k.points}, halves);
% endif
% if k.room or k.inverse:
        for (int i = 0; i < ${k.bins}; i++) {
% if k.parts == 2:
            const float re = z[2 * i], im = z[2 * i + 1];
            to[2 * i] = ${k.results[0]};
            to[2 * i + 1] = ${k.results[1]};
% else:
            to[i] = ${k.results[0].replace("im", "z[2 * i + 1]")};
% endif
        }
% endif
% if k.pairs and k.bins > k.points + 1:
        for (int i = ${k.points + 1}; i < ${k.bins}; i++) {
            to[2 * i] = to[2 * (${k.length} - i)];
            to[2 * i + 1] = -to[2 * (${k.length} - i) + 1];
        }
% endif
    }
}
