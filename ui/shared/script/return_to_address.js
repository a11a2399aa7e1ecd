// After a sign-in, open the address that the person had opened before it.
{
  const address = sessionStorage.getItem("footnoteAddress");
  sessionStorage.removeItem("footnoteAddress");
  if (address && address !== location.pathname + location.search) {
    location.replace(location.origin + address); // "//host" alone would be another site
  }
}
