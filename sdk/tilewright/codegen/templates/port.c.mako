${p.c_type} *${m.name}_${word}_${p.index}(${m.instance})
{
% if m.context:
    if (context == NULL) {
        return NULL;
    }
% endif
% if m.arena_bytes:
#ifdef ${m.owner.upper()}_EXTERNAL_ARENA
    if (${m.arena} == NULL) {
        return NULL;
    }
#endif
% endif
    return ${p.pointer};
}
