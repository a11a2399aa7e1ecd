"""Fake link targets, and helpers that build storage format."""

NAMES = {"u-1": "김철수", "u-2": "田中 花子"}


class Site:
    """Resolves every link to an address that contains the arguments of the call."""

    def page(self, space_key, title, anchor):
        return f"https://w/{space_key or 'OWN'}/{title}{'#' if anchor else ''}{anchor}"

    def blog_post(self, space_key, title, day):
        return f"https://w/{space_key or 'OWN'}/{day}/{title}"

    def content(self, content_id):
        return f"https://w/{content_id}"

    def attachment(self, filename, page_title, space_key):
        return f"https://w/{space_key or 'OWN'}/{page_title or 'THIS'}/{filename}"

    def space(self, space_key):
        return f"https://w/{space_key}"

    def user(self, account):
        return NAMES.get(account, "")


class Nowhere:
    """Resolves no link, so every link becomes its text."""

    def page(self, space_key, title, anchor):
        return ""

    def blog_post(self, space_key, title, day):
        return ""

    def content(self, content_id):
        return ""

    def attachment(self, filename, page_title, space_key):
        return ""

    def space(self, space_key):
        return ""

    def user(self, account):
        return ""


def macro(kind, /, *, rich=None, plain=None, **parameters):
    """Build a macro; the parameter `default` gets an empty name."""
    names = {"" if key == "default" else key: value for key, value in parameters.items()}
    inner = "".join(
        f'<ac:parameter ac:name="{key}">{value}</ac:parameter>' for key, value in names.items()
    )
    if rich is not None:
        inner += f"<ac:rich-text-body>{rich}</ac:rich-text-body>"
    if plain is not None:
        inner += f"<ac:plain-text-body>{cdata(plain)}</ac:plain-text-body>"
    return (
        f'<ac:structured-macro ac:name="{kind}" ac:schema-version="1" ac:macro-id="0b1-2c">'
        f"{inner}</ac:structured-macro>"
    )


def cdata(text):
    """Wrap the text in CDATA, splitting any `]]>` as Confluence does."""
    return f"<![CDATA[{text.replace(']]>', ']]]]><![CDATA[>')}]]>"


def task(status, body):
    return (
        f"<ac:task><ac:task-id>7</ac:task-id><ac:task-status>{status}</ac:task-status>"
        f"<ac:task-body>{body}</ac:task-body></ac:task>"
    )


def tasks(*parts):
    return f"<ac:task-list>{''.join(parts)}</ac:task-list>"
