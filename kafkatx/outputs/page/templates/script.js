addEventListener("beforeprint", () => {
  for (const part of document.querySelectorAll("details:not([open]):not(.bulk)")) {
    part.open = true;
    part.dataset.closed = "";
  }
});
addEventListener("afterprint", () => {
  for (const part of document.querySelectorAll("details[data-closed]")) {
    part.open = false;
    delete part.dataset.closed;
  }
});
addEventListener("hashchange", show);
addEventListener("DOMContentLoaded", show);
function show() {
  const place = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let part = place; part; part = part.parentElement) {
    if (part.tagName === "DETAILS") part.open = true;
  }
  if (place) place.scrollIntoView();
}
