/* What style sheets cannot do: paper is light, and every button has a name. */

(() => {
  const page = document.documentElement;
  let before = null;

  /* code, figures and the theme all follow data-theme; so does the print */
  const toPaper = () => {
    if (before !== null) return;
    before = page.dataset.theme;
    page.dataset.theme = "light";
  };
  const toScreen = () => {
    if (before === null) return;
    page.dataset.theme = before;
    before = null;
  };
  window.addEventListener("beforeprint", toPaper);
  window.addEventListener("afterprint", toScreen);
  window
    .matchMedia("print")
    .addEventListener("change", (paper) => (paper.matches ? toPaper() : toScreen()));

  /* the arrows that open a part of the contents */
  const name = () => {
    for (const arrow of document.querySelectorAll(".bd-sidebar li > details > summary")) {
      const link = arrow.closest("li").querySelector("a");
      if (link) arrow.setAttribute("aria-label", `Pages of ${link.textContent.trim()}`);
    }
  };
  document.addEventListener("DOMContentLoaded", name);
})();
