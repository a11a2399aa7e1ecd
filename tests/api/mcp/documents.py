"""Documents of the tests, a question about them, and keys to ask it with."""

from domain import LOCAL_USER, ApiScope

LEAVE = "# Leave policy\n\n## Annual leave\n\nNew employees get 25 days of annual leave a year."
QUESTION = "How many days of annual leave do new employees get?"
LONG = "\n".join(f"승강기 운행 일지의 {n}번째 줄입니다." for n in range(5000))
"""In Korean, which the built-in model does not embed: the test does not wait for vectors."""


def key(services, *scopes, principal=LOCAL_USER):
    """A new key with these scopes, or all scopes if none are passed."""
    return services.api_keys.create(LOCAL_USER, principal, "test", scopes or tuple(ApiScope)).secret


def uri_of(client, title):
    cursor = None
    while True:
        page = client.ask("list_resources", cursor=cursor)
        for resource in page.resources:
            if resource.title == title:
                return resource.uri
        cursor = page.next_cursor
        assert cursor
