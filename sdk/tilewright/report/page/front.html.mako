<%namespace name="parts" file="parts.mako"/>\
<!doctype html>
<html lang="en">
<head>
${parts.head(f"{page.title}, quantised", style)}
</head>
<body>
<header class="top"><div><h1>${page.title}</h1><p class="note">${page.note}</p></div></header>
<main>
<section class="cards" aria-label="the front">
% for plot in page.plots:
<article class="card"><h3>signal to noise over ${plot.name}</h3>
<svg viewBox="0 0 400 290" role="img" aria-label="signal to noise over ${plot.name}" font-size="11" fill="currentColor">
% for y, label in plot.up:
<path d="M48 ${y}H380" stroke="var(--line)"/><text x="43" y="${y + 4}" text-anchor="end">${label}</text>
% endfor
% for x, label in plot.across:
<text x="${x}" y="272" text-anchor="middle">${label}</text>
% endfor
% if plot.limit is not None:
<path d="M${plot.limit} 14V254" stroke="var(--bad)" stroke-dasharray="4 3"><title>the budget</title></path>
% endif
% if plot.joined:
<path d="M${' L'.join(f'{dot.x} {dot.y}' for dot in plot.dots)}" fill="none" stroke="var(--edge)"/>
% endif
% for dot in plot.dots:
<circle cx="${dot.x}" cy="${dot.y}" r="${6 if dot.taken else 4}" fill="var(${'--good' if dot.taken else '--accent'})"><title>${dot.title}</title></circle>
% endfor
</svg>
<p class="note">${plot.note}</p></article>
% endfor
</section>
<section aria-labelledby="h-choices"><h2 id="h-choices">Choices</h2>
<div class="card table"><table><thead><tr>
% for head in page.heads:
<th scope="col">${head}</th>
% endfor
<th scope="col" class="text"></th></tr></thead><tbody>
% for taken, cells in page.rows:
<tr>
% for cell in cells:
<td>${cell}</td>
% endfor
<td class="text">${'taken' if taken else ''}</td></tr>
% endfor
</tbody></table></div></section>
<section aria-labelledby="h-accuracy"><h2 id="h-accuracy">On samples that were held out</h2>
<div class="card table"><table><thead><tr>
% for head in page.accuracy[0]:
<th scope="col" class="text">${head}</th>
% endfor
</tr></thead><tbody>
% for row in page.accuracy[1:]:
<tr>
% for cell in row:
<td class="text">${cell}</td>
% endfor
</tr>
% endfor
</tbody></table></div></section>
</main>
</body>
</html>
