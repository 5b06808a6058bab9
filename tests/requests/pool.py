"""What is known of the server's state, gathered from its answers: names, versions, tokens, bytes."""

import threading

OBJECTS_MAX = 200


class Pool:
    def __init__(self):
        self.lock = threading.Lock()
        # By collection, as "group/resource": [(namespace, name, object)].
        self.objects = {}
        self.tokens, self.protobuf, self.version = [], {}, 1
        # How often something that deletes what it does not name was sent or answered.
        self.sweeps = 0
        # (collection, name) of whatever somebody has tried to delete.
        self.deleted = set()

    def learn(self, collection, found):
        """From the JSON of an answer."""
        if not isinstance(found, dict):
            return
        metadata = found.get("metadata")
        metadata = metadata if isinstance(metadata, dict) else {}
        with self.lock:
            if metadata.get("continue"):
                self.keep(self.tokens, metadata["continue"])
            if str(metadata.get("resourceVersion", "")).isdigit():
                self.version = max(self.version, int(metadata["resourceVersion"]))
            items = found["items"] if isinstance(found.get("items"), list) else [found]
            for each in items[:5]:
                self.learn_object(collection, each)

    def learn_object(self, collection, each):
        metadata = each.get("metadata") if isinstance(each, dict) else None
        if isinstance(metadata, dict) and metadata.get("name") and metadata.get("uid"):
            self.keep(self.objects.setdefault(collection, []),
                      (metadata.get("namespace", ""), metadata["name"], each))

    def learn_bytes(self, collection, data):
        if len(data) < 65536:
            with self.lock:
                self.keep(self.protobuf.setdefault(collection, []), data)

    def keep(self, where, what):
        where.append(what)
        if len(where) > OBJECTS_MAX:
            del where[:OBJECTS_MAX // 2]

    def any_object(self, rng, collection):
        with self.lock:
            found = self.objects.get(collection)
            return rng.choice(found) if found else None

    def any_bytes(self, rng, collection):
        with self.lock:
            found = self.protobuf.get(collection)
            return rng.choice(found) if found else None

    def any_token(self, rng):
        with self.lock:
            return rng.choice(self.tokens) if self.tokens else ""

    def sweep(self):
        with self.lock:
            self.sweeps += 1
