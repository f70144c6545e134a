// ---- before and after: rows that changed alone, and boxes that light on both sides by their name
const only = one("changed");
const filter = () => one("lines").classList.toggle("changes", only.checked);
only.addEventListener("change", filter);
filter();
const nameOf = (box) => box.querySelector("title").textContent.split(",")[0];
document.addEventListener("pointerover", (event) => {
  const box = event.target.closest(".box");
  all(".box").forEach((other) => other.classList.toggle("lit", Boolean(box) && nameOf(other) === nameOf(box)));
});
