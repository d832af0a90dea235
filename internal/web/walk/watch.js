// How much the page has moved by itself, as browsers count it.
window.walkShift = 0;
new PerformanceObserver((list) => {
  for (const e of list.getEntries()) if (!e.hadRecentInput) window.walkShift += e.value;
}).observe({type: "layout-shift", buffered: true});
