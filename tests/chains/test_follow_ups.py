"""Which words of a conversation a follow-up leaves out."""

from langchain_core.messages import AIMessage, HumanMessage

from chains.condensing.follow_ups import salient_terms


def rarity(**of):
    return lambda tokens: {token: of[token] for token in tokens if token in of}


def answered(question, title, *headings, answer="See there [1]."):
    citation = {"type": "citation", "title": title, "extras": {"heading_path": list(headings)}}
    cited = AIMessage(answer, additional_kwargs={"citations": [citation]})
    return [HumanMessage(question), cited]


def test_no_more_terms_are_given_than_asked_for():
    history = [("Annual leave, parental leave, insurance and pension in Japan?", "")]
    for limit in range(5):
        given = salient_terms("And then?", history, limit)
        assert len(" ".join(given).split()) == limit


def test_a_term_counts_half_as_much_with_every_question_that_stands_alone():
    history = [("Is there a company pension?", ""), ("Is there a health insurance?", "")]
    idf = rarity(pension=9.0, insur=4.0)
    assert salient_terms("And then?", history, 1, idf) == ["insurance"]
    assert salient_terms("And then?", history[::-1], 1, idf) == ["pension"]
    assert salient_terms("And then?", history, 1, rarity(pension=17.0, insur=4.0)) == ["pension"]


def test_the_subject_outlasts_the_questions_that_lean_on_it():
    subject = ("How do I roll back the tide service?", "")
    history = [subject, ("Does that need approval?", ""), ("Is it logged?", "")]
    assert salient_terms("How long does it take?", history, 4) == ["logged", "roll back", "tide"]


def test_the_subject_is_remembered_two_turns_later():
    history = [
        *answered("What is Backstage?", "Backstage"),
        *answered("Which port does the backend use?", "Backstage", "Ports"),
    ]
    given = salient_terms("How do I turn on plugins in it?", history, 3)
    assert "Backstage" in given


def test_a_term_that_the_cited_title_or_headings_confirm_counts_double():
    idf = rarity(pension=9.0, insur=4.0)
    history = answered("Pension or insurance?", "Insurance")
    assert salient_terms("And then?", history, 1, idf) == ["insurance"]
    assert salient_terms("And then?", [("Pension or insurance?", "")], 1, idf) == ["Pension"]


def test_titles_and_headings_stand_in_where_the_questions_name_nothing():
    history = answered("かもめは？", "横浜オフィス案内", "会議室")
    assert salient_terms("さざなみは？", history, 3) == ["横浜オフィス案内", "会議室"]
    named = answered("会議室の定員は？", "横浜オフィス案内", "会議室")
    assert salient_terms("さざなみは？", named, 3) == ["会議室", "定員"]


def test_the_wording_of_an_answer_gives_no_term():
    history = answered("VPN?", "VPN", answer="The VPN runs on Zanzibar gateways [1].")
    assert salient_terms("And then?", history, 9) == ["VPN"]
    assert salient_terms("And then?", [("VPN?", "The VPN runs on Zanzibar.")], 9) == ["VPN"]


def test_terms_that_idf_does_not_know_are_left_out():
    history = answered("Gremlinish VPN?", "Zanzibar")
    assert salient_terms("And then?", history, 9, rarity(vpn=1.0)) == ["VPN"]


def test_of_terms_that_weigh_the_same_the_first_are_taken():
    asked = "Alpha beta gamma delta epsilon zeta theta kappa lambda?"
    assert salient_terms("And?", [(asked, "")], 3) == ["Alpha beta gamma"]
