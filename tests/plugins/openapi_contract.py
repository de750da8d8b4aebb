"""The OpenAPI contract, and answers held against it."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import httpx2
from attrs import frozen
from jsonschema_rs import Draft202012Validator
from openapi_spec_validator.readers import read_from_filename

from orchestrator_domain.exact_json.text import parse_json

CONTRACT_FILE = Path(__file__).parents[2] / "contracts" / "openapi.yaml"
# What every answer may carry without a word in the contract.
_ORDINARY_HEADERS = {"content-type", "content-length", "cache-control", "x-content-type-options"}
_METHODS = {"get", "put", "post", "delete", "options", "head", "patch", "trace"}


@frozen(kw_only=True)
class Operation:
    """One method of one path, with its references resolved at their first level."""

    method: str
    path: str
    content: Mapping[str, Any]


@frozen(kw_only=True)
class Contract:
    """The document, and the questions that tests ask of it."""

    document: Mapping[str, Any]

    def operations(self) -> Iterator[Operation]:
        for path, methods in self.document["paths"].items():
            for method in methods.keys() & _METHODS:
                yield Operation(method=method.upper(), path=path, content=methods[method])

    def operation(self, method: str, path: str) -> Operation:
        """Return the operation whose template a path fits."""
        fitting = (found for found in self.operations() if found.method == method and _fits(found.path, path))
        return next(fitting)

    def resolved(self, node: Mapping[str, Any]) -> Mapping[str, Any]:
        """Follow a reference within the document, if the node is one."""
        while "$ref" in node:
            target: Any = self.document
            for name in node["$ref"].removeprefix("#/").split("/"):
                target = target[name]
            node = target
        return node

    def responses(self, operation: Operation) -> Iterator[tuple[str, Mapping[str, Any]]]:
        for status, response in operation.content["responses"].items():
            yield status, self.resolved(response)

    def faults(self, schema: Mapping[str, Any], value: object) -> list[str]:
        """Say where a value breaks a schema of the document."""
        whole = {**schema, "components": self.document["components"]}
        validator = Draft202012Validator(whole, validate_formats=True, offline=True)
        return [error.message for error in validator.iter_errors(value)]

    def answer_faults(self, answer: httpx2.Response) -> list[str]:
        """Say where an answer leaves the contract: its status, a header, its media type or its body."""
        request = answer.request
        operation = self.operation(request.method, request.url.path)
        response = dict(self.responses(operation)).get(str(answer.status_code))
        if response is None:
            return [f"{request.method} {operation.path} has no {answer.status_code}"]
        return [*self._header_faults(response, answer), *self._body_faults(response, answer)]

    def _header_faults(self, response: Mapping[str, Any], answer: httpx2.Response) -> Iterator[str]:
        described = {name.lower(): self.resolved(header) for name, header in response["headers"].items()}
        for name, value in answer.headers.items():
            if name in described:
                yield from (f"{name}: {fault}" for fault in self.faults(described[name]["schema"], value))
            elif name not in _ORDINARY_HEADERS:
                yield f"{name} is not described"

    def _body_faults(self, response: Mapping[str, Any], answer: httpx2.Response) -> Iterator[str]:
        if "content" not in response:
            yield from ["a body is not described"] if answer.content else []
            return
        media = response["content"].get(answer.headers["content-type"])
        if media is None:
            yield f"{answer.headers['content-type']} is not described"
        else:
            is_json = answer.headers["content-type"].endswith("json")
            yield from self.faults(media["schema"], parse_json(answer.content) if is_json else answer.text)


def openapi_contract() -> Contract:
    document, _ = read_from_filename(str(CONTRACT_FILE))
    return Contract(document=document)


def _fits(template: str, path: str) -> bool:
    parts, names = template.split("/"), path.split("/")
    return len(parts) == len(names) and all(
        part == name or part.startswith("{") for part, name in zip(parts, names, strict=True)
    )
