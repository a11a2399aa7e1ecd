// The files of a dropped folder have no `webkitRelativePath`, so Streamlit would upload them without their
// folders, and files of the same name would replace each other. Its drop zone has their paths.
if (!window.footnoteKeepsPaths) {
  window.footnoteKeepsPaths = true;
  const { get } = Object.getOwnPropertyDescriptor(File.prototype, "webkitRelativePath");
  const isInFolder = (path) => path.startsWith("/") && path.lastIndexOf("/") > 0;
  Object.defineProperty(File.prototype, "webkitRelativePath", {
    configurable: true,
    enumerable: true,
    get() {
      const path = this.relativePath ?? "";
      return get.call(this) || (isInFolder(path) ? path.slice(1) : "");
    },
  });
}
