// Escape hides the quote of a marker. On a touch screen, the first tap shows it, and the next one
// follows the link.
if (!window.footnoteQuotes) {
  window.footnoteQuotes = true;
  let touched = null;
  const markerOf = (event) => event.target.closest?.("a.fn-cite[aria-describedby]");
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    for (const quote of document.querySelectorAll(".fn-quotable:is(:hover, :focus-within)")) {
      quote.classList.add("fn-quiet");
    }
  });
  for (const act of ["pointerout", "focusout"]) {
    document.addEventListener(act, (event) => event.target.closest?.(".fn-quotable")?.classList.remove("fn-quiet"));
  }
  document.addEventListener("click", (event) => {
    const marker = markerOf(event);
    if (event.pointerType === "touch" && marker && marker !== touched) {
      event.preventDefault();
      marker.focus();
    }
    touched = marker;
  }, true);
}
