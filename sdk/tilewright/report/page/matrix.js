// ---- the matrix: a cell tells more in the panel beside it; arrow keys walk
const cells = all("button.cell");
function tell(cell) {
  all(".cell[aria-pressed]").forEach((other) => other.removeAttribute("aria-pressed"));
  cell.setAttribute("aria-pressed", "true");
  one("details").replaceChildren(cell.parentNode.querySelector("template").content.cloneNode(true));
}
cells.forEach((cell, at) => {
  cell.setAttribute("tabindex", at ? -1 : 0);
  cell.addEventListener("click", () => tell(cell));
  cell.addEventListener("keydown", (event) => {
    const td = cell.closest("td"), column = td.cellIndex, table = one("matrix");
    const row = [...table.tBodies].indexOf(td.closest("tbody"));
    const step = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] }[event.key];
    const next = step && table.tBodies[row + step[0]]?.rows[0].cells[column + step[1]]?.querySelector(".cell");
    if (!next) return;
    event.preventDefault();
    cell.setAttribute("tabindex", -1);
    next.setAttribute("tabindex", 0);
    next.focus();
    tell(next);
  });
});
