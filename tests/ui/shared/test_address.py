"""Pages store values in their URL, tested without a browser."""

from streamlit.testing.v1 import AppTest


def address_page():
    import streamlit as st

    from ui.shared.frame import in_address, put_into_address

    st.session_state["value"] = in_address("id")
    for value in ("new", ""):
        st.button(f"to {value}", on_click=put_into_address, args=("id", value))
    if st.button("late"):
        put_into_address("id", "new")


def open_page(value: str = "") -> AppTest:
    page = AppTest.from_function(address_page, default_timeout=20)
    if value:
        page.query_params["id"] = value
    return page.run()


def press(page: AppTest, label: str) -> None:
    next(button for button in page.button if button.label == label).click().run()


def test_a_value_stays_in_the_url_until_it_is_removed() -> None:
    page = open_page()
    assert page.session_state["value"] == ""
    press(page, "to new")
    assert page.session_state["value"] == page.query_params["id"] == "new"
    press(page, "to ")
    assert page.session_state["value"] == ""
    assert "id" not in page.query_params


def test_a_run_requested_with_an_outdated_url_uses_the_new_value() -> None:
    page = open_page("old")
    press(page, "late")
    page.query_params["id"] = "old"
    assert page.run().session_state["value"] == "new"
    assert page.query_params["id"] == "new"


def test_the_value_is_read_from_a_link() -> None:
    assert open_page("linked").session_state["value"] == "linked"
