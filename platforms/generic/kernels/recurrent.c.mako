<%
H, I = k.cell.hidden, k.cell.inputs
gates = {"RNN": 1, "GRU": 3, "LSTM": 4}[k.op]
def clipped(text):
    return text if not k.clip else f"{f.name}_clip({text})"
%>\
% if k.clip:
${f.storage} ${k.real} ${f.name}_clip(${k.real} v)
{
    return v < -${k.clip} ? -${k.clip} : v > ${k.clip} ? ${k.clip} : v;
}

% endif
% for d in k.directions:
% for place, text in enumerate(d.activations):
${f.storage} ${k.real} ${f.name}_act_${d.number}_${place}(${k.real} v)
{
    return ${text};
}

% endfor
% endfor
% if k.packed:
/* Dot products of the rows of W with the input and of R with the state, four at a time; their starts lie before them. */
% for function, depth, into in (("gate", I, "="), ("recur", H, "+=")):
${f.storage} void ${f.name}_${function}(float *out, const float *w, const float *x)
{
    for (int i = 0; i < ${H}; i += 4) {
        float sums[4];
        w = tilewright_float_row(x, w, ${depth}, sums);
        for (int o = 0; o < ${f"4 && i + o < {H}" if H % 4 else 4}; o++) {
            out[i + o] ${into} sums[o];
        }
    }
}

% endfor
% else:
/* Dot products of one row of W with the input and of one row of R with the state, with the biases. */
${f.storage} void ${f.name}_gate(${k.real} *out, const ${k.real} *w, const ${k.real} *x, const ${k.real} *wb)
{
    for (int i = 0; i < ${H}; i++) {
        ${k.real} acc = wb != NULL ? wb[i] : 0;
        for (int j = 0; j < ${I}; j++) {
            acc += w[i * ${I} + j] * x[j];
        }
        out[i] = acc;
    }
}

${f.storage} void ${f.name}_recur(${k.real} *out, const ${k.real} *r, const ${k.real} *h, const ${k.real} *rb)
{
    for (int i = 0; i < ${H}; i++) {
        ${k.real} acc = rb != NULL ? rb[i] : 0;
        for (int j = 0; j < ${H}; j++) {
            acc += r[i * ${H} + j] * h[j];
        }
        out[i] += acc;
    }
}

% endif
${f.storage} void ${f.name}(${f.parameters})
{
    ${k.real} *const h = (${k.real} *)scratch;
% if k.op == "LSTM":
    ${k.real} *const c = h + ${H};
% endif
    ${k.real} *const gate = h + ${2 * H};
% if k.op == "GRU":
    ${k.real} *const extra = gate + ${3 * H};
% endif
% for d in k.directions:
<%
n = d.number
def bias(g):
    return "" if k.packed else f", b + {(2 * gates * n + g) * H}" if k.bias else ", NULL"
def act(place):
    return f"{f.name}_act_{n}_{place}"
def rows(g):
    return f"{f.name}_gate(gate + {g * H}, w + {(n * gates + g) * k.gate_elements[0]}, now{bias(g)});"
def turn(g, out="gate", state="h", first=None):
    return f"{f.name}_recur({out} + {g * H if first is None else first}, r + {(n * gates + g) * k.gate_elements[1]}, {state}{bias(gates + g)});"
def hole(place):
    return f" + p[{(n * 3 + place) * H} + i] * c[i]" if k.peepholes else ""
%>\
    for (int entry = 0; entry < ${k.cell.batch}; entry++) {
% if k.lengths:
        const int64_t asked = (int64_t)sequence_lens[entry];
        const int length = asked < 0 ? 0 : asked > ${k.cell.steps} ? ${k.cell.steps} : (int)asked;
% else:
        const int length = ${k.cell.steps};
% endif
        for (int i = 0; i < ${H}; i++) {
            h[i] = ${f"initial_h[entry * {k.h_entry} + {n * k.h_direction} + i]" if k.start_h else "0"};
% if k.op == "LSTM":
            c[i] = ${f"initial_c[entry * {k.h_entry} + {n * k.h_direction} + i]" if k.start_c else "0"};
% endif
        }
        for (int step = 0; step < length; step++) {
            const int at = ${"length - 1 - step" if d.backwards else "step"};
            const ${k.real} *const now = x + at * ${k.x_step} + entry * ${k.x_entry};
% if k.op == "RNN":
            ${rows(0)}
            ${turn(0)}
            for (int i = 0; i < ${H}; i++) {
                h[i] = ${act(0)}(${clipped("gate[i]")});
            }
% elif k.op == "GRU":
% for g in range(2):
            ${rows(g)}
            ${turn(g)}
% endfor
            for (int i = 0; i < ${H}; i++) {
                gate[i] = ${act(0)}(${clipped("gate[i]")});
                gate[${H} + i] = ${act(0)}(${clipped(f"gate[{H} + i]")});
% if k.reset_first:
                extra[i] = gate[${H} + i] * h[i];
% else:
                extra[i] = 0;
% endif
            }
            ${rows(2)}
% if k.reset_first:
            ${turn(2, "gate", "extra")}
% else:
            ${turn(2, "extra", "h", 0)}
            for (int i = 0; i < ${H}; i++) {
                gate[${2 * H} + i] += gate[${H} + i] * extra[i];
            }
% endif
            for (int i = 0; i < ${H}; i++) {
                const ${k.real} fresh = ${act(1)}(${clipped(f"gate[{2 * H} + i]")});
                h[i] = (1 - gate[i]) * fresh + gate[i] * h[i];
            }
% else:
% for g in range(4):
            ${rows(g)}
            ${turn(g)}
% endfor
            for (int i = 0; i < ${H}; i++) {
                const ${k.real} enter = ${act(0)}(${clipped(f"gate[i]{hole(0)}")});
% if k.coupled:
                const ${k.real} forget = 1 - enter;
% else:
                const ${k.real} forget = ${act(0)}(${clipped(f"gate[{2 * H} + i]{hole(2)}")});
% endif
                c[i] = forget * c[i] + enter * ${act(1)}(${clipped(f"gate[{3 * H} + i]")});
                h[i] = ${act(0)}(${clipped(f"gate[{H} + i]{hole(1)}")}) * ${act(2)}(c[i]);
            }
% endif
% if k.results[0]:
            for (int i = 0; i < ${H}; i++) {
                y[at * ${k.y_step} + ${n * k.y_direction} + entry * ${k.y_entry} + i] = h[i];
            }
% endif
        }
% if k.results[0] and k.lengths:
        for (int step = length; step < ${k.cell.steps}; step++) {
            for (int i = 0; i < ${H}; i++) {
                y[step * ${k.y_step} + ${n * k.y_direction} + entry * ${k.y_entry} + i] = 0;
            }
        }
% endif
        for (int i = 0; i < ${H}; i++) {
% if k.results[1]:
            y_h[entry * ${k.h_entry} + ${n * k.h_direction} + i] = h[i];
% endif
% if k.results[2]:
            y_c[entry * ${k.h_entry} + ${n * k.h_direction} + i] = c[i];
% endif
        }
    }
% endfor
}
