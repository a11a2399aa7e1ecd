"""Scripts of a page each, run over real services: what stands around the question, on its own."""


def scope_page():
    import streamlit as st

    from ui.scope import show_scope
    from ui.services import principal, services

    talk = st.query_params.get("conversation")
    conversation = services().conversations.get(principal(), talk) if talk else None
    st.session_state["chosen"] = show_scope(services(), conversation)


def drop_page():
    import streamlit as st

    from ui.services import services
    from ui.uploads import show_file_news, show_files, take_files

    talk = st.query_params.get("conversation")
    show_file_news(services(), talk)
    show_files(services(), talk)
    given = st.chat_input("Ask", accept_file="multiple")
    if given and given.files:
        st.session_state["talk"] = take_files(services(), given.files, talk, given.text)


def nothing_page():
    import streamlit as st

    from ui.again import wanted_again
    from ui.nothing_found import show_nothing_found
    from ui.services import services

    st.session_state["again"] = wanted_again()
    show_nothing_found(services(), st.session_state["turn"])
