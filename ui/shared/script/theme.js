// Streamlit stores the theme chosen in its menu for the address that was opened: use it on all pages.
if (!window.footnoteSharesTheme) {
  window.footnoteSharesTheme = true;
  const [opened] = performance.getEntriesByType("navigation");
  const address = new URL(opened.name).pathname;
  const folder = address.replace(/[^/]*$/, "");
  const others = document.currentScript.dataset.pages.split(" ").map((page) => folder + page);
  const key = (path) => `stActiveTheme-${path}-v2`;
  const share = () => {
    const theme = localStorage.getItem(key(address));
    if (theme) [folder, ...others].forEach((path) => localStorage.setItem(key(path), theme));
  };
  document.addEventListener("click", () => setTimeout(share));
  window.addEventListener("pagehide", share);
}
