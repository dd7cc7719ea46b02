// Drag and drop of session files, and the progress of what is sent. Without it the form does the same, plainer.
const form = document.querySelector("form[data-upload]");

function line(list, name) {
  const item = document.createElement("li");
  const label = document.createElement("span");
  const bar = document.createElement("progress");
  const words = document.createElement("span");
  label.textContent = name;
  bar.max = 1;
  bar.setAttribute("aria-label", `Sending ${name}`);
  item.append(label, bar, words);
  list.append(item);
  return { bar, words };
}

function send(file, token, row) {
  return new Promise((resolve) => {
    const request = new XMLHttpRequest();
    const body = new FormData();
    body.append("csrfmiddlewaretoken", token);
    body.append("file", file);
    request.upload.addEventListener("progress", (event) => { if (event.lengthComputable) row.bar.value = event.loaded / event.total; });
    request.addEventListener("loadend", () => {
      const answer = request.response;
      row.bar.value = 1;
      row.words.textContent = answer?.error?.message ?? answer?.message ?? `not sent (${request.status})`;
      resolve(request.status >= 200 && request.status < 300);
    });
    request.open("POST", form.action);
    request.setRequestHeader("Accept", "application/json");
    request.responseType = "json";
    request.send(body);
  });
}

async function upload(files) {
  const token = form.querySelector("[name=csrfmiddlewaretoken]").value;
  const list = form.querySelector(".uploads");
  let sent = true;
  for (const file of files) sent = (await send(file, token, line(list, file.name))) && sent;
  if (sent) location.assign("/");
}

function hasFiles(event) { return event.dataTransfer?.types.includes("Files"); }

if (form) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    upload(form.querySelector("[type=file]").files);
  });
  document.addEventListener("dragover", (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    document.body.classList.add("dropping");
  });
  document.addEventListener("dragleave", (event) => { if (!event.relatedTarget) document.body.classList.remove("dropping"); });
  document.addEventListener("drop", (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    document.body.classList.remove("dropping");
    upload(event.dataTransfer.files);
  });
}
