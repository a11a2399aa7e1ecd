// Keyboard shortcuts of the chat page: "/", "?", Ctrl+K (⌘K on a Mac), and arrows in the list.
if (!window.footnoteShortcuts) {
  window.footnoteShortcuts = true;
  const isMac = navigator.platform.startsWith("Mac");
  const find = (selector) => document.querySelector(selector);
  const question = () => find('[data-testid="stChatInputTextArea"]');
  const search = () => find(".st-key-conversations input:not([type=file])");
  const rows = () => [...document.querySelectorAll('.st-key-rows [class*="st-key-conversation-"] button')];
  const isTyping = ({ target }) => target.closest?.("input, textarea, select, [contenteditable]");
  const isPlain = (event) => !event.ctrlKey && !event.metaKey && !event.altKey;

  const showSearch = () => {
    find('.stSidebar[data-collapsed="true"]') && find('[data-testid="stExpandSidebarButton"]')?.click();
    requestAnimationFrame(() => setTimeout(() => search()?.focus()));
  };
  const showShortcuts = () => find(".st-key-shortcuts button")?.click();
  const move = (event) => {
    const fields = [search(), ...rows()].filter(Boolean);
    const index = fields.indexOf(document.activeElement);
    const steps = { ArrowDown: index + 1, ArrowUp: index - 1, Home: 1, End: fields.length - 1 };
    const isInSearch = index === 0 && event.key !== "ArrowDown";
    if (index < 0 || isInSearch || !(event.key in steps)) return null;
    return () => fields[Math.min(Math.max(steps[event.key], 0), fields.length - 1)].focus();
  };
  const action = (event) => {
    if ((isMac ? event.metaKey : event.ctrlKey) && event.key.toLowerCase() === "k") return search() && showSearch;
    if (!isPlain(event)) return null;
    if (event.key === "/" && !isTyping(event)) return question() && (() => question().focus());
    if (event.key === "?" && !isTyping(event)) return showShortcuts;
    return move(event);
  };
  document.addEventListener("keydown", (event) => {
    // A key that composes a letter belongs to the input method; a modal dialog has its own keys.
    if (event.isComposing || event.keyCode === 229 || find('[role="dialog"][aria-modal="true"]')) return;
    const act = action(event);
    if (!act) return;
    event.preventDefault();
    act();
  });
}
