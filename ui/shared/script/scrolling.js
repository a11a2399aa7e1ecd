// Repeat while the page is still being laid out, until the reader interacts with it.
(() => {
  const { what, which, to } = document.currentScript.dataset;
  const found = () => [...document.querySelectorAll(what)].at(Number(which));
  const show = () => found()?.scrollIntoView({ block: to });
  show();
  const again = setInterval(show, 100);
  const leave = () => clearInterval(again);
  for (const act of ["wheel", "touchmove", "pointerdown", "keydown"]) {
    addEventListener(act, leave, { once: true, capture: true });
  }
  setTimeout(leave, 3000);
})();
