// The page: a form for every operation, and the answer below it.
import { choices, example, keys, resolve, typeOf } from "./schema.js";

const METHODS = ["get", "post", "put", "patch", "delete"];
/** Most characters of an answer that are shown. */
const SHOWN = 200000;

/** Where the server is on its host: the page is at `api/docs` of it. */
const root = new URL("..", location.href).pathname.slice(0, -1);

const by = (id) => document.getElementById(id);

/** An element with attributes and children; texts are texts, never markup. */
function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== false) element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children);
  return element;
}

let api = {};
let fields = 0;

/** A field of a form for a parameter or a part of a form. */
function field(name, schema, { description = "", required = false, note = "" } = {}) {
  const found = resolve(api, schema);
  const id = `field-${(fields += 1)}`;
  const values = choices(api, found);
  const isFile = found.type === "array" && resolve(api, found.items).format === "binary";
  let input;
  if (isFile) {
    input = make("input", { id, name, type: "file", multiple: true, required });
  } else if (values) {
    input = make("select", { id, name }, make("option", { value: "" }, "not given"));
    input.append(...values.map((value) => make("option", { value }, String(value))));
  } else {
    const isNumber = found.type === "integer" || found.type === "number" || [found.type].flat().includes("integer");
    input = make("input", { id, name, type: isNumber ? "number" : "text", step: isNumber ? "any" : undefined, required,
      min: found.minimum, max: found.maximum, autocomplete: "off", spellcheck: "false" });
  }
  const hint = [description || found.description, note].filter(Boolean).join(" ");
  const label = make("label", { for: id }, name, required ? " (required)" : "");
  if (hint) {
    input.setAttribute("aria-describedby", `${id}-hint`);
    label.append(make("small", { id: `${id}-hint` }, hint));
  }
  return { element: make("div", {}, label, input), input, name, isFile };
}

/** The part of a form for the body of a request. */
function bodyOf(operation) {
  const content = operation.requestBody?.content ?? {};
  const json = content["application/json"]?.schema;
  const form = content["multipart/form-data"]?.schema;
  const parts = [];
  let text;
  if (json) {
    text = make("textarea", { spellcheck: "false", "aria-label": "Body, as JSON" });
    text.value = JSON.stringify(example(api, json), null, 2);
    parts.push(make("h3", {}, "Body, as JSON"), text);
    const forms = keys(api, json).filter((form) => form.length > 0);
    for (const [at, form] of forms.entries()) {
      const list = make("ul");
      for (const key of form) {
        const about = `: ${key.type}${key.required ? ", required" : ""}. ${key.description}`;
        list.append(make("li", {}, make("code", {}, key.name), about));
      }
      const name = forms.length > 1 ? `Keys of the body, form ${at + 1}` : "Keys of the body";
      parts.push(make("details", {}, make("summary", {}, name), list));
    }
  }
  const uploads = form ? Object.entries(form.properties).map(([name, schema]) => field(name, schema)) : [];
  if (form) {
    const around = make("div", { class: "fields" }, ...uploads.map((upload) => upload.element));
    parts.push(make("h3", {}, "Or files, as a form"), make("p", {}, "A chosen file is sent instead of the JSON."), around);
  }
  const read = () => {
    const files = uploads.find((upload) => upload.isFile)?.input.files ?? [];
    if (files.length > 0) {
      const data = new FormData();
      for (const upload of uploads) {
        if (upload.isFile) for (const file of upload.input.files) data.append(upload.name, file);
        else if (upload.input.value !== "") data.append(upload.name, upload.input.value);
      }
      return { body: data };
    }
    if (!text) return {};
    JSON.parse(text.value);
    return { body: text.value, type: "application/json" };
  };
  return { parts, read };
}

/** The answer to a request. */
async function show(response, output, started) {
  const time = Math.round(performance.now() - started);
  const status = make("p", { class: response.ok || response.status === 304 ? "status" : "status bad" });
  status.append(`${response.status} ${response.statusText}, ${time} ms`);
  const pre = make("pre", { tabindex: "0", "aria-label": "Answer" });
  const headers = ["location", "etag", "content-type"].map((name) => [name, response.headers.get(name)]);
  const shown = headers.filter(([, value]) => value).map(([name, value]) => `${name}: ${value}`);
  output.replaceChildren(status, make("p", { class: "hint" }, shown.join("; ")), pre);
  const type = response.headers.get("content-type") ?? "";
  if (type.startsWith("text/event-stream")) {
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    for (let part = await reader.read(); !part.done; part = await reader.read()) pre.append(part.value);
    return;
  }
  const text = await response.text();
  const isJson = /^application\/([a-z.+-]*\+)?json/.test(type);
  const whole = isJson && text ? JSON.stringify(JSON.parse(text), null, 2) : text;
  pre.append(whole.length > SHOWN ? `${whole.slice(0, SHOWN)}\n… ${whole.length - SHOWN} further characters` : whole);
}

/** An operation as a form. */
function operationOf(path, method, operation) {
  const parameters = (operation.parameters ?? []).map((parameter) => {
    const isList = resolve(api, parameter.schema).type === "array";
    const type = typeOf(api, parameter.schema);
    const isPlain = type === "string" || choices(api, parameter.schema);
    const note = isList ? "Several values are separated by commas." : isPlain ? "" : `(${type})`;
    return { ...field(parameter.name, isList ? {} : parameter.schema, { ...parameter, note }), place: parameter.in, isList };
  });
  const body = bodyOf(operation);
  const send = make("button", { type: "submit" }, "Send");
  const output = make("output", { "aria-live": "polite" });
  const around = make("div", { class: "fields" }, ...parameters.map((parameter) => parameter.element));
  const form = make("form", {}, around, ...body.parts, send, output);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const query = new URLSearchParams();
    const headers = new Headers();
    let address = root + path;
    for (const { name, place, input, isList } of parameters) {
      if (place === "path") address = address.replace(`{${name}}`, encodeURIComponent(input.value));
      else if (input.value === "") continue;
      else if (place === "header") headers.set(name, input.value);
      else for (const value of isList ? input.value.split(",") : [input.value]) query.append(name, value.trim());
    }
    if (query.size > 0) address += `?${query}`;
    if (by("key").value) headers.set("Authorization", `Bearer ${by("key").value}`);
    send.disabled = true;
    try {
      const { body: sent, type } = body.read();
      if (type) headers.set("Content-Type", type);
      const started = performance.now();
      await show(await fetch(address, { method: method.toUpperCase(), headers, body: sent }), output, started);
    } catch (error) {
      output.replaceChildren(make("p", { class: "status bad" }, error.message));
    } finally {
      send.disabled = false;
    }
  });
  const name = make("span", { class: `method ${method}` }, method.toUpperCase());
  const summary = make("summary", {}, name, make("span", { class: "path" }, path), make("span", { class: "what" }, operation.summary));
  const details = make("details", { id: operation.operationId }, summary, form);
  details.dataset.words = `${method} ${path} ${operation.operationId} ${operation.summary}`.toLowerCase();
  return details;
}

function list() {
  const groups = new Map();
  for (const [path, item] of Object.entries(api.paths)) {
    for (const method of METHODS.filter((method) => item[method])) {
      const [group] = item[method].tags;
      if (!groups.has(group)) groups.set(group, []);
      groups.get(group).push(operationOf(path, method, item[method]));
    }
  }
  for (const [group, operations] of groups) {
    const id = `group-${group.replaceAll(" ", "-")}`;
    by("groups").append(make("a", { href: `#${id}` }, group));
    by("operations").append(make("section", { "aria-labelledby": id }, make("h2", { id }, group), ...operations));
  }
}

by("find").addEventListener("input", (event) => {
  const words = event.target.value.toLowerCase().split(/\s+/);
  for (const section of document.querySelectorAll("main section")) {
    const operations = [...section.querySelectorAll(":scope > details")];
    for (const details of operations) details.hidden = !words.every((word) => details.dataset.words.includes(word));
    section.hidden = operations.every((details) => details.hidden);
  }
});

try {
  const response = await fetch("openapi.json");
  if (!response.ok) throw new Error(`the OpenAPI document was refused: ${response.status} ${response.statusText}`);
  api = await response.json();
  by("summary").replaceChildren(`${api.info.summary} Version ${api.info.version}. `, make("a", { href: "openapi.json" }, "OpenAPI document"));
  list();
  document.getElementById(location.hash.slice(1))?.setAttribute("open", "");
} catch (error) {
  by("summary").replaceChildren(error.message);
}
