import pytest

from domain import Principal, Role
from domain.errors import ForbiddenError, NotFoundError
from services.administration.explanation_service import ExplanationService
from services.sources.permission_service import Rule, Step
from tests.services.administration.conftest import NOW, ROOT


@pytest.fixture
def explanations(team):
    return ExplanationService(team.accounts, team.permissions)


def test_each_rule_is_listed_in_order_with_its_decision(team, explanations):
    team.permissions.set_readers(ROOT, team.source, ["group:staff", "user:eve"])
    team.restrict(0, {"group:hr"}, {"group:staff"})
    found = explanations.explain(ROOT, "ben", team.pages[0])
    assert found.account.name == "Ben Ohm"
    assert found.rules.source.name == "docs"
    assert found.rules.steps == (
        Step(Rule.SOURCE, True, ("group:staff", "user:eve"), ("group:staff",)),
        Step(Rule.COLLECTION, True),
        Step(Rule.DOCUMENT, False, ("group:hr",)),
        Step(Rule.DOCUMENT, True, ("group:staff",), ("group:staff",)),
    )
    assert not found.is_readable
    assert explanations.explain(ROOT, "ada", team.pages[0]).is_readable


def test_the_decision_agrees_with_what_is_readable(team, explanations):
    access = team.library.access
    for source_readers in (None, [], ["group:hr"], ["user:clara", "group:staff"]):
        for lists in ([], [()], [{"group:hr"}, {"user:ada", "user:ben"}]):
            team.permissions.set_readers(ROOT, team.source, source_readers)
            team.restrict(0, *lists)
            for person in team.accounts.list():
                is_readable = access.reads(person.principal, team.source, team.pages[0])
                found = explanations.explain(ROOT, person.id, team.pages[0])
                assert found.is_readable == is_readable
                why = team.permissions.why(ROOT, person.principal, team.pages[0])
                assert found.is_readable == why.is_readable


def test_a_disabled_account_reads_nothing(team, explanations):
    team.accounts.disable("ada", NOW)
    found = explanations.explain(ROOT, "ada", team.pages[0])
    assert found.rules.is_readable
    assert not found.is_readable


@pytest.mark.parametrize("reader", ["email:clara@example.com", "domain:example.com"])
def test_an_email_address_that_decides_must_be_verified(team, explanations, reader):
    team.permissions.set_readers(ROOT, team.source, [reader])
    found = explanations.explain(ROOT, "clara", team.pages[0])
    assert (found.is_readable, found.needs_verified_email) == (True, True)
    assert found.rules.steps[0].through == (reader,)
    team.permissions.set_readers(ROOT, team.source, [reader, "user:clara"])
    found = explanations.explain(ROOT, "clara", team.pages[0])
    assert (found.is_readable, found.needs_verified_email) == (True, False)


def test_whose_conversation_a_file_belongs_to_is_not_disclosed(team, explanations):
    file = team.add_file_of("clara")
    hidden = explanations.explain(ROOT, "ada", file)
    assert hidden.rules.steps == (Step(Rule.CONVERSATION, False, ()),)
    assert explanations.explain(ROOT, "clara", file).is_readable


def test_unknown_accounts_and_documents_are_not_found(team, explanations):
    for arguments in [("none", team.pages[0]), ("ada", "none")]:
        with pytest.raises(NotFoundError):
            explanations.explain(ROOT, *arguments)


def test_only_administrators_get_explanations(team, explanations):
    with pytest.raises(ForbiddenError, match="needs the role admin"):
        explanations.explain(Principal("eve", role=Role.EDITOR), "ada", team.pages[0])
