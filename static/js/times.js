// Times in the reader's zone; the absolute UTC stays in the title.
const two = (n) => String(n).padStart(2, "0");

const SHOWN = {
  day: (t) => `${t.getFullYear()}-${two(t.getMonth() + 1)}-${two(t.getDate())}`,
  minute: (t) => `${two(t.getHours())}:${two(t.getMinutes())}`,
  second: (t) => `${two(t.getHours())}:${two(t.getMinutes())}:${two(t.getSeconds())}`,
  both: (t) => `${SHOWN.day(t)} ${SHOWN.minute(t)}`,
};

function localise(root) {
  for (const element of root.querySelectorAll("time[data-shown]")) {
    const at = new Date(element.dateTime);
    if (!Number.isNaN(at.getTime())) element.textContent = SHOWN[element.dataset.shown](at);
  }
}

localise(document);
document.addEventListener("htmx:load", (event) => localise(event.target));
