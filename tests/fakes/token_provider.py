"""An OpenID provider on loopback that publishes its keys, and tokens that it might have signed."""

import base64
import json
import threading
import time
from contextlib import contextmanager
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from jwt.algorithms import ECAlgorithm, RSAAlgorithm

from tests.fakes.server_thread import serving_in_thread

AUDIENCE = "https://docs.example.com/api"
METADATA, KEYS = "/.well-known/openid-configuration", "/keys"


@cache
def rsa_key(name):
    """A private key; the same name always has the same key."""
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


@cache
def ec_key(name):
    return ec.generate_private_key(ec.SECP256R1())


def public_jwk(key_id, key, **more):
    kind = RSAAlgorithm if isinstance(key, rsa.RSAPrivateKey) else ECAlgorithm
    return kind.to_jwk(key.public_key(), as_dict=True) | {"kid": key_id, **more}


def unsigned(header, claims):
    """A token with these parts and no signature."""
    parts = (
        base64.urlsafe_b64encode(json.dumps(one).encode()).decode() for one in (header, claims)
    )
    return ".".join([*(part.rstrip("=") for part in parts), ""])


class TokenProvider:
    """The provider. `keys` are its private keys by id.

    `status` is that of its responses; `is_slow` makes it wait before them until `end` is set.
    `requests` are the paths of the requests.
    """

    def __init__(self, url):
        self.url = url
        self.keys = {"k1": rsa_key("k1")}
        self.status, self.requests = 200, []
        self.is_slow, self.end = False, threading.Event()
        self.metadata = {"issuer": url, "jwks_uri": f"{url}{KEYS}"}
        self.key_set = None

    def respond(self, path):
        self.requests.append(path)
        if self.is_slow:
            self.end.wait(60)
        return self.metadata if path == METADATA else self.key_set or self._key_set()

    def _key_set(self):
        return {"keys": [public_jwk(key_id, key) for key_id, key in self.keys.items()]}

    def claims(self, **more):
        now = int(time.time())
        times = {"iat": now, "exp": now + 300}
        claims = {"iss": self.url, "aud": AUDIENCE, "sub": "ada-1", **times, **more}
        return {name: value for name, value in claims.items() if value is not None}

    def token(self, key_id="k1", key=None, algorithm="RS256", **claims):
        """A token for Ada with these claims; None omits a claim."""
        signing_key = key or self.keys[key_id]
        return jwt.encode(self.claims(**claims), signing_key, algorithm, {"kid": key_id})

    @property
    def fetches(self):
        """The number of requests for the keys."""
        return self.requests.count(KEYS)


@contextmanager
def serving_provider():
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            body = json.dumps(provider.respond(self.path)).encode()
            self.send_response(provider.status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    provider = TokenProvider(f"http://127.0.0.1:{server.server_port}")
    with serving_in_thread(server):
        try:
            yield provider
        finally:
            provider.end.set()


def settings_of(provider):
    """The settings that let people call the API with tokens of the provider."""
    return {
        "oidc_issuer": provider.url,
        "oidc_client_id": "footnote",
        "oidc_client_secret": "client secret",
        "oidc_api_audience": AUDIENCE,
        "public_url": "http://localhost:8501",
    }
