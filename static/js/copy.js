// Copy buttons: <button data-copy="text">, shown only where the clipboard can be written.
const live = (text) => { document.getElementById("live").textContent = text; };

async function copy(event) {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  await navigator.clipboard.writeText(button.dataset.copy);
  live("Copied");
}

const offer = (root) => { for (const button of root.querySelectorAll("[data-copy]")) button.hidden = false; };

if (navigator.clipboard) {
  offer(document);
  document.addEventListener("click", copy);
  document.addEventListener("htmx:load", (event) => offer(event.target));
}
