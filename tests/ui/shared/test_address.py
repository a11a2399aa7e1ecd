"""What a page notes in its address, run without a browser."""

from streamlit.testing.v1 import AppTest


def address_page():
    import streamlit as st

    from ui.shared.frame import in_address, put_into_address

    st.session_state["seen"] = in_address("id")
    for value in ("new", ""):
        st.button(f"to {value}", on_click=put_into_address, args=("id", value))
    if st.button("late"):
        put_into_address("id", "new")


def opened(address: str = "") -> AppTest:
    page = AppTest.from_function(address_page)
    if address:
        page.query_params["id"] = address
    return page.run()


def press(page: AppTest, label: str) -> None:
    next(one for one in page.button if one.label == label).click().run()


def test_the_address_says_what_was_put_into_it_until_it_is_taken_out() -> None:
    page = opened()
    assert page.session_state["seen"] == ""
    press(page, "to new")
    assert page.session_state["seen"] == page.query_params["id"] == "new"
    press(page, "to ")
    assert page.session_state["seen"] == ""
    assert "id" not in page.query_params


def test_a_run_that_was_asked_for_with_an_older_address_shows_what_was_put_there_since() -> None:
    page = opened("old")
    press(page, "late")
    page.query_params["id"] = "old"
    assert page.run().session_state["seen"] == "new"
    assert page.query_params["id"] == "new"


def test_a_link_is_followed() -> None:
    assert opened("linked").session_state["seen"] == "linked"
