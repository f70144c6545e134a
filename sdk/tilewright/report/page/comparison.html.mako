<%namespace name="parts" file="parts.mako"/>\
<!doctype html>
<html lang="en">
<head>
${parts.head(f"{page.title}, before and after", style)}
</head>
<body>
<header class="top"><div><h1>${page.title}</h1>
% if page.old_title == page.new_title:
<p class="note">before and after, on ${page.new_title.rpartition(' on ')[2]}</p>
% else:
<p class="note">before: ${page.old_title}; after: ${page.new_title}</p>
% endif
</div>${'<p class="verdict">no difference</p>' if page.same else '' | n}</header>
<main>
<section class="cards" aria-label="summary">
% for figure in page.figures:
<article class="card"><h3>${figure.name}</h3><p class="big">${figure.new}</p><p class="note">before ${figure.old} <b class="${figure.kind}">${figure.change}</b></p>
<div class="pair" aria-hidden="true"><i class="before" style="--p:${'%.3f' % figure.old_part}"></i><i style="--p:${'%.3f' % figure.new_part}"></i></div></article>
% endfor
</section>
% if page.maps:
<section id="memory" aria-labelledby="h-memory">
<div class="line"><h2 id="h-memory">Memory over time</h2><div class="buttons zoomer"><button type="button" data-zoom="2" aria-label="stretch time">+</button><button type="button" data-zoom="0.5" aria-label="compress time">−</button></div></div>
<svg width="0" height="0" aria-hidden="true"><defs><pattern id="hatch" width="7" height="7" patternTransform="rotate(45)" patternUnits="userSpaceOnUse"><rect class="stripe" width="2" height="7"/></pattern></defs></svg>
% for name, old, new in page.maps:
<div class="sides">
% for title, view in (("before", old), ("after", new)):
<article class="card"><h3>${name}, ${title}</h3>
% if view is None:
<p class="note">nothing is placed here</p>
% else:
${parts.level_map(view)}
% endif
</article>
% endfor
</div>
% endfor
</section>
% endif
<section id="layers" aria-labelledby="h-layers">
<div class="line"><h2 id="h-layers">Layers</h2><label class="colour"><input type="checkbox" id="changed"${' checked' if any(line.fate for line in page.layers) and not all(line.fate for line in page.layers) else '' | n}> only what changed</label></div>
<div class="card table"><table class="sorts" id="lines">
<thead><tr><th scope="col" class="text" data-text data-first="ascending"><button type="button">layer</button></th><th scope="col" class="text">operator</th><th scope="col" class="text">kernel</th>
% if page.unit:
<th scope="col"><button type="button">${page.unit} before</button></th><th scope="col"><button type="button">after</button></th><th scope="col"><button type="button">change</button></th>
% endif
<th scope="col" class="text"></th></tr></thead>
% for line in page.layers:
<tbody class="${line.fate or 'same'}"><tr><th scope="row" title="${line.full}">${line.name}</th><td class="text">${line.op}</td><td class="text">${line.kernel}</td>
% if page.unit:
<td>${line.old}</td><td>${line.new}</td><td class="${line.kind}" data-v="${'-' if line.grew is None else '%.0f' % line.grew}">${line.change}</td>
% endif
<td class="text fate">${line.fate}</td></tr></tbody>
% endfor
</table></div>
</section>
% if page.others:
<section aria-labelledby="h-others"><h2 id="h-others">Network and run</h2>
<div class="card table"><table><thead><tr><th scope="col" class="text">figure</th><th scope="col">before</th><th scope="col">after</th></tr></thead><tbody>
% for what, old, new in page.others:
<tr><th scope="row">${what}</th><td>${old}</td><td>${new}</td></tr>
% endfor
</tbody></table></div></section>
% endif
</main>
<script>
${script | n}
</script>
</body>
</html>
