"""One-page scripts over real services: the elements around the question, in isolation."""


def scope_page():
    import streamlit as st

    from ui.chat.scope_panel import show_scope
    from ui.shared.frame import principal, services

    conversation_id = st.query_params.get("conversation")
    conversation = (
        services().conversations.get(principal(), conversation_id) if conversation_id else None
    )
    st.session_state["chosen"] = show_scope(services(), conversation)


def drop_page():
    import streamlit as st

    from ui.chat.upload_view import show_file_news, show_files, take_files
    from ui.shared.frame import services

    conversation_id = st.query_params.get("conversation")
    show_file_news(services(), conversation_id)
    show_files(services(), conversation_id)
    submission = st.chat_input("Ask", accept_file="multiple")
    if submission and submission.files:
        st.session_state["conversation_id"] = take_files(
            services(), submission.files, conversation_id, submission.text
        )


def nothing_page():
    import streamlit as st

    from ui.chat.nothing_found import show_nothing_found
    from ui.chat.turn_actions import requested_version
    from ui.shared.frame import services

    st.session_state["again"] = requested_version()
    show_nothing_found(services(), st.session_state["turn"])
