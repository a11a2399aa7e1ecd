"""A strict OpenTelemetry collector on loopback, which rejects requests that are not OTLP."""

import gzip
import threading
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

from tests.fakes.server_thread import serving_in_thread

PATH = "/v1/traces"
TYPE = "application/x-protobuf"


class Collector:
    """The spans that it received, their resources, and what was wrong with requests."""

    def __init__(self):
        self.spans = []
        self.resources = []
        self.headers = []
        self.problems = []
        self.status = 200
        self.requests = 0
        self.release = threading.Event()
        self.release.set()

    def span(self, name):
        """The only span of this name."""
        [span] = [one for one in self.spans if one.name == name]
        return span

    def children(self, span):
        """The names of the spans in a span, by their start."""
        inside = [one for one in self.spans if one.parent_span_id == span.span_id]
        return [one.name for one in sorted(inside, key=lambda one: one.start_time_unix_nano)]

    def receive(self, path, headers, body):
        """Decode a request; returns a status."""
        self.requests += 1
        self.headers.append(dict(headers))
        if path != PATH or headers["Content-Type"] != TYPE:
            self.problems.append(f"{path} {headers['Content-Type']}")
            return 400
        if headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        request = ExportTraceServiceRequest()
        request.ParseFromString(body)
        if request.SerializeToString() != body or not request.resource_spans:
            self.problems.append("not exactly one message")
            return 400
        if self.status == 200:
            self._keep(request)
        return self.status

    def _keep(self, request):
        for of_resource in request.resource_spans:
            self.resources.append(values(of_resource.resource.attributes))
            for of_scope in of_resource.scope_spans:
                for span in of_scope.spans:
                    self._check(span)
                    self.spans.append(span)

    def _check(self, span):
        is_valid = (
            len(span.trace_id) == 16
            and len(span.span_id) == 8
            and any(span.trace_id)
            and any(span.span_id)
            and len(span.parent_span_id) in (0, 8)
            and 0 < span.start_time_unix_nano <= span.end_time_unix_nano
            and span.name
        )
        if not is_valid:
            self.problems.append(f"invalid span {span}")


def values(attributes):
    """Attributes as a dictionary."""
    return {one.key: getattr(one.value, one.value.WhichOneof("value")) for one in attributes}


@contextmanager
def collecting():
    """A collector and its address."""
    collector = Collector()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            collector.release.wait(60)
            answer = ExportTraceServiceResponse().SerializeToString()
            self.send_response(collector.receive(self.path, self.headers, body))
            self.send_header("Content-Type", TYPE)
            self.send_header("Content-Length", str(len(answer)))
            with suppress(ConnectionError):  # the client has given up
                self.end_headers()
                self.wfile.write(answer)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    with serving_in_thread(server):
        try:
            yield collector, f"http://127.0.0.1:{server.server_port}"
        finally:
            collector.release.set()
