"""OpenDocument, Hangul (.hwpx), and EPUB files."""

from tests.loaders.formats.files import zipped

ODF = "urn:oasis:names:tc:opendocument:xmlns:"
ODF_NAMES = " ".join(
    f'xmlns:{name}="{ODF}{name}:1.0"'
    for name in ("office", "text", "table", "style", "meta", "presentation", "manifest")
)
ODF_NAMES += f' xmlns:draw="{ODF}drawing:1.0" xmlns:svg="{ODF}svg-compatible:1.0"'
ODF_NAMES += ' xmlns:dc="http://purl.org/dc/elements/1.1/"'
HWPX_NAMES = " ".join(
    f'xmlns:{short}="http://www.hancom.co.kr/hwpml/2011/{name}"'
    for short, name in (("hh", "head"), ("hs", "section"), ("hp", "paragraph"))
)


def odf_file(
    kind: str,
    body: str,
    *,
    styles: str = "",
    page_styles: str = "",
    title: str = "",
    manifest: str = "",
) -> bytes:
    """An OpenDocument file; `kind` is "text", "spreadsheet", or "presentation".

    `styles` are automatic styles of the content, and `page_styles` those of headers and footers.
    """
    head = f"<office:automatic-styles>{styles}</office:automatic-styles>"
    whole = f"{head}<office:body><office:{kind}>{body}</office:{kind}></office:body>"
    meta = f"<office:meta><dc:title>{title}</dc:title></office:meta>"
    parts = {
        "mimetype": f"application/vnd.oasis.opendocument.{kind}",
        "content.xml": f"<office:document-content {ODF_NAMES}>{whole}</office:document-content>",
        "styles.xml": (
            f"<office:document-styles {ODF_NAMES}><office:automatic-styles>{page_styles}"
            "</office:automatic-styles></office:document-styles>"
        ),
        "meta.xml": f"<office:document-meta {ODF_NAMES}>{meta}</office:document-meta>",
        "META-INF/manifest.xml": (f"<manifest:manifest {ODF_NAMES}>{manifest}</manifest:manifest>"),
    }
    return zipped({name: text.encode() for name, text in parts.items()})


def hwpx_file(
    *sections: str, header: str = "", title: str = "", others: dict[str, bytes] | None = None
) -> bytes:
    """A Hangul document in XML; each section is its paragraphs."""
    parts = {
        "mimetype": "application/hwp+zip",
        "Contents/header.xml": f"<hh:head {HWPX_NAMES}>{header}</hh:head>",
        "Contents/content.hpf": f"<package><metadata><title>{title}</title></metadata></package>",
    }
    for at, section in enumerate(sections):
        parts[f"Contents/section{at}.xml"] = f"<hs:sec {HWPX_NAMES}>{section}</hs:sec>"
    return zipped({name: text.encode() for name, text in parts.items()} | (others or {}))


def epub_file(
    chapters: dict[str, str],
    *,
    title: str = "",
    author: str = "",
    others: dict[str, bytes] | None = None,
) -> bytes:
    """A book; the chapters are given by file name, in the order of the spine."""
    items = "".join(
        f'<item id="c{i}" href="{name}" media-type="application/xhtml+xml"'
        f"{' properties=' + chr(34) + 'nav' + chr(34) if name == 'nav.xhtml' else ''}/>"
        for i, name in enumerate(chapters)
    )
    spine = "".join(f'<itemref idref="c{i}"/>' for i in range(len(chapters)))
    names = 'xmlns:dc="http://purl.org/dc/elements/1.1/"'
    package = (
        f'<package xmlns="http://www.idpf.org/2007/opf" {names}><metadata>'
        f"<dc:title>{title}</dc:title><dc:creator>{author}</dc:creator></metadata>"
        f"<manifest>{items}</manifest><spine>{spine}</spine></package>"
    )
    container = (
        '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
        '<rootfile full-path="OEBPS/a.opf"/></rootfiles></container>'
    )
    parts = {"META-INF/container.xml": container, "OEBPS/a.opf": package}
    pages = {
        f"OEBPS/{name}": f'<?xml version="1.0" encoding="utf-8"?><html>{page}</html>'
        for name, page in chapters.items()
    }
    return zipped({name: text.encode() for name, text in (parts | pages).items()} | (others or {}))
