# SPDX-FileCopyrightText: 2026 The Linnet contributors
# SPDX-License-Identifier: Apache-2.0
"""Holds JSON values against an OpenRPC document, with the standard library alone."""

import json

# A keyword that is not here is a fault of the document or of this file, never passed over.
KNOWN = {
    "$ref", "type", "properties", "required", "additionalProperties", "items", "enum", "oneOf", "minimum", "maximum",
    "minLength", "maxLength", "minItems", "maxItems", "description", "title", "default", "examples", "format",
}

TYPES = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": lambda value: isinstance(value, (int, float)) and not isinstance(value, bool),
}


class Document:
    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            self.root = json.load(file)
        self.methods = {method["name"]: method for method in self.root["methods"]}
        self.notifications = {note["name"]: note for note in self.root.get("x-notifications", [])}
        self.codes = {name: error["code"] for name, error in self.root["components"]["errors"].items()}

    def schema(self, name):
        return self.root["components"]["schemas"][name]

    def resolve(self, reference):
        node = self.root
        for part in reference.removeprefix("#/").split("/"):
            node = node[part]
        return node

    def faults(self, value, schema, path="$"):
        """Everything about `value` that is not as `schema` says."""
        if "$ref" in schema:
            return self.faults(value, self.resolve(schema["$ref"]), path)
        found = [f"{path}: the document uses an unknown keyword {word}" for word in schema.keys() - KNOWN]
        kinds = schema.get("type")
        kinds = [kinds] if isinstance(kinds, str) else kinds
        if kinds and not any(TYPES[kind](value) for kind in kinds):
            return found + [f"{path}: {json.dumps(value)[:80]} is not {' or '.join(kinds)}"]
        if "enum" in schema and value not in schema["enum"]:
            found.append(f"{path}: {json.dumps(value)} is none of {schema['enum']}")
        if "oneOf" in schema:
            fitting = [option for option in schema["oneOf"] if not self.faults(value, option, path)]
            if len(fitting) != 1:
                found.append(f"{path}: {json.dumps(value)[:80]} fits {len(fitting)} of {len(schema['oneOf'])} forms")
        found += self.size_faults(value, schema, path)
        if isinstance(value, dict):
            found += self.member_faults(value, schema, path)
        if isinstance(value, list) and "items" in schema:
            for number, item in enumerate(value):
                found += self.faults(item, schema["items"], f"{path}[{number}]")
        return found

    @staticmethod
    def size_faults(value, schema, path):
        limits = []
        if TYPES["number"](value):
            limits = [("minimum", value, 1), ("maximum", value, -1)]
        elif isinstance(value, str):
            limits = [("minLength", len(value), 1), ("maxLength", len(value), -1)]
        elif isinstance(value, list):
            limits = [("minItems", len(value), 1), ("maxItems", len(value), -1)]
        return [
            f"{path}: {size} breaks {word} {schema[word]}"
            for word, size, sign in limits if word in schema and sign * (size - schema[word]) < 0
        ]

    def member_faults(self, value, schema, path):
        found = [f"{path}: {name} is missing" for name in schema.get("required", []) if name not in value]
        known = schema.get("properties", {})
        for name, member in value.items():
            if name in known:
                found += self.faults(member, known[name], f"{path}.{name}")
            elif schema.get("additionalProperties") is False:
                found.append(f"{path}: {name} is not known")
            elif isinstance(schema.get("additionalProperties"), dict):
                found += self.faults(member, schema["additionalProperties"], f"{path}.{name}")
        return found

    def result_faults(self, method, result):
        return self.faults(result, self.methods[method]["result"]["schema"], method)

    def notification_faults(self, name, params):
        if name not in self.notifications:
            return [f"{name}: a notification that the document does not know"]
        return self.faults(params, self.notifications[name]["params"], name)

    def error_faults(self, error):
        """An error must have a code, a sentence, and a reason that belongs to the code."""
        if not isinstance(error, dict) or not isinstance(error.get("message"), str) or not error["message"]:
            return [f"an error without a sentence: {error}"]
        data = error.get("data")
        if not isinstance(data, dict):
            return [f"an error without data: {error}"]
        known = self.root["components"]["errors"].get(data.get("reason"))
        if known is None:
            return [f"an error for a reason that the document does not know: {error}"]
        if known["code"] != error.get("code") or known["data"]["family"] != data.get("family"):
            return [f"an error whose code or family is not that of its reason: {error}"]
        return []


def merge(target, patch):
    """JSON Merge Patch, RFC 7396."""
    if not isinstance(patch, dict):
        return patch
    merged = dict(target) if isinstance(target, dict) else {}
    for name, value in patch.items():
        if value is None:
            merged.pop(name, None)
        else:
            merged[name] = merge(merged.get(name), value)
    return merged
