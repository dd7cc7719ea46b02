// Thresholds: a range beside each number, both saying the same; a policy is chosen as soon as it is picked.
// Without it the numbers and the buttons do the same, plainer.
function pair(range) {
  const number = document.getElementById(range.dataset.range);
  range.hidden = false;
  if (number.value === "") range.value = range.max;
  range.addEventListener("input", () => {
    number.value = range.value;
    number.dispatchEvent(new Event("input", { bubbles: true }));
  });
  number.addEventListener("input", () => { if (number.value !== "" && Number.isFinite(Number(number.value))) range.value = number.value; });
}

for (const range of document.querySelectorAll("input[data-range]")) pair(range);
for (const select of document.querySelectorAll("select[data-sends]")) {
  select.form.querySelector("[data-plain]").hidden = true;
  select.addEventListener("change", () => select.form.submit());
}
