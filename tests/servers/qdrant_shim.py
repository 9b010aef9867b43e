"""The REST interface of Qdrant in front of the official client's local engine, for tests.

What this is not: the Qdrant server. No registry of packages carries that one.

What it is: requests are parsed by the official client's own models, which are generated from the server's
OpenAPI description, and answered by the engine that the client has for local use (`QdrantLocal`, in memory).
So a field that does not exist, or has the wrong type, fails here as a mistake of the store under test. Rankings
are those of an exact search, by the server's formulas; `qdrant_edge_rank.py` has those of the real engine.

Where it differs from a server, as far as is known:

* Unknown fields are rejected. A server ignores most of them.
* Writes are visible when they are answered, with or without `wait=true`.
* Counts of terms for `idf` follow deletions at once. A server counts deleted points until its optimizer has run.
* Payload indexes are remembered and shown, and asked for by `facet`, as a server does. They speed nothing up.
* No shards, snapshots, cluster, quantization, authentication or telemetry.

    python qdrant_shim.py [--host 127.0.0.1] [--port 0]

prints its port on the first line and serves until it is killed.
"""

import argparse
import json
import re
import sys
import threading
import time
import traceback
import warnings
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote, urlsplit

from pydantic import TypeAdapter, ValidationError
from qdrant_client import QdrantClient, models as m
from qdrant_client.local.qdrant_local import QdrantLocal

VERSION = "1.20.0"

# Most points that a page has where the request does not say.
LIMIT = 10


class Refused(Exception):
    """A request that a server answers with `status` and a sentence."""

    def __init__(self, status, sentence):
        super().__init__(sentence)
        self.status = status


class Engine:
    """What the routes below call: the local engine, and what it does not keep."""

    def __init__(self):
        self.local = QdrantLocal(":memory:")
        # Collection -> field -> type.
        self.indexes = {}

    def collection(self, name):
        """The name of the collection that `name` is, or is an alias of."""
        name = self.local.aliases.get(name, name)
        if name not in self.local.collections:
            raise Refused(404, f"Not found: Collection `{name}` doesn't exist!")
        return name

    # Collections and aliases.

    def create(self, name, body: m.CreateCollection):
        if name in self.local.collections or name in self.local.aliases:
            raise Refused(409, f"Wrong input: Collection `{name}` already exists!")
        return self.local.create_collection(name, body.vectors, body.sparse_vectors, body.metadata)

    def drop(self, name):
        self.indexes.pop(name, None)
        return self.local.delete_collection(name)

    def info(self, name):
        name = self.collection(name)
        info = self.local.get_collection(name)
        points = info.points_count
        schema = self.indexes.get(name, {}).items()
        info.payload_schema = {field: m.PayloadIndexInfo(data_type=kind, points=points) for field, kind in schema}
        return info

    def exists(self, name):
        return {"exists": self.local.collection_exists(name)}

    def collections(self):
        return self.local.get_collections()

    def change_aliases(self, body: m.ChangeAliasesOperation):
        return self.local.update_collection_aliases(body.actions)

    def aliases(self):
        return self.local.get_aliases()

    def aliases_of(self, name):
        return self.local.get_collection_aliases(self.collection(name))

    def create_index(self, name, body: m.CreateFieldIndex):
        name = self.collection(name)
        kind = getattr(body.field_schema, "type", body.field_schema)
        self.indexes.setdefault(name, {})[body.field_name] = getattr(kind, "value", kind)
        return self.local.create_payload_index(name, body.field_name, body.field_schema)

    def drop_index(self, name, field):
        name = self.collection(name)
        self.indexes.get(name, {}).pop(field, None)
        return self.local.delete_payload_index(name, field)

    # Points.

    def upsert(self, name, body: m.PointInsertOperations):
        name = self.collection(name)
        points = body.batch if isinstance(body, m.PointsBatch) else body.points
        return self.local.upsert(name, points, body.update_filter, body.update_mode)

    def delete(self, name, body: m.PointsSelector):
        return self.local.delete(self.collection(name), body)

    def batch(self, name, body: m.UpdateOperations):
        return self.local.batch_update_points(self.collection(name), body.operations)

    def retrieve(self, name, body: m.PointRequest):
        payload = True if body.with_payload is None else body.with_payload
        return self.local.retrieve(self.collection(name), body.ids, payload, body.with_vector or False)

    def point(self, name, id):
        found = self.local.retrieve(self.collection(name), [int(id) if id.isdigit() else id], True, True)
        if not found:
            raise Refused(404, f"Not found: Point with id {id} does not exists!")
        return found[0]

    def scroll(self, name, body: m.ScrollRequest):
        points, after = self.local.scroll(
            self.collection(name),
            body.filter,
            LIMIT if body.limit is None else body.limit,
            body.order_by,
            body.offset,
            True if body.with_payload is None else body.with_payload,
            body.with_vector or False,
        )
        return m.ScrollResult(points=points, next_page_offset=after)

    def count(self, name, body: m.CountRequest):
        return self.local.count(self.collection(name), body.filter)

    def facet(self, name, body: m.FacetRequest):
        name = self.collection(name)
        if body.key not in self.indexes.get(name, {}):
            kinds = "[keyword, integer, uuid, bool]"
            wanted = f'Index required but not found for "{body.key}" of one of the following types: {kinds}'
            raise Refused(400, f"Bad request: {wanted}. Help: Create an index for this key or use a different filter.")
        return self.local.facet(name, body.key, body.filter, LIMIT if body.limit is None else body.limit)

    # Payloads.

    def set_payload(self, name, body: m.SetPayload):
        return self.local.set_payload(self.collection(name), body.payload, selector(body), body.key)

    def overwrite_payload(self, name, body: m.SetPayload):
        return self.local.overwrite_payload(self.collection(name), body.payload, selector(body))

    def delete_payload(self, name, body: m.DeletePayload):
        return self.local.delete_payload(self.collection(name), body.keys, selector(body))

    def clear_payload(self, name, body: m.PointsSelector):
        return self.local.clear_payload(self.collection(name), body)

    # Search.

    def query(self, name, body: m.QueryRequest):
        return self.local.query_points(self.collection(name), **asked(body), offset=body.offset)

    def query_batch(self, name, body: m.QueryRequestBatch):
        return [self.query(name, search) for search in body.searches]

    def query_groups(self, name, body: m.QueryGroupsRequest):
        grouping = {"group_by": body.group_by, "group_size": body.group_size or 3, "with_lookup": body.with_lookup}
        return self.local.query_points_groups(self.collection(name), **asked(body), **grouping)


def selector(body):
    """The points that a request about payloads is about."""
    if body.points is not None:
        return body.points
    if body.filter is not None:
        return m.FilterSelector(filter=body.filter)
    raise Refused(422, "Validation error: points or filter should be specified")


def asked(body):
    """What both kinds of query have in common, as the engine's arguments."""
    limit = LIMIT if body.limit is None else body.limit
    if limit < 1:
        raise Refused(422, f"Validation error in JSON body: [limit: value {limit} invalid, must be 1 or larger]")
    return {
        "query": QdrantClient._resolve_query(body.query),
        "using": body.using,
        "prefetch": body.prefetch,
        "query_filter": body.filter,
        "search_params": body.params,
        "limit": limit,
        "with_payload": body.with_payload or False,
        "with_vectors": body.with_vector or False,
        "score_threshold": body.score_threshold,
        "lookup_from": body.lookup_from,
    }


C = "/collections/{}"
ROUTES = [
    ("GET", "/collections", Engine.collections),
    ("POST", "/collections/aliases", Engine.change_aliases),
    ("GET", "/aliases", Engine.aliases),
    ("PUT", C, Engine.create),
    ("GET", C, Engine.info),
    ("DELETE", C, Engine.drop),
    ("GET", C + "/exists", Engine.exists),
    ("GET", C + "/aliases", Engine.aliases_of),
    ("PUT", C + "/index", Engine.create_index),
    ("DELETE", C + "/index/{}", Engine.drop_index),
    ("PUT", C + "/points", Engine.upsert),
    ("POST", C + "/points", Engine.retrieve),
    ("POST", C + "/points/delete", Engine.delete),
    ("POST", C + "/points/batch", Engine.batch),
    ("POST", C + "/points/scroll", Engine.scroll),
    ("POST", C + "/points/count", Engine.count),
    ("POST", C + "/points/payload", Engine.set_payload),
    ("PUT", C + "/points/payload", Engine.overwrite_payload),
    ("POST", C + "/points/payload/delete", Engine.delete_payload),
    ("POST", C + "/points/payload/clear", Engine.clear_payload),
    ("POST", C + "/points/query", Engine.query),
    ("POST", C + "/points/query/batch", Engine.query_batch),
    ("POST", C + "/points/query/groups", Engine.query_groups),
    ("GET", C + "/points/{}", Engine.point),
    ("POST", C + "/facet", Engine.facet),
]
ROUTES = [(verb, re.compile(path.replace("{}", "([^/]+)")), call) for verb, path, call in ROUTES]

# Outside the envelope.
TITLE = {"title": "qdrant - vector search engine", "version": VERSION, "commit": None}


@cache
def parser(call):
    """What parses the body that `call` takes; `None` if it takes none."""
    kind = call.__annotations__.get("body")
    return kind and TypeAdapter(kind)


def plain(result):
    """`result` without models. As a server does, fields without a value are left out."""
    if isinstance(result, list):
        return [plain(item) for item in result]
    dump = getattr(result, "model_dump", None)
    return dump(mode="json", exclude_none=True) if dump else result


class Handler(BaseHTTPRequestHandler):
    """One request: route, parse, call, envelope."""

    protocol_version = "HTTP/1.1"
    # An answer is written in two pieces; the second shall not wait for the first to be acknowledged.
    disable_nagle_algorithm = True
    engine = Engine()
    lock = threading.Lock()

    def answer(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path = urlsplit(self.path).path
        if path == "/":
            return self.send(200, TITLE)
        if path in ("/healthz", "/livez", "/readyz"):
            return self.send(200, f"{path[1:]} check passed")
        start = time.monotonic()
        try:
            status, answer = 200, {"result": self.result(path, body), "status": "ok"}
        except Refused as refused:
            status, answer = refused.status, {"status": {"error": str(refused)}}
        self.send(status, answer | {"time": time.monotonic() - start})

    def result(self, path, body):
        """What the engine says, or `Refused`."""
        for verb, pattern, call in ROUTES:
            found = pattern.fullmatch(path)
            if found and verb == self.command:
                break
        else:
            raise Refused(404, f"Not found: {self.command} {path}")
        arguments = [unquote(name) for name in found.groups()]
        try:
            if parser(call):
                arguments.append(parser(call).validate_json(body))
            with self.lock:
                return plain(call(self.engine, *arguments))
        except Refused:
            raise
        except ValidationError as error:
            # The paths of unions are long; the message names the field and what it should be.
            places = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors()[:8])
            raise Refused(400, f"Format error in JSON body: {places}") from None
        except ValueError as error:
            text = str(error).removeprefix("Wrong input: ")
            # Of an alias to a collection; every other route has looked it up before.
            missing = re.fullmatch(r"Collection (.+) not found", text)
            if missing:
                raise Refused(404, f"Not found: Collection `{missing[1]}` doesn't exist!") from None
            raise Refused(400, f"Wrong input: {text}") from None
        except Exception as error:
            traceback.print_exc()
            raise Refused(500, f"Service internal error: {error!r}") from None

    def send(self, status, answer):
        text = answer if isinstance(answer, str) else json.dumps(answer, default=str)
        data = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/plain" if isinstance(answer, str) else "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = answer

    def log_message(self, *_):
        """Nothing but the port is printed."""


def main():
    arguments = argparse.ArgumentParser(description="Qdrant's REST interface over the official local engine.")
    arguments.add_argument("--host", default="127.0.0.1")
    arguments.add_argument("--port", type=int, default=0)
    arguments = arguments.parse_args()
    warnings.simplefilter("ignore")
    server = ThreadingHTTPServer((arguments.host, arguments.port), Handler)
    server.daemon_threads = True
    print(server.server_address[1], flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        sys.exit(0)


if __name__ == "__main__":
    main()
