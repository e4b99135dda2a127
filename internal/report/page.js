"use strict";
// The table of connections: sorted, filtered, and drawn a page at a time, so that thousands of
// rows stay quick. All text goes through textContent.
(function () {
  const perPage = 100, first = { error: 12, warning: 13, note: 14 };

  // As the rest of the page spells them.
  function number(n) {
    return n < 1e4 ? String(n) : n.toLocaleString("en-US");
  }

  function duration(ns) {
    const [unit, of] = [["s", 1e9], ["ms", 1e6], ["µs", 1e3]].find(u => ns >= u[1]) || ["ns", 1];
    const v = ns / of;
    let digits = 3;
    for (let x = v; x >= 10 && digits > 0; x /= 10) digits--;
    let s = v.toFixed(digits);
    if (s.includes(".")) s = s.replace(/0+$/, "").replace(/\.$/, "");
    return s + " " + unit;
  }

  function size(n) {
    if (n < 1e6) return number(n) + " B";
    if (n < 1e7) return (n / 1e3).toFixed(1) + " kB";
    if (n < 1e10) return (n / 1e6).toFixed(1) + " MB";
    return (n / 1e9).toFixed(1) + " GB";
  }

  const shown = {
    6: number, 7: size, 8: n => n < 0 ? "" : duration(n), 9: n => n ? duration(n) : "", 10: number, 11: number, 12: number, 13: number, 14: number,
  };

  function live(box) {
    const rows = JSON.parse(box.querySelector("script.rows").textContent);
    const place = box.dataset.place, body = box.querySelector("tbody");
    const filter = box.querySelector(".filter"), trouble = box.querySelector(".trouble"), pages = box.querySelector(".pages");
    const heads = [...box.querySelectorAll("th")];
    let by = 0, down = false, page = 0, list = rows;

    function troubled(r) { return r[10] + r[11] + r[12] + r[13] + r[14] > 0 || r[4] === "rejected" || r[4] === "refused"; }

    function matches(r, words) {
      const text = (r[0] + " " + r[1] + " " + r[2] + " " + r[3] + " " + r[4] + " " + r[5]).toLowerCase();
      return words.every(w => text.includes(w));
    }

    function choose() {
      const words = filter.value.toLowerCase().split(/\s+/).filter(w => w);
      list = rows.filter(r => (!trouble.checked || troubled(r)) && matches(r, words));
      const sign = down ? -1 : 1;
      list.sort((a, b) => {
        const x = a[by], y = b[by];
        const c = typeof x === "number" ? x - y : x < y ? -1 : x > y ? 1 : 0;
        return c ? sign * c : a[0] - b[0];
      });
      page = 0;
      draw();
    }

    function cell(r, i) {
      const td = document.createElement("td");
      const v = shown[i] ? shown[i](r[i]) : String(r[i]);
      if (typeof r[i] === "number") td.className = "n";
      if (i === first.error && r[i]) td.className = "n error";
      if (i === first.warning && r[i]) td.className = "n warning";
      if (i === 0 && r[15]) {
        const a = document.createElement("a");
        a.href = "#c" + place + "n" + r[0];
        a.textContent = v;
        td.append(a);
      } else {
        td.textContent = v;
      }
      return td;
    }

    function button(text, to) {
      const b = document.createElement("button");
      b.type = "button";
      b.textContent = text;
      b.disabled = to < 0 || to * perPage >= list.length;
      b.addEventListener("click", () => { page = to; draw(); });
      return b;
    }

    function draw() {
      body.replaceChildren(...list.slice(page * perPage, (page + 1) * perPage).map(r => {
        const tr = document.createElement("tr");
        for (let i = 0; i < heads.length; i++) tr.append(cell(r, i));
        return tr;
      }));
      const from = list.length ? page * perPage + 1 : 0, to = Math.min((page + 1) * perPage, list.length);
      const says = document.createElement("span");
      says.className = "dim";
      says.textContent = " " + from.toLocaleString("en-US") + "–" + to.toLocaleString("en-US") + " of " + list.length.toLocaleString("en-US") + " ";
      pages.replaceChildren(button("‹", page - 1), says, button("›", page + 1));
      heads.forEach((h, i) => h.setAttribute("aria-sort", i !== by ? "none" : down ? "descending" : "ascending"));
    }

    heads.forEach((h, i) => {
      const b = document.createElement("button");
      b.type = "button";
      b.textContent = h.textContent;
      h.replaceChildren(b);
      b.addEventListener("click", () => {
        if (by === i) down = !down; else { by = i; down = i > 5; }
        choose();
      });
    });
    let timer = 0;
    filter.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(choose, 120); });
    trouble.addEventListener("change", choose);
    box.classList.add("live");
    choose();
  }

  // What a link leads to is opened, and what it is in.
  function reveal() {
    let id = "";
    try { id = decodeURIComponent(location.hash.slice(1)); } catch (e) { return; }
    const at = id && document.getElementById(id);
    if (!at) return;
    for (let e = at; e; e = e.parentElement) if (e.tagName === "DETAILS") e.open = true;
    at.scrollIntoView();
  }

  document.querySelectorAll(".table").forEach(live);
  const conns = document.querySelectorAll("details.conn");
  if (conns.length === 1) conns[0].open = true;
  window.addEventListener("hashchange", reveal);
  document.addEventListener("click", e => {
    const a = e.target.closest("a");
    const to = a && String(a.getAttribute("href"));
    if (to && to[0] === "#" && to === location.hash) reveal(); // it does not change
  });
  reveal();

  // On paper all is open.
  let closed = [];
  window.addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("details:not([open])")];
    closed.forEach(d => { d.open = true; });
  });
  window.addEventListener("afterprint", () => closed.forEach(d => { d.open = false; }));
})();
