<%namespace name="parts" file="/exponential_f32.c.mako"/>\
<%
H, I = k.cell.hidden, k.cell.inputs
gates = {"RNN": 1, "GRU": 3, "LSTM": 4}[k.op]
%>\
% if k.clip:
${f.storage} void ${f.name}_clip(${k.real} *values, int count)
{
    for (int i = 0; i < count; i++) {
        values[i] = values[i] < -${k.clip} ? -${k.clip} : values[i] > ${k.clip} ? ${k.clip} : values[i];
    }
}

% endif
% for number, form in enumerate(k.forms):
% if form.function is None:
${f.storage} void ${f.name}_act_${number}(${k.real} *values, int count)
{
    for (int i = 0; i < count; i++) {
        const ${k.real} v = values[i];
        values[i] = ${form.text};
    }
}
% else:
${k.attribute} TILEWRIGHT_SIDE_BY_SIDE ${f.storage} void ${f.name}_act_${number}(float *values, int count)
{
    TILEWRIGHT_EACH_ALONE
    for (int i = 0; i < count; i++) {
        const float a = values[i];
        const float t = ${form.function.t};
        const float power = ${form.function.power};
        /* exp(-power) = 2^-whole * exp(-rest) */
${parts.exponential(k.exponential, "        ")}\
% if "lost" in form.function.value:
        const float lost = scale * curve + (scale - 1.0f);
% endif
% if "left" in form.function.value:
        const float left = scale * curve + scale;
% endif
        values[i] = ${form.function.value};
    }
}
% endif

% endfor
% if k.packed is None and k.whole is None:
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
% if k.whole:
    static const tilewright_whole_shape now_shape = {1, 1, 1, 1, 1, 1, 0, 0, ${I}, 1, ${I}, ${k.whole.inputs.margin}, 30};
    static const tilewright_whole_shape h_shape = {1, 1, 1, 1, 1, 1, 0, 0, ${H}, 1, ${H}, ${k.whole.hidden.margin}, 30};
    const tilewright_whole_weights of_w = {w, tops, odd_w_at, odd_w}, of_r = {r, tops + ${len(k.directions) * gates * H}, odd_r_at, odd_r};
    tilewright_whole_window now_whole, h_whole;
% endif
% for d in k.directions:
<%
n = d.number
def bias(g):
    return f", {plus('b', (2 * gates * n + g) * H)}" if k.bias else ", NULL"
def act(place, at, count, clips=True):
    """C of an activation over some rows, clipped before."""
    calls = [f"{f.name}_clip({at}, {count});"] if clips and k.clip else []
    return [*calls, f"{f.name}_act_{d.activations[place]}({at}, {count});"]
def packed(out, start, place, vector, count, depth):
    return [f"tilewright_recurrent_rows({out}, {start}, {place}, {vector}, {count * H}, {depth});"]
def whole(out, vector, weights, row, count, start):
    return [f"tilewright_whole_gates({out}, {count * H}, &{vector}_shape, &{vector}_whole, &of_{weights}, {row * H}, {start});"]
def biases(gate):
    return plus("b", (2 * gates * n + gate) * H) if k.bias else "NULL"
def seen(vector, of):
    return [f"{vector}_whole = tilewright_whole_window_at(&{vector}_shape, {of}, 0, 0);"]
def rows(count, first=0):
    """C of W's sums of some gates."""
    if k.packed is not None:
        return packed("gate", plus("b", n * k.packed.starts), plus("w", n * k.packed.w), "now", gates, I) if not first else []
    if k.whole is not None:
        if first:
            return []
        row, count = n * gates, gates
        return seen("now", "now") + whole("gate", "now", "w", row, count, biases(0))
    return [
        f"{f.name}_gate({plus('gate', g * H)}, {plus('w', (n * gates + g) * H * I)}, now{bias(g)});" for g in range(first, first + count)
    ]
def turns(count, first=0, out="gate", state="h"):
    """C of R's sums of some gates, added to what `out` holds."""
    if k.packed is not None:
        start = plus("b", n * k.packed.starts + gates * H) if out == "extra" else out
        return packed(out, start, plus("r", n * k.packed.r + (k.packed.r_last if first else 0)), state, count, H)
    if k.whole is not None:
        row = n * gates + first
        made = seen("h", state) if not first or state != "h" else []
        return made + whole(out, "h", "r", row, count, biases(gates + first) if out == "extra" else out)
    return [
        f"{f.name}_recur({out if not g else f'{out} + {g * H}'}, {plus('r', (n * gates + first + g) * H * H)}, {state}"
        f"{bias(gates + first + g)});"
        for g in range(count)
    ]
def hole(place):
    return f" += p[{(n * 3 + place) * H} + i] * c[i];"
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
% for line in rows(1) + turns(1):
            ${line}
% endfor
            for (int i = 0; i < ${H}; i++) {
                h[i] = gate[i];
            }
% for line in act(0, "h", H):
            ${line}
% endfor
% elif k.op == "GRU":
% for line in rows(2) + turns(2) + act(0, "gate", 2 * H):
            ${line}
% endfor
% if k.reset_first or k.packed is None and k.whole is None:
            for (int i = 0; i < ${H}; i++) {
                extra[i] = ${f"gate[{H} + i] * h[i]" if k.reset_first else "0"};
            }
% endif
% if k.reset_first:
% for line in rows(1, 2) + turns(1, 2, f"gate + {2 * H}", "extra"):
            ${line}
% endfor
% else:
% for line in rows(1, 2) + turns(1, 2, "extra"):
            ${line}
% endfor
            for (int i = 0; i < ${H}; i++) {
                gate[${2 * H} + i] += gate[${H} + i] * extra[i];
            }
% endif
% for line in act(1, f"gate + {2 * H}", H):
            ${line}
% endfor
            for (int i = 0; i < ${H}; i++) {
                h[i] = (1 - gate[i]) * gate[${2 * H} + i] + gate[i] * h[i];
            }
% else:
% for line in rows(4) + turns(4):
            ${line}
% endfor
% if k.peepholes:
            for (int i = 0; i < ${H}; i++) {
                gate[i]${hole(0)}
                gate[${2 * H} + i]${hole(2)}
            }
% for line in act(0, "gate", H) + ([] if k.coupled else act(0, f"gate + {2 * H}", H)):
            ${line}
% endfor
% else:
% for line in act(0, "gate", (2 if k.coupled else 3) * H):
            ${line}
% endfor
% endif
% for line in act(1, f"gate + {3 * H}", H):
            ${line}
% endfor
            for (int i = 0; i < ${H}; i++) {
                c[i] = ${"(1 - gate[i])" if k.coupled else f"gate[{2 * H} + i]"} * c[i] + gate[i] * gate[${3 * H} + i];
                h[i] = c[i];
            }
% if k.peepholes:
            for (int i = 0; i < ${H}; i++) {
                gate[${H} + i]${hole(1)}
            }
% for line in act(0, f"gate + {H}", H):
            ${line}
% endfor
% endif
% for line in act(2, "h", H, clips=False):
            ${line}
% endfor
            for (int i = 0; i < ${H}; i++) {
                h[i] *= gate[${H} + i];
            }
% endif
% if k.results[0]:
            for (int i = 0; i < ${H}; i++) {
                y[${plus(times("at", k.y_step), n * k.y_direction)} + ${times("entry", k.y_entry)} + i] = h[i];
            }
% endif
        }
% if k.results[0] and k.lengths:
        for (int step = length; step < ${k.cell.steps}; step++) {
            for (int i = 0; i < ${H}; i++) {
                y[${plus(times("step", k.y_step), n * k.y_direction)} + ${times("entry", k.y_entry)} + i] = 0;
            }
        }
% endif
        for (int i = 0; i < ${H}; i++) {
% if k.results[1]:
            y_h[${plus(times("entry", k.h_entry), n * k.h_direction)} + i] = h[i];
% endif
% if k.results[2]:
            y_c[${plus(times("entry", k.h_entry), n * k.h_direction)} + i] = c[i];
% endif
        }
    }
% endfor
}
