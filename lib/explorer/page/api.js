// Requests to the server that this page comes from.

export const TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";
const YAML = "application/yaml";

const TITLES = {
  400: "Bad request", 401: "Not signed in", 403: "Not allowed", 404: "Not found",
  409: "Conflict", 410: "Too old", 422: "Invalid", 429: "Too many requests",
};

// An answer of the server that is an error, or no answer (code 0).
export class ApiError extends Error {
  // `status`: the Status that the server sent. Null: it sent something else.
  constructor(code, message, status = null, retryAfter = 0) {
    super(message);
    this.code = code;
    this.status = status;
    this.retryAfterSeconds = retryAfter;
    this.title = code === 0 ? "No connection" : `${TITLES[code] ?? "Error"} (${code})`;
  }
}

export class Api {
  // `token`: returns the bearer token; empty: the browser's client certificate, if any, decides.
  // `onUnauthorized`: called when the server answers 401.
  constructor(token, onUnauthorized) {
    this.token = token;
    this.onUnauthorized = onUnauthorized;
  }

  // Sends a request and returns the response, whose body is not read yet. Throws an ApiError unless
  // the code is 2xx. Options: method, query, accept, body, contentType, signal.
  async send(path, options = {}) {
    const query = new URLSearchParams(options.query ?? {}).toString();
    const headers = { Accept: options.accept ?? "application/json" };
    const token = this.token();
    if (token) headers.Authorization = `Bearer ${token}`;
    if (options.contentType) headers["Content-Type"] = options.contentType;
    let response;
    try {
      response = await fetch(query ? `${path}?${query}` : path, {
        method: options.method ?? "GET", headers, body: options.body, signal: options.signal,
        credentials: "same-origin", cache: "no-cache", redirect: "follow",
      });
    } catch (error) {
      if (error.name === "AbortError") throw error;
      throw new ApiError(0, "The server does not answer.");
    }
    if (response.ok) return response;
    const failure = await errorOf(response);
    if (failure.code === 401) this.onUnauthorized(failure);
    throw failure;
  }

  async json(path, options) {
    return (await this.send(path, options)).json();
  }

  // Asks for YAML and returns {text, warnings}. The request must change nothing: an error comes in
  // YAML, too, which this page cannot read, so that it is asked for again in JSON.
  async yaml(path, options = {}) {
    let response;
    try {
      response = await this.send(path, { ...options, accept: YAML });
    } catch (error) {
      if (!(error instanceof ApiError) || error.status || !error.code) throw error;
      await this.send(path, options);
      throw error;
    }
    return { text: await response.text(), warnings: warningsOf(response) };
  }
}

async function errorOf(response) {
  const retryAfter = Number(response.headers.get("Retry-After")) || 0;
  const text = await response.text().catch(() => "");
  try {
    const status = JSON.parse(text);
    if (status.kind === "Status") {
      return new ApiError(response.status, String(status.message), status, retryAfter);
    }
  } catch {
    // The answer is no JSON: its text is the message.
  }
  return new ApiError(response.status, text.slice(0, 500) || response.statusText, null, retryAfter);
}

// Returns the texts of the header Warning: 299 - "text".
function warningsOf(response) {
  const header = response.headers.get("Warning") ?? "";
  return [...header.matchAll(/299 \S+ "((?:[^"\\]|\\.)*)"/g)]
    .map((match) => match[1].replace(/\\(.)/g, "$1"));
}

// Yields the objects of a stream of lines of JSON, those that have come together in one array.
export async function* jsonLines(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const lines = (rest + value).split("\n");
    rest = lines.pop();
    const objects = lines.filter((line) => line.trim()).map((line) => JSON.parse(line));
    if (objects.length) yield objects;
  }
}
