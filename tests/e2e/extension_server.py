"""A small extension server for scripts: it answers what a path says, and tells what it was sent."""

import contextlib
import http.server
import json
import socket
import ssl
import threading
import urllib.parse

GROUP = "peer.example.com"
BASE = "/apis/" + GROUP + "/v1"
RESOURCES = {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": GROUP + "/v1", "resources": [
    {"name": "echoes", "singularName": "echo", "namespaced": True, "kind": "Echo", "shortNames": ["ec"],
     "verbs": ["create", "delete", "get", "list", "watch"]},
    {"name": "echoes/status", "singularName": "", "namespaced": True, "kind": "Echo", "verbs": ["get", "update"]}]}
V3_DOCUMENT = {"openapi": "3.0.0", "info": {"title": "Peer", "version": "1"}, "paths": {
    BASE + "/echoes": {"get": {"operationId": "listEchoes", "responses": {"200": {"description": "OK"}}}}}}
V2_DOCUMENT = {"swagger": "2.0", "info": {"title": "Peer", "version": "1"}, "paths": {
    BASE + "/echoes": {"get": {"operationId": "listEchoes", "responses": {"200": {"description": "OK"}}}}},
    "definitions": {"com.example.peer.Echo": {"type": "object", "properties": {"spec": {"type": "string"}}}}}
DOCUMENTS = {
    "/openapi/v3": {"paths": {BASE[1:]: {"serverRelativeURL": "/openapi/v3" + BASE + "?hash=ABCD"}}},
    "/openapi/v3" + BASE: V3_DOCUMENT,
    "/openapi/v2": V2_DOCUMENT,
    BASE: RESOURCES,
}
TOLD = ("Accept", "Content-Type", "Content-Length", "Authorization", "Impersonate-User", "Connection", "Te",
        "X-Mine", "X-Remote-User", "X-Remote-Uid", "X-Remote-Group", "X-Remote-Extra-Team", "X-Remote-Extra-Acme.com%2fproject",
        "X-Remote-Extra-Stolen", "X-Forwarded-Proto", "X-Forwarded-Uri", "X-Forwarded-Host", "X-Forwarded-For")


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # The code of an answer to "/apis/<group>/<version>".
    discovery = 200

    def log_message(self, *_):
        pass

    def reply(self, code, value, **headers):
        body = value if isinstance(value, bytes) else json.dumps(value).encode()
        self.send_response(code)
        headers.setdefault("Content_Type", "application/json")
        for name, text in headers.items():
            self.send_header(name.replace("_", "-"), text)
        if code != 204:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD" and code != 204:
            self.wfile.write(body)

    def echo(self):
        length = int(self.headers.get("Content-Length") or 0)
        if self.headers.get("Transfer-Encoding") == "chunked":
            body = b""
            while size := int(self.rfile.readline(), 16):
                body += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        else:
            body = self.rfile.read(length)
        told = {name: sorted(self.headers.get_all(name)) for name in TOLD if name in self.headers}
        return {"method": self.command, "target": self.path, "headers": told, "body": body.decode()}

    def serve(self):
        parts = urllib.parse.urlsplit(self.path)
        told = self.echo()
        name = parts.path.rsplit("/", 1)[-1]
        if parts.path == BASE and Handler.discovery != 200:
            self.reply(Handler.discovery, {"message": "ill"})
        elif parts.path in DOCUMENTS:
            self.reply(200, DOCUMENTS[parts.path], ETag='"%s"' % name)
        elif name == "hang-up":
            self.connection.shutdown(socket.SHUT_RDWR)
            self.close_connection = True
        elif name.isdigit():
            more = {"302": {"Location": BASE + "/echoes"}, "429": {"Retry_After": "7"}, "503": {"Retry_After": "8"}}
            self.reply(int(name), {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
                                   "message": "as asked", "reason": "Peer", "code": int(name)}, **more.get(name, {}))
        elif name == "text":
            self.reply(200, b"<html><a href=\"/apis/x\">x</a></html>", Content_Type="text/html", X_Own="kept",
                       Connection="keep-alive", Keep_Alive="timeout=5")
        elif parts.path.startswith(BASE + "/"):
            self.reply(200, told, X_Own="kept")
        else:
            self.reply(404, b"404 page not found\n", Content_Type="text/plain")

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = serve


class Listener(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        """A client that goes in mid-request is nothing to tell of."""


@contextlib.contextmanager
def extension_server(pair):
    """The port of one that runs, on every address of the name localhost."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*pair)
    listener = Listener(("127.0.0.1", 0), Handler)
    # The handshake is made by the connection's own thread.
    listener.socket = context.wrap_socket(listener.socket, server_side=True, do_handshake_on_connect=False)
    threading.Thread(target=listener.serve_forever, daemon=True).start()
    try:
        yield listener.server_address[1]
    finally:
        listener.shutdown()
        listener.server_close()
