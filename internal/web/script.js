// Comfort for the pages: a filter over the operations, and buttons that copy
// examples and new keys. Everything works without it.
"use strict";

(function filterOperations() {
  const box = document.querySelector("[data-filter-box]");
  const side = document.querySelector("[data-side]");
  if (!box || !side) return;
  const input = box.querySelector("input");
  if (window.matchMedia("(min-width: 62rem)").matches) side.open = true;
  box.hidden = false;
  input.addEventListener("input", () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const item of document.querySelectorAll("[data-operation]")) {
      const text = item.dataset.operation.toLowerCase();
      item.hidden = !words.every((w) => text.includes(w));
    }
    for (const family of document.querySelectorAll("[data-family]")) {
      family.hidden = words.length > 0 && !family.querySelector("[data-operation]:not([hidden])");
    }
    if (words.length > 0) side.open = true;
  });
})();

(function copyExamples() {
  if (!navigator.clipboard) return;
  for (const example of document.querySelectorAll("pre")) {
    const frame = document.createElement("div");
    frame.className = "copyable";
    example.replaceWith(frame);
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    button.setAttribute("aria-label", "Copy " + (example.dataset.copy || "this example"));
    frame.append(example, button);
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(example.textContent.trim());
        button.textContent = "Copied";
      } catch {
        button.textContent = "Not allowed";
      }
      setTimeout(() => { button.textContent = "Copy"; }, 2000);
    });
  }
})();
