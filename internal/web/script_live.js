// What is new, while the page is seen: a stream for each chain that it shows.
(function live() {
  const [chain, number, hash] = (document.body.dataset.follow || "").split(" ");
  const regions = [...document.querySelectorAll("[data-live]")];
  const chains = new Set(regions.map((r) => r.dataset.live));
  if (chain) chains.add(chain);
  if (chains.size === 0 || !window.EventSource) return;

  const forked = (fork) => {
    const notice = make("p", "forked");
    notice.setAttribute("role", "alert");
    const short = (h) => h.length > 12 ? h.slice(0, 6) + "…" + h.slice(-4) : h;
    const block = make("a", "", "Look at the block that is there now");
    block.href = "/" + encodeURIComponent(chain) + "/block/" + fork.number;
    const again = make("a", "", "make this page anew");
    again.href = /\/block\/0x[^/]*$/.test(location.pathname) ? block.href : location.href; // the hash leads nowhere any more
    if (fork.now) notice.append(`Block ${fork.number.toLocaleString("en")}, on which this page rests, was replaced by a fork: ${short(fork.was)} is now ${short(fork.now)}. `, block, ", or ", again, ".");
    else notice.append(`Block ${fork.number.toLocaleString("en")}, on which this page rests, was taken back by a fork (${short(fork.was)}), and no other has its number yet. `, again, ".");
    const old = document.querySelector(".forked");
    if (old?.textContent === notice.textContent) return; // told before the stream broke
    old?.remove();
    document.body.append(notice);
  };

  // A live part makes itself anew: what it has shown and a fork undid is told all the same,
  // until the reader closes that.
  const mostForks = 5;
  const undone = (text) => {
    let notice = document.querySelector(".forked");
    if (!notice) {
      notice = make("div", "forked");
      notice.setAttribute("role", "alert");
      const button = make("button", "second", "Close");
      button.type = "button";
      button.addEventListener("click", () => notice.remove());
      notice.append(make("ul"), button);
      document.body.append(notice);
    }
    const list = notice.querySelector("ul");
    list.append(make("li", "", text));
    if (list.children.length > mostForks) list.firstElementChild.remove();
  };

  // shown is the highest block that was shown of each chain since the last fork: while blocks
  // are taken back one after the other the head sinks before the fork is known.
  const shown = new Map(regions.map((r) => [r.dataset.live, Number(r.dataset.number)]));
  const compare = (old, now) => {
    const of = old.dataset.live, number = Number(now.dataset.number);
    const [count, from, to] = now.dataset.forks.split(" ").map(Number);
    const forks = count - Number(old.dataset.forks.split(" ")[0]);
    const name = (n) => n.toLocaleString("en");
    const blocks = from === to ? `block ${name(from)}` : `blocks ${name(from)} to ${name(to)}`;
    if (forks === 1 && from <= shown.get(of)) undone(`A fork undid ${blocks} of ${of}. What is shown is what is there now.`);
    if (forks > 1) undone(`${name(forks)} forks undid blocks of ${of}, the last of them ${blocks}. What is shown is what is there now.`);
    shown.set(of, forks > 0 ? number : Math.max(shown.get(of), number));
    for (const name of ["head", "number", "forks"]) old.dataset[name] = now.dataset[name];
  };

  const fresh = (of, newest) => {
    for (const p of document.querySelectorAll("[data-fresh]")) {
      const [its, shown] = p.dataset.fresh.split(" ");
      const n = newest - Number(shown);
      if (its !== of || n <= 0) continue;
      const text = n === 1 ? "1 new block" : n.toLocaleString("en") + " new blocks";
      const link = p.querySelector("a");
      if (link) { // it may have the focus, and was read out once, which is enough
        if (link.textContent === text) continue;
        p.setAttribute("aria-live", "off");
        link.textContent = text;
      } else {
        const first = make("a", "", text);
        first.href = location.pathname;
        p.append(first);
      }
    }
  };

  // What has the focus keeps it: it goes to what is the same in what comes, which is what
  // leads to the same place, or is called the same.
  const held = (e) => e.contains(document.activeElement) ? document.activeElement : null;
  const alike = (within, e) => {
    const href = e.getAttribute("href");
    return [...within.querySelectorAll(e.localName)].filter((x) => href === null ? x.textContent === e.textContent : x.getAttribute("href") === href);
  };
  const waiting = new WeakMap();
  const later = (old, change) => { // change is asked for once more if the focus has only moved within
    if (!waiting.has(old)) old.addEventListener("focusout", () => setTimeout(() => {
      const last = waiting.get(old);
      waiting.delete(old);
      if (last && old.isConnected) last();
    }), {once: true});
    waiting.set(old, change);
  };
  // put puts now in the place of old, or what is in it in the place of what is in old. Where
  // what has the focus would be gone, that waits until the focus is elsewhere.
  const put = (old, now, inside) => {
    const at = held(old);
    const heir = at && alike(now, at)[alike(old, at).indexOf(at)];
    if (at && !heir) return later(old, () => put(old, now, inside));
    const open = [...old.querySelectorAll("details")].map((d) => d.open);
    [...now.querySelectorAll("details")].forEach((d, i) => { d.open = open[i] || false; });
    if (inside) {
      old.className = now.className;
      old.replaceChildren(...now.childNodes);
    } else old.replaceWith(now);
    heir?.focus({preventScroll: true});
  };

  const leave = (li) => { if (held(li)) later(li, () => leave(li)); else li.remove(); };
  // slide renews a list by the keys of its entries. What stays is moved only where the order
  // is another: boxes move by their places.
  const slide = (old, now) => {
    const kept = new Map([...old.children].map((li) => [li.dataset.key, li]));
    const keys = new Set([...now.children].map((li) => li.dataset.key));
    for (const [key, li] of kept) {
      if (keys.has(key)) continue;
      leave(li);
    }
    const staying = (e) => {
      let x = e;
      while (x && !keys.has(x.dataset.key)) x = x.nextElementSibling;
      return x || e; // what leaves later is last
    };
    let at = old.firstElementChild;
    for (const li of [...now.children]) {
      at = staying(at);
      const same = kept.get(li.dataset.key);
      if (!same) {
        li.classList.add("new");
        old.insertBefore(li, at);
        continue;
      }
      if (same !== at) {
        const focus = held(same);
        old.insertBefore(same, at);
        focus?.focus({preventScroll: true});
      }
      at = same.nextElementSibling;
      waiting.delete(same);
      if (same.innerHTML !== li.innerHTML) put(same, li, true); else same.className = li.className;
    }
  };

  const keyed = (e) => e.children.length > 0 && [...e.children].every((li) => li.dataset.key);
  const renew = (old, now) => {
    tellTimes(now); // as it is told in what is there, to be compared with that
    const before = [...old.children], after = [...now.children];
    before.forEach((e, i) => {
      const other = after[i];
      if (!other || e.outerHTML === other.outerHTML) return;
      if (keyed(e) && keyed(other)) slide(e, other); else put(e, other);
    });
  };

  // newest are the heads that were told. A page that is kept for a moment may be older.
  const newest = new Map();
  const old = () => regions.some((r) => newest.has(r.dataset.live) && r.dataset.head !== newest.get(r.dataset.live));
  let renewing = 0;
  const refresh = (wait = 1000) => {
    if (renewing) return;
    renewing = setTimeout(async () => {
      try {
        const answer = await fetch(location.href, {headers: {Accept: "text/html"}});
        if (answer.ok) {
          const page = new DOMParser().parseFromString(await answer.text(), "text/html");
          const live = [...page.querySelectorAll("[data-live]")];
          for (const region of regions) {
            const now = live.find((e) => e.dataset.live === region.dataset.live);
            if (!now) continue;
            renew(region, now);
            compare(region, now);
          }
          // The foot says of which block all of this is.
          const foot = document.querySelector(".as-of"), other = page.querySelector(".as-of");
          if (foot && other) { tellTimes(other); put(foot, other); }
        }
      } catch { /* there is another chance */ }
      renewing = 0;
      if (old() && !document.hidden) refresh(Math.min(2 * wait, 10000));
    }, wait);
  };

  // Browsers come back by themselves to a stream that ends, but not where they were refused.
  const open = new Map();
  const listen = (of, wait) => {
    const about = of === chain && hash ? `?number=${number}&hash=${hash}` : "";
    const source = new EventSource("/live/" + encodeURIComponent(of) + about);
    source.addEventListener("head", (e) => {
      wait = 3000;
      const head = JSON.parse(e.data);
      fresh(of, head.number);
      newest.set(of, head.hash);
      if (old()) refresh();
    });
    if (about) source.addEventListener("fork", (e) => forked(JSON.parse(e.data)));
    source.addEventListener("error", () => {
      if (source.readyState !== EventSource.CLOSED || open.get(of) !== source) return;
      open.delete(of);
      setTimeout(() => { if (!document.hidden && !open.has(of)) listen(of, Math.min(2 * wait, 60000)); }, wait);
    });
    open.set(of, source);
  };
  const close = () => {
    open.forEach((s) => s.close());
    open.clear();
  };
  const settle = () => {
    if (document.hidden) close(); else for (const of of chains) if (!open.has(of)) listen(of, 3000);
  };
  document.addEventListener("visibilitychange", settle);
  addEventListener("pagehide", close);
  addEventListener("pageshow", settle);
  settle();
})();
