from types import SimpleNamespace

from domain import DocumentRef, domain_reader, email_reader
from loaders.google_drive.drive_permissions import DrivePermissions

LEE = {"id": "p1", "type": "user", "emailAddress": "lee@example.org"}
COMPANY = {"id": "p2", "type": "domain", "domain": "example.org"}
ANYONE = {"id": "anyoneWithLink", "type": "anyone"}


def restrictions_of(*files):
    """The restrictions of files of a shared drive, each with its permissions, in order."""
    known, asked = dict(enumerate(files)), []
    calls = SimpleNamespace(permissions=lambda id_: asked.append(id_) or known[id_])
    permissions = DrivePermissions(calls)
    found = []
    for id_, each in known.items():
        file = {"id": id_, "driveId": "d", "permissionIds": [one["id"] for one in each]}
        found.append(permissions.restrict(DocumentRef(str(id_), "1", ""), file).restrictions)
    return found, asked


def test_people_are_requested_once():
    lee = (frozenset([email_reader("lee@example.org")]),)
    assert restrictions_of([LEE], [LEE]) == ([lee, lee], [0])


def test_a_file_that_everyone_can_find_does_not_make_others_findable():
    findable = ANYONE | {"allowFileDiscovery": True}
    [first, second], _ = restrictions_of([findable], [LEE, ANYONE])
    assert (first, second) == ((), (frozenset([email_reader("lee@example.org")]),))
    [first, second], _ = restrictions_of([COMPANY | {"allowFileDiscovery": True}], [COMPANY])
    assert (first, second) == ((frozenset([domain_reader("example.org")]),), (frozenset(),))
