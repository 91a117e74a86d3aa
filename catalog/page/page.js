(function () {
  "use strict";
  var input = document.getElementById("search");
  var count = document.getElementById("count");
  var nothing = document.getElementById("nothing");
  var lead = document.querySelector("[data-lead]");
  var main = document.getElementById("main");
  var root = document.documentElement;
  var articles = Array.prototype.slice.call(document.querySelectorAll("article"));
  var groups = Array.prototype.slice.call(document.querySelectorAll("[data-group]"));
  var entries = {};
  document.querySelectorAll("nav li").forEach(function (li) { entries[li.dataset.for] = li; });
  var total = document.querySelectorAll("article[data-tool]").length;

  // Every word must occur in the name, the prose or the fields of an article.
  function filter() {
    var words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    var tools = 0, any = false;
    articles.forEach(function (a) {
      var text = a.dataset.search;
      var hit = words.every(function (w) { return text.indexOf(w) >= 0; });
      a.hidden = !hit;
      if (entries[a.id]) entries[a.id].hidden = !hit;
      if (hit) { any = true; if ("tool" in a.dataset) tools++; }
    });
    groups.forEach(function (g) {
      g.hidden = !g.querySelector("article:not([hidden]), li:not([hidden])");
      var figure = g.querySelector("h2 > span");
      if (figure) figure.textContent = g.querySelectorAll("li:not([hidden])").length;
    });
    nothing.hidden = any;
    lead.hidden = words.length > 0;
    count.textContent = words.length ? tools + " of " + total + " tools" : total + (total === 1 ? " tool" : " tools");
  }

  function shown() { return articles.filter(function (a) { return !a.hidden; }); }

  function go(a) {
    if (!a) return;
    history.replaceState(null, "", "#" + a.id);
    a.querySelector("h3 a").focus({ preventScroll: true });
    a.scrollIntoView({ block: "start" });
    mark(a.id);
  }

  // Moves to the next (1) or previous (-1) article.
  function step(by) {
    var list = shown();
    var at = list.indexOf(document.activeElement.closest("article"));
    go(list[at < 0 ? (by > 0 ? 0 : list.length - 1) : Math.min(list.length - 1, Math.max(0, at + by))]);
  }

  function mark(id) {
    var old = document.querySelector("nav [aria-current]");
    if (old) old.removeAttribute("aria-current");
    var li = entries[id];
    if (!li) return;
    li.firstElementChild.setAttribute("aria-current", "true");
    li.scrollIntoView({ block: "nearest" });
  }

  function reset() { input.value = ""; filter(); }

  input.addEventListener("input", filter);
  input.addEventListener("keydown", function (e) {
    if (e.key === "Enter" || e.key === "ArrowDown") { e.preventDefault(); go(shown()[0]); }
    if (e.key === "Escape") { if (input.value) { reset(); } else { input.blur(); } }
  });
  document.getElementById("clear").addEventListener("click", function () { reset(); input.focus(); });
  document.addEventListener("keydown", function (e) {
    if (e.ctrlKey || e.metaKey || e.altKey || e.target === input) return;
    if (e.key === "/") { e.preventDefault(); input.focus(); input.select(); }
    if (e.key === "j") step(1);
    if (e.key === "k") step(-1);
    if (e.key === "Escape" && input.value) { reset(); input.focus(); }
  });

  // A link to something that the search hides shows everything again.
  function arrive() {
    var id = decodeURIComponent(location.hash.slice(1));
    var el = id && document.getElementById(id);
    if (!el) return;
    if (el.hidden || el.closest("[hidden]")) { reset(); el.scrollIntoView(); }
    mark(id);
  }
  window.addEventListener("hashchange", arrive);

  function keep(theme) { try { localStorage.setItem("rea-catalog-theme", theme); } catch (e) { /* file pages may have no storage */ } }
  function kept() { try { return localStorage.getItem("rea-catalog-theme"); } catch (e) { return null; } }
  if (kept()) root.dataset.theme = kept();
  document.getElementById("theme").addEventListener("click", function () {
    var dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    keep(root.dataset.theme);
  });

  main.dataset.ready = "true";
  filter();
  arrive();
})();
