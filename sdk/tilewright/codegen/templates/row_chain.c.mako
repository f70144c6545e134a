<%def name="run(part, pad)">\
% if part.number == 1:
% if k.edge:
${edge(part, k.edge, pad)}\
% endif
% elif before(part).window.alike:
${run(before(part), pad)}\
% else:
${bring(part, before(part), before(part).window, pad)}\
% endif
${pad}${f.members[part.number - 1]}(${part.arguments});
% if part.window:
${pad}tilewright_tap(${part.number}, ${part.at}, ${part.result}, ${part.rows * part.window.row_bytes});
% endif
</%def>\
<%def name="edge(part, e, pad)">\
${pad}const int top0 = ${first(part)};
${pad}const ${e.c_type} *from = edge;
% if e.above and e.below:
${pad}if (top0 >= 0 && top0 <= ${e.height - part.reads}) {
% elif e.above:
${pad}if (top0 >= 0) {
% else:
${pad}if (top0 <= ${e.height - part.reads}) {
% endif
${pad}    from = x0 + top0 * ${e.row};
${pad}} else {
% if e.above and e.below:
${pad}    const int above = top0 < 0 ? -top0 : 0;
${pad}    const int below = top0 > ${e.height - part.reads} ? top0 - ${e.height - part.reads} : 0;
% elif e.above:
${pad}    const int above = -top0;
${pad}    const int below = 0;
% else:
${pad}    const int above = 0;
${pad}    const int below = top0 - ${e.height - part.reads};
% endif
${pad}    (void)memset(edge, ${e.fill}, (size_t)above * ${e.row_bytes}u);
${pad}    ${e.move}(edge + above * ${e.row}, x0 + (top0 + above) * ${e.row}, (${part.reads} - above - below) * ${e.row_bytes});
${pad}    (void)memset(edge + (${part.reads} - below) * ${e.row}, ${e.fill}, (size_t)below * ${e.row_bytes}u);
${pad}}
</%def>\
<%def name="bring(part, made, w, pad)">\
<% n = made.number %>\
${pad}const int top${n} = ${first(part)};
% if w.slides:
${pad}if (top${n} > first${n}) {
${pad}    for (int kept = top${n}; kept < made${n}; kept++) {
${pad}        ${w.move}(rows${n} + (kept - top${n}) * ${w.row}, rows${n} + (kept - first${n}) * ${w.row}, ${w.row_bytes});
${pad}    }
${pad}    first${n} = top${n};
${pad}}
% else:
${pad}first${n} = top${n};
% endif
${pad}while (made${n} < ${made.height} && made${n} < top${n} + ${part.reads}) {
% if made.even:
${pad}    const int at${n} = made${n};
% else:
${pad}    const int at${n} = made${n} < ${made.height - made.rows} ? made${n} : ${made.height - made.rows};
% endif
${run(made, pad + "    ")}\
${pad}    made${n} = at${n} + ${made.rows};
${pad}}
% if w.below:
${pad}if (top${n} > ${made.height - part.reads}) {
${pad}    (void)memset(rows${n} + (${made.height} - top${n}) * ${w.row}, ${w.fill}, ((size_t)top${n} - ${made.height - part.reads}u) * ${w.row_bytes}u);
${pad}}
% endif
</%def>\
<%
last = k.parts[-1]

def before(part):
    return k.parts[part.number - 2]

def first(part):
    product = part.at if part.stride == 1 else f"{part.at} * {part.stride}"
    return f"{product} - {part.before}" if part.before else product
%>\
/* Band by band of rows:
% for part in k.parts:
% if part.window:
 *   ${part.comment}, ${part.window.held} of ${part.height} rows kept;
% else:
 *   ${part.comment}, ${part.rows} of ${part.height} rows at a time. */
% endif
% endfor
static void ${f.name}(${f.parameters})
{
    unsigned char *const bytes = scratch;
% for part in k.parts:
% if part.window:
<% w, n = part.window, part.number %>\
    ${w.c_type} *const rows${n} = (${w.c_type} *)(void *)(${plus("bytes", w.offset)});
% if not w.alike:
    int first${n} = ${-w.above};
    int made${n} = 0;
% endif
% endif
% endfor
% if k.edge:
    ${k.edge.c_type} *const edge = (${k.edge.c_type} *)(void *)(${plus("bytes", k.edge.offset)});
% endif
% for part in k.parts:
% if part.window and part.window.above:
    (void)memset(rows${part.number}, ${part.window.fill}, ${part.window.above * part.window.row_bytes});
% endif
% endfor
% if last.even:
    for (int ${last.at} = 0; ${last.at} < ${last.height}; ${last.at} += ${last.rows}) {
% else:
    for (int row = 0; row < ${last.height}; row += ${last.rows}) {
        const int ${last.at} = row < ${last.height - last.rows} ? row : ${last.height - last.rows};
% endif
${run(last, "        ")}\
    }
}
