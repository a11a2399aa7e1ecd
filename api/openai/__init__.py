"""The library as a model: the part of OpenAI's protocol that clients need to ask and to embed."""
