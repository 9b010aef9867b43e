// What does a schema of the OpenAPI document ask for?

/** The schema that a reference leads to, or the schema itself. */
export function resolve(document, schema) {
  let found = schema ?? {};
  for (let steps = 0; found.$ref && steps < 16; steps += 1) {
    found = found.$ref.slice(2).split("/").reduce((at, key) => at?.[key], document) ?? {};
  }
  return found;
}

/** A value that the schema allows: what a form begins with. Only what is required is in it. */
export function example(document, schema, depth = 0) {
  const found = resolve(document, schema);
  if (found.default !== undefined && found.default !== null) return found.default;
  if (found.const !== undefined) return found.const;
  if (found.enum) return found.enum[0];
  const forms = found.oneOf ?? found.anyOf;
  if (forms) return example(document, forms.find((form) => form.type !== "null") ?? forms[0], depth + 1);
  const type = Array.isArray(found.type) ? found.type.find((one) => one !== "null") : found.type;
  if (type === "object" || found.properties) {
    const value = {};
    if (depth > 5) return value;
    for (const name of found.required ?? []) value[name] = example(document, found.properties?.[name], depth + 1);
    return value;
  }
  if (type === "array") return found.minItems ? [example(document, found.items, depth + 1)] : [];
  if (type === "integer" || type === "number") return found.minimum ?? 0;
  if (type === "boolean") return false;
  return "";
}

/** The keys of an object, each with its type and what it is. */
export function keys(document, schema) {
  const found = resolve(document, schema);
  const forms = found.oneOf ?? found.anyOf ?? [found];
  return forms.map((form) => {
    const { properties = {}, required = [] } = resolve(document, form);
    return Object.entries(properties).map(([name, property]) => ({
      name,
      type: typeOf(document, property),
      description: property.description ?? resolve(document, property).description ?? "",
      required: required.includes(name),
    }));
  });
}

/** The values that the schema allows, if they are few. */
export function choices(document, schema) {
  const found = resolve(document, schema);
  if (found.enum) return found.enum;
  if (found.type === "boolean") return [true, false];
  const forms = (found.oneOf ?? found.anyOf ?? []).map((form) => resolve(document, form)).filter((form) => form.type !== "null");
  if (forms.length === 1) return choices(document, forms[0]);
  const values = forms.map((form) => form.const);
  return values.length > 0 && !values.includes(undefined) ? values : undefined;
}

/** A type in a word. */
export function typeOf(document, schema) {
  const found = resolve(document, schema);
  if (found.const !== undefined) return JSON.stringify(found.const);
  if (found.enum) return found.enum.map((value) => JSON.stringify(value)).join(" | ");
  const forms = found.oneOf ?? found.anyOf;
  if (forms) {
    const names = forms.map((form) => typeOf(document, form)).filter((name) => name !== "null");
    return [...new Set(names)].join(" | ");
  }
  const types = [found.type ?? "any"].flat().filter((type) => type !== "null");
  return types[0] === "array" ? `list of ${typeOf(document, found.items)}` : types.join(" | ");
}
