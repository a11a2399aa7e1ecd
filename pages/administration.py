"""The administration page: people, readers, keys, and the audit log; without sign-in, only keys."""

from ui.administration import (
    access_view,
    administration_page,
    audit_view,
    groups_view,
    keys_view,
    people_view,
    sources_view,
)
from ui.shared import frame

frame.require_frame("pages/administration.py")

services = frame.services()
administration_page.show_administration_title(services)
match administration_page.administration_view(services):
    case administration_page.PEOPLE:
        people_view.show_people(services)
    case administration_page.GROUPS:
        groups_view.show_groups(services)
    case administration_page.SOURCES:
        sources_view.show_sources(services)
    case administration_page.WHY:
        access_view.show_explanation(services)
    case administration_page.AUDIT:
        audit_view.show_events(services)
    case _:
        keys_view.show_keys(services)
