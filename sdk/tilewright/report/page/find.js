// ---- finding
const search = one("search");
let hits = [], turn = -1;
function find() {
  const wanted = search.value.trim().toLowerCase();
  const found = new Set();
  data.names.forEach((name, layer) => { if (name.toLowerCase().includes(wanted)) found.add(String(layer)); });
  marked.forEach((element) => {
    const own = element.querySelector(":scope > title")?.textContent ?? element.textContent;
    if (wanted && own.toLowerCase().includes(wanted)) found.add(element.dataset.l);
  });
  hits = wanted ? [...found].sort((a, b) => a - b) : [];
  turn = -1;
  one("hits").textContent = wanted ? `${hits.length} of ${data.names.length} layers` : "";
  marked.forEach((element) => element.classList.toggle("dim", Boolean(wanted) && !found.has(element.dataset.l)));
}
search.addEventListener("input", find);
search.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && hits.length) {
    turn = (turn + (event.shiftKey ? hits.length - 1 : 1)) % hits.length;
    pick(hits[turn], "search");
    one("hits").textContent = `${turn + 1} of ${hits.length}: ${data.short[hits[turn]]}`;
  }
});
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && !event.target.matches("input, select")) {
    event.preventDefault();
    search.focus();
  } else if (event.key === "Escape") {
    search.value = "";
    find();
    pick(null, "keys");
  }
});
