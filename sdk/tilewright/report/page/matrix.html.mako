<%namespace name="parts" file="parts.mako"/>\
<!doctype html>
<html lang="en">
<head>
${parts.head(page.title, style)}
</head>
<body>
<header class="top"><div><h1>${page.title}</h1><p class="note">${page.note}${': ' if page.note else ''}each cell says what is left over of the level that is fullest. A head sorts, a cell tells more.</p></div></header>
<main>
<div class="sweep">
<div class="card table"><table id="matrix" class="sorts">
<thead><tr><th scope="col" class="text" data-text data-first="ascending"><button type="button">${page.corner}</button></th>
% for name, full in page.columns:
<th scope="col" title="${full}"><button type="button">${name}</button></th>
% endfor
</tr></thead>
% for name, full, cells in page.rows:
<tbody><tr><th scope="row" title="${full}">${name}</th>
% for cell in cells:
<td class="${cell.kind}"${f' data-v="{cell.sort:.6f}"' if cell.sort is not None else ' data-v="-"' | n}>
% if cell.kind != "none":
<button type="button" class="cell" title="${cell.title}"><b>${cell.text or cell.verdict}</b><small>${cell.note}</small><i style="--p:${'%.3f' % cell.used}"></i></button>
<template><h3>${name}</h3><p class="note">${page.columns[loop.index][1]}</p><p class="verdict ${cell.kind}">${cell.verdict}</p>
% if cell.levels:
<table><thead><tr><th scope="col" class="text">level</th><th scope="col">needs, B</th><th scope="col">has, B</th><th scope="col">left, B</th></tr></thead><tbody>
% for line in cell.levels:
<tr title="${line.status}"><th scope="row">${line.name}</th><td class="share" style="--p:${'%.3f' % line.used}">${line.needed}</td><td>${line.size or '–'}</td><td class="${'bad' if line.left.startswith('-') else ''}">${line.left or '–'}</td></tr>
% endfor
</tbody></table>
% endif
% if cell.why:
<p class="note why">${cell.why}</p>
% endif
</template>
% endif
</td>
% endfor
</tr></tbody>
% endfor
</table></div>
<aside id="details" aria-live="polite"><p class="note">Choose a cell.</p></aside>
</div>
</main>
<script>
${script | n}
</script>
</body>
</html>
