% for number, s in enumerate(k.strips):
/* ${s.comment} */
static void ${f.name}_strip${number}(${"".join(f"{p.declaration}, " for p in s.parameters)}int count)
{
    int some;
% if s.moved_apart:
    int next;
% endif
    __asm__ volatile(".option push\n\t.option arch, +v\n\t"
% for line in s.before:
                     "${line}\n\t"
% endfor
% for line in s.lines:
                     "${line}\n\t"
% endfor
                     ".option pop"
                     : [some] "=&r"(some), ${'[next] "=&r"(next), ' if s.moved_apart else ""}[count] "+&r"(count)${"".join(f', [{p.name}] "+&r"({p.name})' for p in s.parameters if p.moves)}
                     : ${", ".join(f'[{i.name}] "{i.kind}"({i.value})' for i in s.inputs)}
                     : "memory");
}

% endfor
static void ${f.name}(${f.parameters})
{
% for line in k.declarations:
    ${line}
% endfor
% for number, s in enumerate(k.strips):
    /* ${s.comment} */
% for depth, (name, extent) in enumerate(s.loops):
    ${"    " * depth}for (int ${name} = 0; ${name} < ${extent}; ${name}++) {
% endfor
<% indent = "    " * (len(s.loops) + 1) %>\
% if s.guards:
${indent}if (${" && ".join(s.guards)}) {
${indent}    ${f.name}_strip${number}(${"".join(f"{p.argument}, " for p in s.parameters)}${s.length});
% if s.otherwise:
${indent}} else {
${indent}    ${s.otherwise}
% endif
${indent}}
% else:
${indent}${f.name}_strip${number}(${"".join(f"{p.argument}, " for p in s.parameters)}${s.length});
% endif
% for depth in reversed(range(len(s.loops))):
    ${"    " * depth}}
% endfor
% endfor
}
