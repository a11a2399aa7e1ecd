// After a sign-in, open the address that the person had opened before it.
{
  const address = sessionStorage.getItem("footnoteAddress");
  sessionStorage.removeItem("footnoteAddress");
  if (address && address !== location.pathname + location.search) location.replace(address);
}
