// What there is to say of a page; see Look.
(() => {
  const width = document.documentElement.clientWidth;
  let wider = "";
  for (const e of document.body.querySelectorAll("*")) {
    const r = e.getBoundingClientRect();
    if (r.right > width + 1 && r.width > 0 && !e.closest(".scroll")) wider = e.outerHTML.slice(0, 200);
  }
  // The text of a time may be shown before the page's script says how long ago it was: in a
  // table, and in the foot, where a line less moves what is below, it has to take the same
  // room either way.
  const moving = [];
  for (const t of document.querySelectorAll(".rows time[data-ago][title], .as-of time[data-ago][title]")) {
    const words = t.textContent, before = t.getBoundingClientRect().width;
    t.textContent = t.title;
    if (Math.abs(t.getBoundingClientRect().width - before) > 0.5) moving.push(words);
    t.textContent = words;
  }
  const href = (selector) => document.querySelector(selector)?.href || "";
  const loaded = [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")];
  return {
    Resources: loaded.map((e) => ({URL: e.name, Status: e.responseStatus || 0, Encoded: e.encodedBodySize || 0})),
    Width: Math.max(document.documentElement.scrollWidth, document.body.scrollWidth),
    Wider: wider,
    Shift: window.walkShift || 0,
    Shifted: window.walkShifted || [],
    Moving: moving,
    Headings: document.querySelectorAll("h1").length,
    Title: document.title,
    Canonical: href('link[rel="canonical"]'),
    Alternate: href('link[rel="alternate"][type="application/json"]'),
    Shared: ["og:title", "og:description"].filter((p) => !document.querySelector(`meta[property="${p}"]`)?.content),
  };
})()
