// The provider returns people to the start page: `return_to_address.js` then opens this address.
// `page` is the page that was opened if the server has moved the browser to the start page.
{
  const { page } = document.currentScript.dataset;
  const path = new URL(page || location.pathname, location).pathname;
  if (path.endsWith("/") && !location.search) {
    // The start page itself: a late return would take people back from the page they opened next.
    sessionStorage.removeItem("footnoteAddress");
  } else {
    sessionStorage.setItem("footnoteAddress", path + location.search);
  }
}
