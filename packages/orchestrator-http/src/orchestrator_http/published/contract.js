"use strict";

// Show the contract that is served beside this page. Texts are set as text, never as markup.

function element(name, text, ...children) {
  const made = document.createElement(name);
  if (text) made.textContent = text;
  made.append(...children.filter(Boolean));
  return made;
}

function prose(text) {
  if (!text) return null;
  const paragraph = element("p", text.trim());
  paragraph.className = "prose";
  return paragraph;
}

function json(value) {
  return element("pre", JSON.stringify(value, null, 2));
}

function folded(title, ...children) {
  return element("details", "", element("summary", "", title), ...children);
}

function resolver(contract) {
  return (node) => {
    while (node && node.$ref) {
      node = node.$ref.slice(2).split("/").reduce((found, name) => found[name], contract);
    }
    return node;
  };
}

function parameters(operation, resolve) {
  const rows = (operation.parameters || []).map(resolve).map((parameter) =>
    element(
      "tr", "",
      element("td", "", element("code", parameter.name)),
      element("td", parameter.in + (parameter.required ? ", required" : "")),
      element("td", (parameter.description || "").trim()),
    ));
  return rows.length ? element("table", "", ...rows) : null;
}

function media(content, resolve) {
  return Object.entries(content || {}).map(([type, described]) => {
    const examples = Object.entries(described.examples || {}).map(([name, example]) =>
      folded("Example: " + name, json(resolve(example).value)));
    return element("div", "", element("p", type), folded("Schema", json(described.schema)), ...examples);
  });
}

function answer(status, described, resolve) {
  const response = resolve(described);
  const headers = Object.keys(response.headers || {}).join(", ");
  return folded(
    status + " " + response.description.trim(),
    headers ? element("p", "Headers: " + headers) : null,
    ...media(response.content, resolve),
  );
}

function operation(method, path, described, resolve) {
  const verb = element("span", method.toUpperCase());
  verb.className = "method";
  const title = element("span", "", verb, element("code", path), " — " + (described.summary || ""));
  return folded(
    title,
    prose(described.description),
    parameters(described, resolve),
    ...(described.requestBody ? media(described.requestBody.content, resolve) : []),
    element("h4", "Answers"),
    ...Object.entries(described.responses).map(([status, response]) => answer(status, response, resolve)),
  );
}

function show(contract) {
  const resolve = resolver(contract);
  document.title = contract.info.title;
  document.getElementById("title").textContent = contract.info.title + " " + contract.info.version;
  document.getElementById("description").textContent = contract.info.description;
  const operations = document.getElementById("operations");
  for (const tag of contract.tags) {
    operations.append(element("h2", tag.name), prose(tag.description));
    for (const [path, methods] of Object.entries(contract.paths)) {
      for (const [method, described] of Object.entries(methods)) {
        if ((described.tags || []).includes(tag.name)) {
          operations.append(operation(method, path, described, resolve));
        }
      }
    }
  }
  const schemas = document.getElementById("schemas");
  for (const [name, schema] of Object.entries(contract.components.schemas)) {
    schemas.append(folded(name, json(schema)));
  }
}

fetch("openapi.json")
  .then((response) => response.json())
  .then(show)
  .catch(() => {
    document.getElementById("description").textContent = "The contract can't be read now: load the page again.";
  });
