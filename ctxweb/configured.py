"""Object stores and repositories, as the file of `CTXWEB_SOURCES` names them: addresses and keys that belong in no database.

```json
{"stores": [{"name": "evidence", "endpoint": "https://s3.example.org", "bucket": "evidence", "region": "eu-central-1",
             "access_key": "…", "secret_key": "…", "session_token": "", "prefixes": {"local": "local/"}}],
 "repositories": [{"name": "app", "folder": "/srv/git/app.git", "projects": ["local"]}]}
```
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured

from compaction.errors import SourcePointerError
from compaction.sources.pointers import checked_component

_STORE_TEXTS = {
    "name": True,
    "endpoint": True,
    "bucket": True,
    "region": False,
    "access_key": True,
    "secret_key": True,
    "session_token": False,
}
_REPOSITORY_TEXTS = {"name": True, "folder": True}


@dataclass(frozen=True, slots=True, kw_only=True)
class Store:
    """A bucket of an S3-compatible store. `prefixes` gives for each project the beginning of the keys that are its own."""

    name: str
    endpoint: str
    bucket: str
    region: str = "us-east-1"
    access_key: str = field(repr=False)
    secret_key: str = field(repr=False)
    session_token: str = field(default="", repr=False)
    prefixes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Repository:
    """A git repository of this machine, and the projects that may look at it."""

    name: str
    folder: str
    projects: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Configured:
    """All stores and repositories of this installation, by name."""

    stores: Mapping[str, Store] = field(default_factory=dict)
    repositories: Mapping[str, Repository] = field(default_factory=dict)


def configured_sources(file: Path) -> Configured:
    """What the file names; nothing where there is none. Raises ImproperlyConfigured with the place of what is wrong, and
    no secret."""
    if not file.exists():
        return Configured()
    try:
        given = json.loads(file.read_bytes())
    except (OSError, ValueError):
        raise _refused(f"{file} cannot be read as JSON") from None
    if not isinstance(given, dict) or not given.keys() <= {"stores", "repositories"}:
        raise _refused(f"{file}: an object with stores and repositories is expected, and no other keys")
    stores = [_store(one, f"stores.{place}") for place, one in enumerate(_list(given, "stores"))]
    repositories = [_repository(one, f"repositories.{place}") for place, one in enumerate(_list(given, "repositories"))]
    return Configured(stores={one.name: one for one in stores}, repositories={one.name: one for one in repositories})


def _list(given: dict[str, object], name: str) -> list[object]:
    values = given.get(name, [])
    if not isinstance(values, list):
        raise _refused(f"{name} is no list")
    names = [one.get("name") for one in values if isinstance(one, dict)]
    if len({str(one) for one in names}) != len(names):
        raise _refused(f"two of {name} have one name")
    return values


def _store(given: object, place: str) -> Store:
    texts, prefixes = _texts(given, _STORE_TEXTS, "prefixes", place)
    address = urlsplit(texts["endpoint"])
    if address.scheme not in ("http", "https") or not address.hostname or address.query or address.username:
        raise _refused(f"{place}.endpoint is no http or https address")
    if not isinstance(prefixes, dict) or not all(isinstance(prefix, str) and prefix.endswith("/") for prefix in prefixes.values()):
        raise _refused(f"{place}.prefixes names for each project a beginning of keys that ends with /")
    return Store(**{name: text for name, text in texts.items() if text}, prefixes=prefixes)


def _repository(given: object, place: str) -> Repository:
    texts, projects = _texts(given, _REPOSITORY_TEXTS, "projects", place)
    if not Path(texts["folder"]).is_absolute():
        raise _refused(f"{place}.folder is no absolute path")
    if not isinstance(projects, list) or not all(isinstance(one, str) for one in projects):
        raise _refused(f"{place}.projects is no list of projects")
    return Repository(**texts, projects=tuple(projects))


def _texts(given: object, names: Mapping[str, bool], owners: str, place: str) -> tuple[dict[str, str], object]:
    if not isinstance(given, dict) or not given.keys() <= {*names, owners}:
        raise _refused(f"{place} is an object with {', '.join(names)} and {owners}, and no other keys")
    texts = {name: given.get(name, "") for name in names}
    for name, is_required in names.items():
        if not isinstance(texts[name], str) or (is_required and not texts[name]):
            raise _refused(f"{place}.{name} is no text")
    try:
        checked_component(texts["name"], "name")
    except SourcePointerError:
        raise _refused(f"{place}.name is not one name that a pointer can hold") from None
    return texts, given.get(owners)


def _refused(what: str) -> ImproperlyConfigured:
    return ImproperlyConfigured(f"CTXWEB_SOURCES: {what}.")
