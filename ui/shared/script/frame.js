// Determines the fonts and the pronunciation of screen readers.
document.documentElement.lang = document.currentScript.dataset.language;

// On a phone, the sidebar covers the page: collapse it after a selection.
if (!window.footnoteFoldsSidebar) {
  window.footnoteFoldsSidebar = true;
  const phone = "(max-width: 767px)"; // Streamlit's own breakpoint
  const fold = '[data-testid="stSidebarCollapseButton"] button';
  const choices = [
    '[data-testid="stSidebarNavLink"]',
    ".st-key-new-conversation button",
    '[class*="st-key-conversation-"]:not([class*="-file-"]) button',
  ];
  const choice = `.stSidebar :is(${choices.join()})`;
  document.addEventListener("click", (event) => {
    if (matchMedia(phone).matches && event.target.closest(choice)) {
      setTimeout(() => document.querySelector(fold)?.click());
    }
  });
}
