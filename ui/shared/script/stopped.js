// After a stop, the page cannot draw anything more. Rerun it: it then shows the stored answer, which
// has its sources and checked citations, or returns the question to the input if there is no answer.
if (!window.footnoteShowsStopped) {
  window.footnoteShowsStopped = true;
  const button = () => document.querySelector(
    '.stApp[data-test-script-state="notRunning"] :is(.st-key-live:has(.fn-stopped) .st-key-show-stored, .st-key-show-returned) button',
  );
  // Between two runs of the page, the state is the same for a moment.
  const show = () => button() && setTimeout(() => button()?.click(), 200);
  const options = { subtree: true, attributeFilter: ["data-test-script-state"] };
  new MutationObserver(show).observe(document.body, options);
}
