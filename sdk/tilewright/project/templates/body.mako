<%def name="state(m)">\
% if m.context:
static ${m.name}_context context; /* one instance of the network; declare as many as you want */
% endif
% if m.caller:
% for p in (*m.inputs, *m.outputs):
static ${p.c_type} ${p.call}[${p.stem}_BYTES / sizeof(${p.c_type}) + 1];
% endfor
% endif
% if m.context or m.caller:

% endif
</%def>\
<%def name="fill(m, margin)">\
% for path in m.blobs:
${margin}/* ${path} belongs to it: give its bytes to ${m.name}_load_weights first. */
% endfor
% for p in m.inputs:
${margin}memset(${p.call}, 0, ${p.stem}_BYTES); /* your data goes here */
% endfor
</%def>\
<%def name="reset(m, margin)">\
% if m.reset:
${margin}(void)${m.reset}; /* a sequence begins; what lives between calls can be saved, see ${m.name}_state */
% endif
</%def>\
<%def name="show(m, margin)">\
% for index, p in enumerate(m.outputs):
${margin}printf("output ${index}:");
${margin}for (i = 0; i < (long)(${p.stem}_BYTES / sizeof(${p.c_type})); i++) {
${margin}    printf(" ${p.format}", (${p.cast})${p.element});
${margin}}
${margin}printf("\n");
% endfor
</%def>\
