"""The library as a model: the parts of OpenAI's protocol that clients use to ask and to embed.

Answers and citations are the schemas of `api.rest`. Requests are lenient: unknown fields are
ignored, as OpenAI's clients expect.
"""
