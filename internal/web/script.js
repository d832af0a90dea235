// Comfort for the pages: a filter, copying, times in words, keys, suggestions, and what is
// new. Everything works without it.
"use strict";

const make = (tag, className, text) => {
  const e = document.createElement(tag);
  if (className) e.className = className;
  if (text) e.textContent = text;
  return e;
};

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

// Values are copied by one button that comes to them, so that nothing moves.
(function copyValues() {
  if (!navigator.clipboard) return;
  const button = make("button", "copy floating", "Copy");
  button.type = "button";
  button.hidden = true;
  button.tabIndex = -1;
  let at = null, leaving = 0;
  const copy = async (from) => {
    try {
      await navigator.clipboard.writeText(from.dataset.value);
      button.textContent = "Copied";
    } catch {
      button.textContent = "Not allowed";
    }
  };
  const show = (from) => {
    clearTimeout(leaving);
    if (at === from) return;
    at = from;
    button.textContent = "Copy";
    button.setAttribute("aria-label", "Copy " + from.dataset.value);
    if (!button.isConnected) document.body.append(button);
    button.hidden = false;
    const r = from.getClientRects(), last = r[r.length - 1];
    if (!last) return;
    const left = Math.min(last.right + 4, document.documentElement.clientWidth - button.offsetWidth - 4);
    button.style.left = left + scrollX + "px";
    button.style.top = last.top + last.height / 2 - button.offsetHeight / 2 + scrollY + "px";
  };
  const hide = () => { leaving = setTimeout(() => { button.hidden = true; at = null; }, 300); };
  const target = (e) => e.target instanceof Element && !e.target.closest("pre") ? e.target.closest("[data-copy][data-value]") : null;
  for (const name of ["pointerover", "focusin"]) {
    document.addEventListener(name, (e) => {
      const from = target(e);
      if (from) show(from); else if (e.target === button) clearTimeout(leaving); else if (at) hide();
    });
  }
  button.addEventListener("click", () => { if (at) copy(at); });
  // What leads nowhere has a button of its own for the keyboard, which shows all of the value
  // and takes no room while it has not the focus.
  for (const from of document.querySelectorAll("span[data-copy][data-value]")) {
    if (from.closest("pre, [data-live]")) continue;
    const own = make("button", "copy own", "Copy " + from.dataset.value);
    own.type = "button";
    const done = async () => {
      try {
        await navigator.clipboard.writeText(from.dataset.value);
        own.textContent = "Copied " + from.dataset.value;
      } catch {
        own.textContent = "Not allowed";
      }
    };
    own.addEventListener("focus", () => {
      const r = from.getBoundingClientRect();
      own.textContent = "Copy " + from.dataset.value;
      own.style.top = r.bottom + 4 + "px";
      own.style.left = Math.max(Math.min(r.left, document.documentElement.clientWidth - own.offsetWidth - 4), 4) + "px";
    });
    own.addEventListener("click", done);
    own.addEventListener("keydown", (e) => { if (e.key === "c" && !e.ctrlKey && !e.metaKey && !e.altKey) done(); });
    from.after(own);
  }
  document.addEventListener("keydown", (e) => {
    if (e.key === "c" && !e.ctrlKey && !e.metaKey && !e.altKey && at && at.contains(document.activeElement)) copy(at);
  });
})();

const tellTimes = (function () {
  const words = (seconds) => {
    const s = Math.max(Math.round(seconds), 0);
    if (s < 60) return s + " s ago";
    if (s < 3600) return Math.floor(s / 60) + " min ago";
    if (s < 172800) return Math.floor(s / 3600) + " h ago";
    return Math.floor(s / 86400) + " days ago";
  };
  const tell = (within = document) => {
    for (const t of within.querySelectorAll("time[data-ago]")) {
      const then = Date.parse(t.dateTime);
      if (Number.isNaN(then)) continue;
      if (!t.title) t.title = t.textContent;
      const text = words((Date.now() - then) / 1000);
      if (t.textContent !== text) t.textContent = text;
    }
  };
  tell();
  setInterval(() => { if (!document.hidden) tell(); }, 5000);
  return tell;
})();

// A combobox: what may be meant, below the search box.
(function suggest() {
  for (const form of document.querySelectorAll("form[data-suggest]")) {
    const input = form.querySelector("input[name=q]");
    const list = make("ul", "suggestions");
    list.id = "suggestions";
    list.setAttribute("role", "listbox");
    list.setAttribute("aria-label", "Suggestions");
    list.hidden = true;
    form.append(list);
    for (const [name, value] of [["role", "combobox"], ["aria-autocomplete", "list"], ["aria-controls", list.id], ["aria-expanded", "false"]]) input.setAttribute(name, value);
    let chosen = -1, waiting = 0, asking = null;
    const close = () => {
      clearTimeout(waiting); // what was asked for before opens nothing any more
      asking?.abort();
      list.hidden = true;
      chosen = -1;
      input.setAttribute("aria-expanded", "false");
      input.removeAttribute("aria-activedescendant");
    };
    const choose = (n) => {
      const options = list.children;
      if (options.length === 0) return;
      if (chosen >= 0) options[chosen].setAttribute("aria-selected", "false");
      chosen = (n + options.length) % options.length;
      options[chosen].setAttribute("aria-selected", "true");
      input.setAttribute("aria-activedescendant", options[chosen].id);
    };
    const show = (found) => {
      list.replaceChildren(...found.map((s, i) => {
        const li = make("li");
        li.id = "suggestion-" + i;
        li.setAttribute("role", "option");
        li.setAttribute("aria-selected", "false");
        li.dataset.href = s.href;
        li.append(make("span", "kind", s.kind), make("bdi", "name", s.text), make("span", "soft", s.note));
        if (s.warn) li.append(make("span", "warn", "called like a known token"));
        li.append(make("span", "chain", s.chain));
        return li;
      }));
      chosen = -1;
      input.removeAttribute("aria-activedescendant");
      list.hidden = found.length === 0;
      input.setAttribute("aria-expanded", String(found.length > 0));
    };
    const ask = async () => {
      const text = input.value.trim();
      if (text === "") return close();
      asking?.abort();
      asking = new AbortController();
      try {
        const answer = await fetch(form.dataset.suggest + encodeURIComponent(text), {signal: asking.signal});
        if (answer.ok && document.activeElement === input) show(await answer.json());
      } catch { /* overtaken by more text, or nobody answers */ }
    };
    input.addEventListener("input", () => {
      clearTimeout(waiting);
      waiting = setTimeout(ask, 150);
    });
    input.addEventListener("keydown", (e) => {
      if (e.key === "Escape") {
        if (!list.hidden) e.preventDefault();
        close();
      }
      if (list.hidden) return;
      if (e.key === "ArrowDown") { e.preventDefault(); choose(chosen + 1); }
      if (e.key === "ArrowUp") { e.preventDefault(); choose(chosen < 0 ? -1 : chosen - 1); }
      if (e.key === "Enter" && chosen >= 0) { e.preventDefault(); location.href = list.children[chosen].dataset.href; }
    });
    input.addEventListener("blur", close);
    list.addEventListener("pointerdown", (e) => {
      const li = e.target.closest("li");
      if (li) { e.preventDefault(); location.href = li.dataset.href; }
    });
  }
})();

(function keys() {
  const all = [["/", "search"], ["←  k", "previous block, on the page of a block"], ["→  j", "next block, on the page of a block"], ["c", "copy the value that has the focus"], ["?", "these keys"], ["Esc", "close"]];
  let help = null;
  const showHelp = () => {
    if (!help) {
      help = make("dialog", "keys");
      help.setAttribute("aria-labelledby", "keys-title");
      const title = make("h2", "", "Keys");
      title.id = "keys-title";
      const list = make("dl");
      for (const [key, meaning] of all) {
        const row = make("div");
        const dt = make("dt");
        dt.append(make("kbd", "", key));
        row.append(dt, make("dd", "", meaning));
        list.append(row);
      }
      const form = make("form");
      form.method = "dialog";
      form.append(make("button", "second", "Close"));
      help.append(title, list, form);
      document.body.append(help);
    }
    if (!help.open) help.showModal();
  };
  const go = (rel) => document.querySelector(`.steps a[rel="${rel}"]`)?.click();
  document.addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey || e.defaultPrevented) return;
    if (e.target.closest("input, textarea, select, dialog, [contenteditable]")) return;
    if (e.key === "/") {
      const box = document.querySelector("input[name=q]");
      if (box) { e.preventDefault(); box.focus(); box.select(); }
    }
    if (e.key === "?") { e.preventDefault(); showHelp(); }
    if (e.target.closest(".scroll, pre, .ribbon, summary") && e.key.startsWith("Arrow")) return;
    if (e.key === "ArrowLeft" || e.key === "k") go("prev");
    if (e.key === "ArrowRight" || e.key === "j") go("next");
  });
})();
