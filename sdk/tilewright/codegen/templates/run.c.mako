<%def name="checks()">\
% if m.pointers:
    if (${" || ".join(f"{name} == NULL" for name in m.pointers)}) {
        return ${m.upper}_ERROR_NULL_POINTER;
    }
% endif
% if m.arena_bytes:
#ifdef ${m.owner.upper()}_EXTERNAL_ARENA
    if (${m.arena} == NULL) {
        return ${m.upper}_ERROR_NO_ARENA;
    }
#endif
% endif
% for b in m.blobs:
% if b.blob.mapped:
    if (${b.blob.pointer} == NULL) {
        return ${m.upper}_ERROR_NO_WEIGHTS;
    }
% endif
% endfor
% for name in m.unused_parameters:
    (void)${name};
% endfor
</%def>\
<%def name="steps(calls, pad)">\
% for call in calls:
${pad}/* ${call.index}: ${call.comment} */
${pad}${m.upper}_MARK(${call.index}, 0);
% for statement in call.first:
${pad}${statement};
% endfor
% if call.guard:
${pad}if (${call.guard}) {
% for statement in call.statements:
${pad}    ${statement};
% endfor
${pad}}
% else:
% for statement in call.statements:
${pad}${statement};
% endfor
% endif
${pad}${m.upper}_MARK(${call.index}, 1);
% endfor
</%def>\
<%def name="states(pad)">\
% if m.states and m.states.copies:
${pad}/* The state of the next call. */
${pad}${m.upper}_MARK(${m.states.mark}, 0);
% for statement in m.states.copies:
${pad}${statement};
% endfor
${pad}${m.upper}_MARK(${m.states.mark}, 1);
% endif
</%def>\
% if m.slices:
int ${m.name}_run_some(${m.slice_parameters})
{
${checks()}\
    if (step == NULL) {
        return ${m.upper}_ERROR_NULL_POINTER;
    }
    switch (*step) {
% for part in m.slices:
    case ${loop.index}:
${steps(part.lines, " " * 8)}\
% if loop.last:
${states(" " * 8)}\
        *step = 0;
        return ${m.upper}_OK;
% else:
        *step = ${loop.index + 1};
        return ${m.upper}_MORE;
% endif
% endfor
    default:
        return ${m.upper}_ERROR_STEP;
    }
}

int ${m.name}_run(${m.run_parameters})
{
    int step = 0;
    int status;
    do {
        status = ${m.name}_run_some(${", ".join((*m.run_arguments, "&step"))});
    } while (status == ${m.upper}_MORE);
    return status;
}
% else:
int ${m.name}_run(${m.run_parameters})
{
${checks()}\
${steps(m.calls, " " * 4)}\
${states(" " * 4)}\
    return ${m.upper}_OK;
}
% endif
