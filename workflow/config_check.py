"""Refuses a config that cannot run, before any job starts: one line for each fault, with its key and what is allowed.

schemas/config.schema.yaml says what each value may be by itself, config_rules.py what must fit together.
"""

import math
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml
from baselines_rules import baseline_faults, baseline_name_faults
from config_rules import KeyPath, got, grid_faults, line, name_faults, nearest, size_faults, team_faults
from grid import Config
from slices_names import slices_name_faults
from slices_rules import slices_grid_faults, slices_size_faults, system_faults

if TYPE_CHECKING:
    from jsonschema import ValidationError

SCHEMA = Path(__file__).with_name("schemas") / "config.schema.yaml"
DEEPEST = 12  # blocks in blocks: a YAML anchor that holds itself ends here
LARGEST = 2**53  # beyond it a float is no exact count
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
BOUNDS = {"minimum": "at least", "exclusiveMinimum": "above", "maximum": "at most", "exclusiveMaximum": "below"}
KINDS = {
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true, false",
    "array": "a list",
    "object": "a block",
}


def folder_faults(folder: Path, checkout: Path, given: list[Path]) -> list[str]:
    """Return what is wrong with running in `folder` on these config files: nothing, or a line.

    A folder runs/NAME of the checkout holds the grid of workflow/config/NAME.yaml, where there is such a file; one that
    is no scale with a profile of its own comes on top of tiny.yaml. A --configfile takes the place of the profile's.
    """
    names = [file.stem for file in (checkout / "workflow/config").glob("*.yaml")]
    name = next((name for name in names if (checkout / "runs" / name).resolve() == folder), None)  # it may be a link
    if name is None:
        return []
    files = [f"workflow/config/{name}.yaml"]
    if not (checkout / "workflow/profiles" / name).is_dir():
        files = ["workflow/config/tiny.yaml", *files]
    if {checkout / file for file in files} <= {path.resolve() for path in given}:
        return []
    first = " ".join(files)
    return [f"runs/{name} is for {first}: begin with that, --configfile {first}, and go on with your own files"]


def check(
    config: Any,
    *,
    operators: set[str],
    loaders: set[str],
    scorers: set[str],
    teams: Mapping[str, Mapping[str, Any]],
    schema: Config | None = None,
) -> tuple[Config, list[str]]:
    """Return a copy of `config` with every number read as one, and the faults, one line each; raises nothing.

    Text such as "1e-5" where the schema wants a number becomes that number, 250.0 where it wants an integer 250, and 1
    where it wants a number 1.0, so that equal settings give equal cells. operators, loaders, scorers: module names;
    teams: what the methods of baselines say of themselves (choice.teams); schema: by default the one that is shipped.
    """
    faults: list[str] = []
    plain = _plain(config, (), faults)
    if not faults:
        faults = _fit_schema(plain, schema or read_schema())
    if not faults:
        modules = {"operator": operators, "loader": loaders, "scorer": scorers}
        faults = [*name_faults(plain, modules), *slices_name_faults(plain), *baseline_name_faults(plain, teams)]
    if not faults:
        faults = [*grid_faults(plain), *team_faults(plain), *size_faults(plain)]
        faults += [*system_faults(plain), *baseline_faults(plain, teams)]
    if not faults:
        faults = [*slices_grid_faults(plain), *slices_size_faults(plain)]
    return (plain if isinstance(plain, dict) else {}), faults


def read_schema() -> Config:
    return yaml.load(SCHEMA.read_text("utf-8"), getattr(yaml, "CSafeLoader", yaml.SafeLoader))


def _plain(value: Any, path: KeyPath, faults: list[str]) -> Any:
    """Return a copy of `value`; whatever JSON cannot hold is added to `faults`."""
    if len(path) > DEEPEST:
        faults.append(line(path, "nested too deep", f"{DEEPEST} levels"))
        return None
    if isinstance(value, dict):
        keys = [key for key in value if isinstance(key, str) and key.isprintable()]
        for key in [key for key in value if key not in keys]:
            faults.append(line(path, f"for a key {got(key)}", "printable text (quote on, no and numbers)"))
        return {key: _plain(value[key], (*path, key), faults) for key in keys}
    if isinstance(value, list):
        return [_plain(item, (*path, index), faults) for index, item in enumerate(value)]
    if isinstance(value, str) and not value.isprintable():
        faults.append(line(path, got(value), "text without line breaks and control characters"))
    elif isinstance(value, int | float) and not abs(value) <= LARGEST:
        faults.append(line(path, got(value), f"finite numbers, at most {LARGEST}"))
    elif not isinstance(value, str | int | float | None):
        faults.append(line(path, got(value), "text, a number, true, false, a list or a block (quote dates)"))
    return value


def _fit_schema(config: Any, schema: Config) -> list[str]:
    """Return what `schema` refuses in `config`, in which the numbers are read in place."""
    from jsonschema import Draft202012Validator, ValidationError, validators

    def strict_type(validator, wanted, instance, schema):  # JSON Schema takes 250.0 for an integer and 1 for a number
        strict = {"integer": int, "number": float}.get(wanted)
        if not (type(instance) is strict if strict else validator.is_type(instance, wanted)):
            yield ValidationError(f"not of type {wanted}")

    validator = validators.extend(Draft202012Validator, {"type": strict_type})(_inlined(schema, schema))
    errors = list(validator.iter_errors(config))
    inner = [error for outer in errors if outer.validator == "anyOf" for error in outer.context]
    read = [_read_number(config, error) for error in [*errors, *inner] if error.validator == "type"]
    if any(read):
        errors = list(validator.iter_errors(config))
    errors.sort(key=lambda error: [str(key) for key in error.absolute_path])
    return list(dict.fromkeys(fault for error in errors for fault in _schema_faults(error)))


def _inlined(schema: Any, root: Config) -> Any:
    """Return `schema` with each $ref replaced by the definition it names; keys beside it win."""
    if isinstance(schema, list):
        return [_inlined(item, root) for item in schema]
    if not isinstance(schema, dict):
        return schema
    target = root if "$ref" in schema else {}
    for key in schema.get("$ref", "#").split("/")[1:]:
        target = target[key]
    own = {key: _inlined(value, root) for key, value in schema.items() if key not in ("$ref", "$defs")}
    return {**_inlined(target, root), **own} if target else own


def _read_number(config: Any, error: "ValidationError") -> bool:
    """Put the number that a refused value means in its place; False where it means none of the wanted type."""
    value, wanted = error.instance, error.validator_value
    if isinstance(value, str) and NUMBER.fullmatch(value.strip()):
        value = float(value)
    if wanted not in ("integer", "number") or isinstance(value, bool) or not isinstance(value, int | float):
        return False
    if not math.isfinite(value) or (wanted == "integer" and value != int(value)):
        return False
    *parents, last = error.absolute_path
    for key in parents:
        config = config[key]
    config[last] = int(value) if wanted == "integer" else float(value)
    return True


def _schema_faults(error: "ValidationError") -> Iterator[str]:
    path, value, schema = tuple(error.absolute_path), error.instance, error.schema
    known = schema.get("properties", {})
    if error.validator == "additionalProperties":
        for key in [key for key in value if key not in known]:
            yield line((*path, key), f"no such key{nearest(key, known)}", ", ".join(known))
    elif error.validator == "required":
        for key in [key for key in error.validator_value if key not in value]:
            yield line((*path, key), "missing", _allowed(known[key]))
    elif error.validator == "uniqueItems":
        twice = next(item for index, item in enumerate(value) if item in value[:index])
        yield line(path, f"{got(twice)} twice", "each item once")
    else:
        yield line(path, got(value, schema.get("enum", ())), _allowed(schema))


def _allowed(schema: Config) -> str:
    """Return in words what `schema` lets pass."""
    if "enum" in schema:
        return ", ".join(schema["enum"])
    kind = KINDS.get(schema.get("type"), "")
    if limits := [f"{words} {schema[key]:.15g}" for key, words in BOUNDS.items() if key in schema]:
        return ", ".join([kind, *limits])
    described = schema.get("description", "").rstrip(".")
    described = described[:1].lower() + described[1:]
    return kind if schema.get("type") == "boolean" else ": ".join(filter(None, [kind, described]))
