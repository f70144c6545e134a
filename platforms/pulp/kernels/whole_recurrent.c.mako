<%
c = k.cell
H, I, G = c.cell.hidden, c.cell.inputs, k.gates
rows = G * H
lstm = c.op == "LSTM"
def form(direction, place):
    return c.forms[direction.activations[place]].text
def line(vector, of, width, source):
    return f"tilewright_whole_vector_of({of}, {source}, {width}, {vector.bits}, {vector.share})"
%>\
/* All of a layer: entries of a batch. */
typedef struct {
    int entries;
} ${f.name}_tile;

/* Every step is shared among the cores: rows of both matrices, then elements of the state. */
static void ${f.name}(${f.parameters})
{
    volatile int32_t *const told = (volatile int32_t *)scratch;
    float *const h = (float *)scratch + 8, *const gate = h + ${2 * H};
% if lstm:
    float *const cell = h + ${H};
% else:
    float *const extra = gate + ${3 * H};
% endif
    int32_t *const numbers = (int32_t *)(void *)(h + ${6 * H}) + core * ${k.numbers};
    const int first = tilewright_share(${rows}, core, cores), last = tilewright_share(${rows}, core + 1, cores);
    const int begin = tilewright_share(${H}, core, cores), end = tilewright_share(${H}, core + 1, cores);
    int32_t turn = 0;
    if (phase == 0) {
        told[core] = 0;
        return;
    }
% for d in c.directions:
<%
n = d.number
w, r = plus("w", n * rows * I), plus("r", n * rows * H)
top_w, top_r = plus("tops", n * rows), plus("tops", (len(c.directions) + n) * rows)
b, br = plus("b", 2 * n * rows), plus("b", (2 * n + 1) * rows)
%>\
    for (int entry = 0; entry < tile->entries; entry++) {
        for (int i = begin; i < end; i++) {
            h[i] = ${f"initial_h[{plus(f'entry * {c.h_entry}', n * c.h_direction)} + i]" if c.start_h else "0.0f"};
% if lstm:
            cell[i] = ${f"initial_c[{plus(f'entry * {c.h_entry}', n * c.h_direction)} + i]" if c.start_c else "0.0f"};
% endif
        }
        tilewright_cores_meet(told, core, cores, ++turn);
        for (int step = 0; step < ${c.cell.steps}; step++) {
            const int at = ${f"{c.cell.steps - 1} - step" if d.backwards else "step"};
            tilewright_whole_vector whole = ${line(c.whole.inputs, "numbers", I, f"x + at * {c.x_step} + entry * {c.x_entry}")};
            tilewright_whole_rows(gate + first, last - first, &whole, ${w} + first * ${I}, ${top_w} + first, ${f"{b} + first" if c.bias else "NULL"});
            whole = ${line(c.whole.hidden, "numbers", H, "h")};
% if lstm:
            tilewright_whole_rows(gate + first, last - first, &whole, ${r} + first * ${H}, ${top_r} + first, gate + first);
% else:
            const int gates = last < ${2 * H} ? last : ${2 * H}, others = first > ${2 * H} ? first : ${2 * H};
            if (first < gates) {
                tilewright_whole_rows(gate + first, gates - first, &whole, ${r} + first * ${H}, ${top_r} + first, gate + first);
            }
            if (others < last) {
                tilewright_whole_rows(extra + (others - ${2 * H}), last - others, &whole, ${r} + others * ${H}, ${top_r} + others, ${f"{br} + others" if c.bias else "NULL"});
            }
% endif
            tilewright_cores_meet(told, core, cores, ++turn);
            for (int i = begin; i < end; i++) {
                float v = gate[i];
                const float one = ${form(d, 0)};
                v = gate[${H} + i];
                const float two = ${form(d, 0)};
% if lstm:
                v = gate[${2 * H} + i];
                const float three = ${form(d, 0)};
                v = gate[${3 * H} + i];
                cell[i] = three * cell[i] + one * ${form(d, 1)};
                v = cell[i];
                h[i] = ${form(d, 2)} * two;
% else:
                v = gate[${2 * H} + i] + two * extra[i];
                v = ${form(d, 1)};
                h[i] = (1.0f - one) * v + one * h[i];
% endif
% if c.results[0]:
                y[${plus(f"at * {c.y_step}", n * c.y_direction)} + entry * ${c.y_entry} + i] = h[i];
% endif
            }
            tilewright_cores_meet(told, core, cores, ++turn);
        }
        for (int i = begin; i < end; i++) {
% if c.results[1]:
            y_h[${plus(f"entry * {c.h_entry}", n * c.h_direction)} + i] = h[i];
% endif
% if c.results[2]:
            y_c[${plus(f"entry * {c.h_entry}", n * c.h_direction)} + i] = cell[i];
% endif
        }
    }
% endfor
}
