// ---- tables: sorting by what a column shows, groups of rows staying together
const number = (text) => (text === "best" ? 1 : parseFloat(text.replaceAll(",", "").replace("<", "").replace("−", "-")));
all("table.sorts thead button").forEach((button) => button.addEventListener("click", () => {
  const head = button.closest("th"), column = [...head.parentNode.children].indexOf(head), table = head.closest("table");
  const before = head.getAttribute("aria-sort"), first = head.dataset.first ?? "descending";
  const turned = first === "descending" ? "ascending" : "descending";
  const order = before === first ? turned : first;
  all("th[aria-sort]", table).forEach((other) => other.removeAttribute("aria-sort"));
  head.setAttribute("aria-sort", order);
  const sign = order === "descending" ? -1 : 1;
  const key = (body) => {
    const cell = body.rows[0].cells[column], text = cell.dataset.v ?? cell.textContent.trim();
    return { text, value: head.dataset.text === undefined ? number(text) : NaN };
  };
  const against = (a, b) => {
    if (Number.isNaN(a.value) && Number.isNaN(b.value)) return sign * a.text.localeCompare(b.text, "en", { numeric: true });
    return Number.isNaN(a.value) ? 1 : Number.isNaN(b.value) ? -1 : sign * (a.value - b.value);
  };
  const bodies = [...table.tBodies].map((body) => ({ body, key: key(body) }));
  bodies.sort((a, b) => against(a.key, b.key)).forEach(({ body }) => table.append(body));
}));
// The layers of the table are one stop of the Tab key: arrow keys walk from name to name.
all("#costs tbody .link").forEach((name, at) => name.setAttribute("tabindex", at ? -1 : 0));
document.getElementById("costs")?.addEventListener("keydown", (event) => {
  const names = all("#costs tbody .link"), at = names.indexOf(event.target);
  const step = { ArrowDown: 1, ArrowUp: -1, Home: -1e9, End: 1e9 }[event.key];
  if (at < 0 || !step) return;
  event.preventDefault();
  const next = names[Math.min(Math.max(at + step, 0), names.length - 1)];
  names.forEach((name) => name.setAttribute("tabindex", name === next ? 0 : -1));
  next.focus();
});
