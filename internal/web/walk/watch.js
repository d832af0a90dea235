// How much the page has moved by itself, as browsers count it, and what of it has.
window.walkShift = 0;
window.walkShifted = [];
new PerformanceObserver((list) => {
  for (const e of list.getEntries()) {
    if (e.hadRecentInput) continue;
    window.walkShift += e.value;
    for (const s of e.sources) {
      const from = s.previousRect, to = s.currentRect, at = s.node?.nodeType === Node.TEXT_NODE ? s.node.parentElement : s.node;
      window.walkShifted.push(`${from.x},${from.y} to ${to.x},${to.y}: ${at?.outerHTML?.slice(0, 120) ?? "nothing"}`);
    }
  }
}).observe({type: "layout-shift", buffered: true});
