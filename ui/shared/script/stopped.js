// After a stop, the page cannot draw anything more. Ask for the stored answer instead, which has its
// sources and checked citations.
if (!window.footnoteShowsStopped) {
  window.footnoteShowsStopped = true;
  const button = () => document.querySelector(
    '.stApp[data-test-script-state="notRunning"] .st-key-live:has(.fn-stopped) .st-key-show-stored button',
  );
  // Between two runs of the page, the state is the same for a moment.
  const show = () => button() && setTimeout(() => button()?.click(), 200);
  const options = { subtree: true, attributeFilter: ["data-test-script-state"] };
  new MutationObserver(show).observe(document.body, options);
}
