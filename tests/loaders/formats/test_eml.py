import base64
from email.message import EmailMessage, Message
from email.mime.application import MIMEApplication
from email.mime.image import MIMEImage
from email.mime.message import MIMEMessage
from email.mime.multipart import MIMEMultipart
from email.mime.text import MIMEText

import pytest

from domain.errors import UnreadableError
from loaders.formats import read_document
from tests.loaders.formats.files import zipped


def mail(**headers):
    message = EmailMessage()
    for name, value in {"From": "Kim <kim@a.kr>", "Subject": "휴가 안내", **headers}.items():
        message[name] = value
    return message


def read(message):
    data = message if isinstance(message, bytes) else message.as_bytes()
    return read_document("a.eml", data)


def test_subject_addresses_date_and_text_are_read():
    message = mail(
        To="이 과장 <lee@a.kr>", Cc="朴 <p@a.kr>", Date="Sat, 21 Nov 2026 10:00:00 +0900"
    )
    message.set_content("연차는 15일입니다.\n有給は15日です。\n")
    document = read(message)
    assert document.page_content == (
        "# 휴가 안내\n\nFrom: Kim <kim@a.kr>\nTo: 이 과장 <lee@a.kr>\nCc: 朴 <p@a.kr>\n"
        "Date: 2026-11-21 10:00+09:00\n\n연차는 15일입니다.\n有給は15日です。"
    )
    assert document.metadata["title"] == "휴가 안내"
    assert document.metadata["warnings"] == []


def test_text_is_preferred_to_html():
    message = mail()
    message.set_content("plain")
    message.add_alternative("<p>page</p>", subtype="html")
    assert read(message).page_content.endswith("\n\nplain")


def test_html_is_converted_if_there_is_no_plain_text():
    message = mail()
    message.set_content("<h2>연차</h2><ul><li>15일</li></ul>", subtype="html")
    assert read(message).page_content.endswith("\n\n## 연차\n\n- 15일")


def mixed(*parts):
    """An email with these parts: MIME parts, or pairs of a subtype and a text."""
    message = multipart("mixed", *parts)
    message["From"] = "a@b.c"
    return message


def multipart(kind, *parts):
    message = MIMEMultipart(kind)
    for part in parts:
        message.attach(part if isinstance(part, Message) else MIMEText(part[1], part[0], "utf-8"))
    return message


def body(message):
    document = read(message)
    assert document.metadata["warnings"] == []
    return document.page_content.partition("From: a@b.c\n\n")[2]


TABLE = "## t.csv\n\n| a | b |\n| --- | --- |\n| 1 | 2 |"


def attachment():
    part = MIMEText("a;b\n1;2\n", "csv")
    part.add_header("Content-Disposition", "attachment", filename="t.csv")
    return part


def test_html_is_kept_if_a_mailing_list_appends_a_plain_footer():
    message = mixed(
        ("html", "<p>We open at nine.</p><p>Closed on May 1.</p>"), ("plain", "---\nList")
    )
    assert body(message) == "We open at nine.\n\nClosed on May 1.\n\n---\nList"


def test_html_after_alternatives_is_appended_to_their_plain_text():
    twins = multipart(
        "alternative", ("plain", "See below."), ("html", "<p>See below, in color.</p>")
    )
    message = mixed(twins, ("html", "<title>Notes</title><p>We open at nine.</p>"))
    assert body(message) == "See below.\n\nWe open at nine."


def test_several_html_parts_are_appended_in_order():
    message = mixed(
        ("html", "<h2>One</h2>"), ("plain", "two"), ("html", "<p>three"), ("html", "<p>four</p>")
    )
    assert body(message) == "## One\n\ntwo\n\nthree\n\nfour"


def test_plain_text_inside_an_alternative_is_preferred_to_html():
    twins = multipart(
        "alternative", multipart("mixed", ("plain", "We open at nine.")), ("html", "<p>Page</p>")
    )
    assert body(mixed(twins)) == "We open at nine."


def test_attachments_of_an_html_alternative_are_kept_beside_plain_text_in_another():
    plain = multipart("mixed", ("plain", "We open at nine."))
    rich = multipart("mixed", ("html", "Page"), attachment())
    message = mixed(multipart("alternative", plain, rich))
    assert body(message) == f"We open at nine.\n\n{TABLE}"


def test_attachments_between_html_parts_are_kept_beside_the_plain_text_of_apple_mail():
    rich = multipart("mixed", ("html", "<p>See</p>"), attachment(), ("html", "<p>Kim</p>"))
    message = mixed(multipart("alternative", ("plain", "See, Kim"), rich))
    assert body(message) == f"See, Kim\n\n{TABLE}"


def test_attached_emails_and_unnamed_files_of_an_html_alternative_are_kept():
    inner = mail(Subject="Inner")
    inner.set_content("We close at six.")
    unnamed = MIMEApplication(b'{"a": 1}', "json")
    rich = multipart("mixed", ("html", "<p>Page</p>"), MIMEMessage(inner), unnamed)
    text = body(mixed(multipart("alternative", ("plain", "We open at nine."), rich)))
    assert text.startswith("We open at nine.\n\n## Inner.eml")
    assert "We close at six." in text
    assert "## attachment.json" in text
    assert "Page" not in text


def test_html_with_a_plain_footer_is_kept_if_its_plain_alternative_is_empty():
    rich = multipart("mixed", ("html", "<p>We open</p>"), attachment(), ("plain", "Footer"))
    message = mixed(multipart("alternative", ("plain", " \n"), rich))
    assert body(message) == f"We open\n\nFooter\n\n{TABLE}"


def test_a_plain_footer_of_an_html_alternative_is_not_added_to_the_plain_text():
    rich = multipart("mixed", ("html", "<p>We open</p>"), attachment(), ("plain", "Footer"))
    message = mixed(multipart("alternative", ("plain", "We open at nine."), rich))
    assert body(message) == f"We open at nine.\n\n{TABLE}"


@pytest.mark.parametrize("name", [None, "logo.gif"])
def test_images_of_an_html_alternative_are_ignored_beside_plain_text(name):
    logo = MIMEImage(b"GIF89a", "gif", **({"name": name} if name else {}))
    rich = multipart("related", ("html", "<p>Page</p>"), logo)
    message = mixed(multipart("alternative", ("plain", "We open at nine."), rich))
    assert body(message) == "We open at nine."


def test_other_forms_of_the_plain_text_are_not_attachments():
    invitation = MIMEText("BEGIN:VCALENDAR", "calendar")
    twins = multipart("alternative", ("plain", "Meet at nine."), ("html", "Meet"), invitation)
    assert body(mixed(twins)) == "Meet at nine."


def test_html_is_read_if_its_plain_alternative_is_empty():
    twins = multipart("alternative", ("plain", " \n"), ("html", "<p>We open at nine.</p>"))
    message = mixed(twins, ("plain", "Footer"))
    assert body(message).splitlines()[::2] == ["We open at nine.", "Footer"]


@pytest.mark.parametrize(
    ("charset", "codec", "words"),
    [
        ("iso-2022-jp", "iso2022_jp", "有給休暇は十五日です"),
        ("cp50221", "iso2022_jp", "有給休暇は十五日です"),
        ("us-ascii", "iso2022_jp", "有給休暇は十五日です"),
        ("shift_jis", "cp932", "①有給休暇は十五日です"),
        ("euc-kr", "cp949", "똠방각하의 연차는 열닷새입니다"),
        ("ks_c_5601-1987", "cp949", "연차는 해마다 열닷새입니다"),
        ("utf-8", "cp949", "연차는 해마다 열닷새입니다"),
        ("x-unknown", "euc_jp", "有給休暇は毎年十五日が与えられます"),
    ],
)
def test_bodies_are_decoded_even_if_their_charset_is_wrong_or_unknown(charset, codec, words):
    head = f"From: a@b.c\nSubject: x\nContent-Type: text/plain; charset={charset}\n\n"
    assert read(head.encode() + words.encode(codec)).page_content.endswith(words)


def test_japanese_with_the_characters_of_windows_is_decoded_in_headers_and_bodies():
    words = b"\x1b$B-j;3ED-!\x1b(B"
    encoded = base64.b64encode(words)
    head = b"From: =?iso-2022-jp?B?%b?= <a@b.jp>\nSubject: =?cp50221?B?%b?=\n" % (encoded, encoded)
    document = read(head + b"Content-Type: text/plain; charset=iso-2022-jp\n\n" + words)
    assert document.page_content == "# ㈱山田①\n\nFrom: ㈱山田① <a@b.jp>\n\n㈱山田①"
    assert document.metadata["warnings"] == []


def test_subjects_in_raw_iso_2022_jp_are_decoded():
    data = b"From: a@b.jp\nSubject: Re: \x1b$B-!M-5k5Y2K\x1b(B\n\ntext"
    assert read(data).metadata["title"] == "Re: ①有給休暇"


def test_encoded_words_are_decoded_beside_other_escape_sequences():
    data = b"From: a@b.c\nSubject: \x1b[1m=?utf-8?B?7Jew7LCo?=\x1b[0m\n\ntext"
    assert "연차" in read(data).metadata["title"]


@pytest.mark.parametrize(
    "subject",
    [
        "=?iso-2022-jp?B?GyRCTS01az8+Mkg=?= =?iso-2022-jp?B?GyhC?=",
        "=?euc-kr?B?v6zC9w==?=",
        "=?utf-8?B?7Jew?=\n =?utf-8?B?7LCo?=",
        "=?nonsense?B?7Jew7LCo?=",
    ],
)
def test_encoded_subjects_are_decoded(subject):
    title = read(f"From: a@b.c\nSubject: {subject}\n\ntext".encode()).metadata["title"]
    assert title in ("연차", "有給\u57f7\u5bb6") or title.startswith("有給")


def test_subjects_in_raw_8_bit_characters_are_decoded():
    data = "From: a@b.c\nSubject: 연차 휴가 안내입니다\n\ntext".encode("cp949")
    assert read(data).metadata["title"] == "연차 휴가 안내입니다"


def test_soft_line_breaks_of_flowed_text_are_removed():
    data = b"From: a@b.c\nContent-Type: text/plain; format=flowed\n\none \ntwo\nthree\n-- \nKim\n"
    assert read(data).page_content.endswith("one two\nthree\n-- \nKim")


def test_readable_attachments_become_sections():
    message = mail()
    message.set_content("text")
    message.add_attachment(b"a;b\n1;2\n", maintype="text", subtype="csv", filename="표.csv")
    message.add_attachment(b"\0", maintype="application", subtype="x", filename="a.bin")
    archive = zipped({"메모.txt": "안녕".encode()})
    message.add_attachment(archive, maintype="application", subtype="zip", filename="z.zip")
    document = read(message)
    assert document.page_content.endswith(
        "\n\ntext\n\n## 표.csv\n\n| a | b |\n| --- | --- |\n| 1 | 2 |"
        "\n\n## z.zip\n\n# 메모.txt\n\n안녕"
    )
    assert document.metadata["warnings"] == ["a.bin: Footnote does not read .bin files yet"]


def test_attached_emails_become_sections():
    inner = mail(Subject="원문")
    inner.set_content("원래의 글")
    message = mail()
    message.set_content("전달합니다")
    message.add_attachment(inner)
    assert read(message).page_content.endswith(
        "전달합니다\n\n## 원문.eml\n\n# 원문\n\nFrom: Kim <kim@a.kr>\n\n원래의 글"
    )


def test_too_deeply_nested_emails_are_reported_and_not_read():
    message = mail(Subject="0")
    message.set_content("text 0")
    for depth in range(1, 6):
        outer = mail(Subject=str(depth))
        outer.set_content(f"text {depth}")
        outer.add_attachment(message)
        message = outer
    document = read(message)
    assert "text 3" in document.page_content
    assert "text 2" not in document.page_content
    assert "not read: nested more than 2 files deep" in document.metadata["warnings"][0]


def test_inline_images_are_ignored():
    message = mail()
    message.set_content("text")
    message.add_related(b"GIF89a", maintype="image", subtype="gif", cid="<logo>")
    document = read(message)
    assert document.page_content.endswith("text")
    assert document.metadata["warnings"] == []


def test_encrypted_emails_are_rejected():
    data = b'From: a@b.c\nContent-Type: multipart/encrypted; boundary="x"\n\n--x\n\n--x--\n'
    with pytest.raises(UnreadableError, match="encrypted: open it in your mail program"):
        read(data)


def test_files_that_are_not_emails_are_rejected():
    with pytest.raises(UnreadableError, match="it is not an email"):
        read(b"Just a note.\n\nNothing else.")


def test_the_text_is_read_even_if_an_attachment_is_truncated():
    message = mail()
    message.set_content("text")
    archive = zipped({"a.txt": b"abc" * 900})
    message.add_attachment(archive, maintype="application", subtype="zip", filename="z.zip")
    document = read(message.as_bytes()[:-80])
    assert "\n\ntext" in document.page_content
    assert document.metadata["warnings"][0].startswith("z.zip: damaged, incomplete, or not")
