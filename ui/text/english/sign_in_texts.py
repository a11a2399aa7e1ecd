"""The texts about signing in, and about roles."""

SIGN_IN = "Sign in"
SIGN_OUT = "Sign out"
SIGN_IN_FIRST = (
    "To become an administrator, sign in first, and then open the link for administrators again."
)
NOW_ADMINISTRATOR = "You are now an administrator."
ROLE_NAMES = {"reader": "Reader", "editor": "Editor", "admin": "Administrator"}
