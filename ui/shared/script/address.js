// Otherwise, Streamlit first looks for the server below the opened page, and then waits for 0.1 s.
window.__streamlit = { BACKEND_BASE_URL: new URL(".", location.href).href };
