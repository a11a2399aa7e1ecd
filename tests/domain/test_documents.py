import pytest

from domain import public_location


@pytest.mark.parametrize(
    ("location", "public"),
    [
        ("/srv/handbook/leave.md", "leave.md"),
        ("handbook/휴가.md", "휴가.md"),
        ("leave.md", "leave.md"),
        ("", ""),
        ("https://wiki.example.com/hr/leave", "https://wiki.example.com/hr/leave"),
    ],
)
def test_a_file_is_public_without_its_folder(location, public):
    assert public_location(location) == public
