<%def name="stored(q, place, y_type, indent)">\
<% high = q.high if q.high_bits is None else None %>\
% if q.high_bits is not None:
${indent}code -= code >> ${q.high_bits}; /* the share of 1 is one code beyond the highest */
% endif
% if q.low is not None or high is not None:
${indent}int32_t limited = (int32_t)code + ${q.zero_point};
% if q.low is not None:
${indent}limited = limited < ${q.low} ? ${q.low} : limited;
% endif
% if high is not None:
${indent}limited = limited > ${high} ? ${high} : limited;
% endif
${indent}${place} = (${y_type})limited;
% else:
${indent}${place} = (${y_type})((int32_t)code + ${q.zero_point});
% endif
</%def>\
