"""Documents that give orders to a chat model, and what must hold whatever it does."""
