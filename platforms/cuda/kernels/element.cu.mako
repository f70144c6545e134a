${f.storage} void ${f.name}(const int element, ${f.parameters})
{
    (void)element;
% for line in k.declarations:
    ${line}
% endfor
% for number, part in enumerate(k.parts):
    /* ${part.comment} */
% if len(k.parts) > 1:
    ${"} else " if number else ""}if (element < ${part.first + part.elements}) {
% endif
% for line in (*part.places, *part.lines):
    ${"    " if len(k.parts) > 1 else ""}${line}
% endfor
% endfor
% if len(k.parts) > 1:
    }
% endif
}
