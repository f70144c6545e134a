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
