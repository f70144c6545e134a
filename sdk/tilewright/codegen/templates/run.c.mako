int ${m.name}_run(${m.run_parameters})
{
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
% for call in m.calls:
    /* ${call.index}: ${call.comment} */
    ${m.upper}_MARK(${call.index}, 0);
% for statement in call.first:
    ${statement};
% endfor
% if call.guard:
    if (${call.guard}) {
% for statement in call.statements:
        ${statement};
% endfor
    }
% else:
% for statement in call.statements:
    ${statement};
% endfor
% endif
    ${m.upper}_MARK(${call.index}, 1);
% endfor
% if m.states and m.states.copies:
    /* The state of the next call. */
    ${m.upper}_MARK(${m.states.mark}, 0);
% for statement in m.states.copies:
    ${statement};
% endfor
    ${m.upper}_MARK(${m.states.mark}, 1);
% endif
    return ${m.upper}_OK;
}
