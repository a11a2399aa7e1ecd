// One listener for the whole page. It only reads text from attributes, and executes none of it.
if (!window.footnoteCopies) {
  window.footnoteCopies = true;
  const byHand = (text) => {  // the clipboard API requires https or localhost
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
