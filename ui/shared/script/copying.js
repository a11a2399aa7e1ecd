// One listener for the page. Only text of attributes is read, and none of it is run.
if (!window.footnoteCopies) {
  window.footnoteCopies = true;
  const byHand = (text) => {  // pages that are not on https or localhost have no clipboard
    const area = document.body.appendChild(document.createElement("textarea"));
    area.value = text;
    area.select();
    document.execCommand("copy");
    area.remove();
  };
  document.addEventListener("click", async (event) => {
    const button = event.target.closest("button.fn-copy");
    if (!button) return;
    const text = button.dataset.copy;
    if (navigator.clipboard) await navigator.clipboard.writeText(text).catch(() => byHand(text));
    else byHand(text);
    button.classList.add("fn-copied");
    setTimeout(() => button.classList.remove("fn-copied"), 1500);
  });
}
