import time

import pytest

from domain.errors import UnreadableError
from loaders.formats import read_document


def read(text, name="a.yaml"):
    return read_document(name, text.encode())


def test_values_follow_their_path_and_stay_unchanged():
    document = read("title: 휴가\nrules:\n  days: 015\n  from: 2026-01-01\n  paid: yes\n  who: ~\n")
    assert document.page_content == (
        "title: 휴가\nrules.days: 015\nrules.from: 2026-01-01\nrules.paid: yes\nrules.who: null"
    )
    assert document.metadata["title"] == "휴가"


def test_flat_records_become_a_table():
    text = read("- {name: 김, days: 15}\n- {name: 佐藤, days: 10}\n", "a.yml")
    assert text.page_content == "| name | days |\n| --- | --- |\n| 김 | 15 |\n| 佐藤 | 10 |"
    assert text.metadata["format"] == "yaml"


def test_all_documents_of_a_file_are_read():
    assert read("a: 1\n---\nb: 2\n---\n").page_content == "a: 1\n\nb: 2"


def test_anchors_and_merge_keys_are_expanded():
    text = "base: &b {days: 15, paid: yes}\nkim:\n  <<: *b\n  days: 20\n"
    assert read(text).page_content == "base.days: 15\nbase.paid: yes\nkim.days: 20\nkim.paid: yes"


def test_unknown_tags_are_ignored_and_never_executed():
    text = "a: !Ref Bucket\nb: !!python/object/apply:os.system ['exit 1']\nc: !x [1, 2]\n"
    assert read(text).page_content == "a: Bucket\nb: exit 1\nc: 1, 2"


@pytest.mark.parametrize("merge", ["", "<<: "])
def test_exponentially_repeated_anchors_are_rejected(merge):
    lines = ["a0: &a0 {x0: 1}" if merge else "a0: &a0 [x]"]
    for i in range(1, 30):
        items = ", ".join([f"*a{i - 1}"] * 9)
        lines.append(f"a{i}: &a{i} {{{merge}[{items}]}}" if merge else f"a{i}: &a{i} [{items}]")
    started = time.process_time()
    with pytest.raises(UnreadableError, match="anchors expand to more than can be read"):
        read("\n".join(lines))
    assert time.process_time() - started < 10


def test_recursive_anchors_are_rejected():
    with pytest.raises(UnreadableError, match="anchors expand"):
        read("a: &a [*a]")


@pytest.mark.parametrize("text", ["[" * 100_000, "- " * 5000 + "x", "{a: " * 300 + "}" * 300])
def test_too_deeply_nested_yaml_is_rejected(text):
    with pytest.raises(UnreadableError, match="nested|broken"):
        read(text)


def test_the_error_for_invalid_yaml_names_the_line():
    with pytest.raises(UnreadableError, match="invalid at line 2"):
        read("a: 1\n\tb: 2\n")


def test_yaml_in_other_encodings_is_read():
    data = "휴가: 연차는 매년 부여됩니다".encode("cp949")
    assert read_document("a.yaml", data).page_content == "휴가: 연차는 매년 부여됩니다"
