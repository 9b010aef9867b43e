"""Rankings by Qdrant's own engine, so that a test may compare them with those of a store.

`qdrant-edge-py` is the engine of the server as a library: its indexes, its formulas, no network. Scores are in
32-bit floating point.

Reads from standard input one JSON object:

    {"dimensions": 4,
     "points": [{"id": 1, "dense": [..], "sparse": {"indices": [..], "values": [..]}, "weights": {..},
                 "payload": {..}}, ..],
     "delete": [1, ..],
     "queries": [{"dense": [..]},
                 {"sparse": {..}, "limit": 5},
                 {"weights": {..}},
                 {"dense": [..], "sparse": {..}, "fusion": "rrf", "k": 2, "weights": [1.0, 1.0], "prefetch": 50}]}

and prints, for each query, one line: `[[id, score], ..]`, best first. Ids are numbers or UUIDs; a point may lack
`dense`, `sparse`, `weights` or `payload`. Dense vectors are compared by cosine; sparse ones have the modifier
`idf`, but for those named `weights`, which are sparse as well and have none. What
`delete` names is deleted after all points are there. `k` is 2 where it is not said, as on a server.
"""

import json
import sys
import tempfile

import qdrant_edge as q


def sparse(vector):
    return q.SparseVector(indices=vector["indices"], values=vector["values"])


def point(given):
    vectors = {}
    if "dense" in given:
        vectors["dense"] = given["dense"]
    for name in ("sparse", "weights"):
        if name in given:
            vectors[name] = sparse(given[name])
    return q.Point(given["id"], vectors, given.get("payload"))


def request(given):
    limit, depth = given.get("limit", 10), given.get("prefetch", 50)
    parts = []
    if "dense" in given:
        parts.append(q.Query.Nearest(given["dense"], using="dense"))
    for name in ("sparse", "weights"):
        if name in given:
            parts.append(q.Query.Nearest(sparse(given[name]), using=name))
    if given.get("fusion") != "rrf":
        return q.QueryRequest(limit=limit, query=parts[0])
    prefetches = [q.Prefetch(limit=depth, query=part) for part in parts]
    fusion = q.Fusion.Rrf(k=given.get("k", 2), weights=given.get("weights"))
    return q.QueryRequest(limit=limit, query=fusion, prefetches=prefetches)


def main():
    given = json.load(sys.stdin)
    config = q.EdgeConfig(
        vectors={"dense": q.EdgeVectorParams(size=given["dimensions"], distance=q.Distance.Cosine)},
        sparse_vectors={
            "sparse": q.EdgeSparseVectorParams(modifier=q.Modifier.Idf),
            "weights": q.EdgeSparseVectorParams(),
        },
    )
    with tempfile.TemporaryDirectory() as folder:
        shard = q.EdgeShard.create(folder, config)
        shard.update(q.UpdateOperation.upsert_points([point(each) for each in given["points"]]))
        if given.get("delete"):
            shard.update(q.UpdateOperation.delete_points(given["delete"]))
        for query in given["queries"]:
            print(json.dumps([[hit.id, hit.score] for hit in shard.query(request(query))], default=str))
        shard.close()


if __name__ == "__main__":
    main()
