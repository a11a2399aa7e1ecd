"""Questions of the tests, and the replies of the loopback model."""

QUESTION = "How many days of annual leave do new employees get?"
QUOTE = "New employees get 25 days of annual leave a year"
REPLY = f'They get 25 days [1: "{QUOTE}"].'
ANSWER = "They get 25 days [1]."

FOLLOW_UPS = [
    ("신규 입사자의 연차는 며칠인가요?", "15일입니다 [1].", "2년차부터는요?", "16일"),
    (
        "新入社員の年次有給休暇は何日ですか?",
        "12日です [1]。",
        "それは誰に付与されますか?",
        "新入社員",
    ),
]
"""Question, reply, follow-up question, and text that the next answer must contain."""


def chat_messages(question, *before):
    """The messages of earlier questions and answers, and of the question."""
    pairs = [
        {"role": role, "content": text}
        for pair in before
        for role, text in zip(("user", "assistant"), pair, strict=True)
    ]
    return [*pairs, {"role": "user", "content": question}]


def prompts_of(model_server):
    """The text of each prompt that the model received."""
    bodies = [one.body for one in model_server.requests if "messages" in one.body]
    return ["\n".join(message["content"] for message in body["messages"]) for body in bodies]
