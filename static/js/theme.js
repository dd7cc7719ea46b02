// Light, dark, or what the system says; kept in a cookie that the server reads.
const ORDER = ["", "light", "dark"];
const root = document.documentElement;
const button = document.querySelector("[data-theme-switch]");

function label() {
  button.textContent = `Theme: ${root.dataset.theme || "system"}`;
}

button.hidden = false;
label();
button.addEventListener("click", () => {
  const next = ORDER[(ORDER.indexOf(root.dataset.theme || "") + 1) % ORDER.length];
  if (next) root.dataset.theme = next;
  else delete root.dataset.theme;
  document.cookie = `ctxweb_theme=${next}; path=/; max-age=31536000; samesite=lax`;
  label();
});
