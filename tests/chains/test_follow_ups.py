"""The terms of a conversation that a follow-up omits."""

from langchain_core.messages import AIMessage, HumanMessage

from chains.condensing.follow_ups import salient_terms


def rarity(**of):
    return lambda tokens: {token: of[token] for token in tokens if token in of}


def turn_citing(question, title, *headings, answer="See there [1]."):
    citation = {"type": "citation", "title": title, "extras": {"heading_path": list(headings)}}
    cited = AIMessage(answer, additional_kwargs={"citations": [citation]})
    return [HumanMessage(question), cited]


def test_no_more_terms_are_returned_than_requested():
    history = [("Annual leave, parental leave, insurance and pension in Japan?", "")]
    for limit in range(5):
        terms = salient_terms("And then?", history, limit)
        assert len(" ".join(terms).split()) == limit


def test_each_later_standalone_question_halves_the_weight_of_a_term():
    history = [("Is there a company pension?", ""), ("Is there a health insurance?", "")]
    idf = rarity(pension=9.0, insur=4.0)
    assert salient_terms("And then?", history, 1, idf) == ["insurance"]
    assert salient_terms("And then?", history[::-1], 1, idf) == ["pension"]
    assert salient_terms("And then?", history, 1, rarity(pension=17.0, insur=4.0)) == ["pension"]


def test_the_subject_outlasts_its_follow_ups():
    subject = ("How do I roll back the tide service?", "")
    history = [subject, ("Does that need approval?", ""), ("Is it logged?", "")]
    assert salient_terms("How long does it take?", history, 4) == ["logged", "roll back", "tide"]


def test_the_subject_is_remembered_two_turns_later():
    history = [
        *turn_citing("What is Backstage?", "Backstage"),
        *turn_citing("Which port does the backend use?", "Backstage", "Ports"),
    ]
    terms = salient_terms("How do I turn on plugins in it?", history, 3)
    assert "Backstage" in terms


def test_a_term_in_the_cited_title_or_headings_counts_double():
    idf = rarity(pension=9.0, insur=4.0)
    history = turn_citing("Pension or insurance?", "Insurance")
    assert salient_terms("And then?", history, 1, idf) == ["insurance"]
    assert salient_terms("And then?", [("Pension or insurance?", "")], 1, idf) == ["Pension"]


def test_titles_and_headings_are_used_if_the_questions_have_no_terms():
    history = turn_citing("かもめは？", "横浜オフィス案内", "会議室")
    assert salient_terms("さざなみは？", history, 3) == ["横浜オフィス案内", "会議室"]
    named = turn_citing("会議室の定員は？", "横浜オフィス案内", "会議室")
    assert salient_terms("さざなみは？", named, 3) == ["会議室", "定員"]


def test_the_text_of_an_answer_provides_no_terms():
    history = turn_citing("VPN?", "VPN", answer="The VPN runs on Zanzibar gateways [1].")
    assert salient_terms("And then?", history, 9) == ["VPN"]
    assert salient_terms("And then?", [("VPN?", "The VPN runs on Zanzibar.")], 9) == ["VPN"]


def test_terms_unknown_to_idf_are_omitted():
    history = turn_citing("Gremlinish VPN?", "Zanzibar")
    assert salient_terms("And then?", history, 9, rarity(vpn=1.0)) == ["VPN"]


def test_the_first_of_equally_weighted_terms_are_selected():
    question = "Alpha beta gamma delta epsilon zeta theta kappa lambda?"
    assert salient_terms("And?", [(question, "")], 3) == ["Alpha beta gamma"]
