"""The resolver: read the pointer, ask whether it may be looked at, and only then look. Whatever text it is given, it answers
with one of five statuses; what the machine cannot do is an error to be tried again, and never a status."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from compaction.durable.values import DurableContextState
from compaction.errors import SourcePointerError, SourceSystemError, UnsupportedSchemeError
from compaction.sources.base import Bounds, Found, Scheme
from compaction.sources.parse import parse_source_pointer
from compaction.sources.pointers import SourcePointer
from compaction.sources.resolution import Finding, SourceResolution

VERSION = "1"  # of the rules: audit rows name it
BOUNDS = ("byte_budget", "deadline")  # causes that another look in the same run would only meet again

Authorise = Callable[[SourcePointer], bool]
"""Whether a pointer may be looked at. Anything but True, and any exception, refuses it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A pointer that could not be looked at; it has no status."""

    pointer: str
    error: SourceSystemError


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """A round: the resolutions in the order of the pointers, and those that must be tried again."""

    resolutions: tuple[SourceResolution, ...]
    failures: tuple[Failure, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolver:
    """Schemes with their roots, the policy that is asked first, and the bounds of a run.

    `tries`: how often a look is made that the machine refuses, before the error is raised.
    """

    schemes: tuple[Scheme, ...]
    authorise: Authorise
    bounds: Bounds = field(default_factory=Bounds)
    tries: int = 2

    def resolve(self, pointer: str, *, run: str = "") -> SourceResolution:
        """The status of one pointer. Raises SourceSystemError."""
        resolved = self.resolve_all([pointer], run=run)
        for failure in resolved.failures:
            raise failure.error
        return resolved.resolutions[0]

    def resolve_all(self, pointers: Iterable[str], *, run: str = "") -> Resolved:
        """The statuses of many, each distinct pointer once. Those of one session are looked up together."""
        distinct = list(dict.fromkeys(pointers))
        found: dict[str, tuple[str | None, Found]] = {}
        groups: dict[tuple[str, str], list[SourcePointer]] = {}
        for text in distinct:
            answer = self._read(text)
            if isinstance(answer, SourcePointer):
                groups.setdefault((answer.kind, answer.session_id), []).append(answer)
            else:
                found[text] = (self._scheme_of(text), answer)
        for (kind, session_id), group in groups.items():
            for pointer, one in zip(group, self._find(kind, session_id, group), strict=True):
                found[pointer.raw] = (kind, one)
        return _sorted(distinct, found, run)

    def _read(self, text: object) -> SourcePointer | Found:
        """The pointer, if it may be looked at."""
        if not isinstance(text, str):
            return Finding(status="corrupt", reason="malformed_pointer")
        try:
            pointer = parse_source_pointer(text, self.schemes)
            return pointer if self._is_allowed(pointer) else Finding(status="denied", reason="policy_denied")
        except UnsupportedSchemeError:
            return Finding(status="unsupported", reason="unsupported_scheme")
        except SourcePointerError:
            return Finding(status="corrupt", reason="malformed_pointer")
        except SourceSystemError as error:
            return error

    def _is_allowed(self, pointer: SourcePointer) -> bool:
        """What the policy says. It may raise SourceSystemError where it could not ask its database: that decides nothing."""
        try:
            return self.authorise(pointer) is True
        except SourceSystemError:
            raise
        except Exception:  # whatever went wrong in a policy, it did not allow
            return False

    def _scheme_of(self, text: object) -> str | None:
        name = text.partition(":")[0] if isinstance(text, str) else ""
        return name if any(scheme.name == name for scheme in self.schemes) else None

    def _find(self, kind: str, session_id: str, group: Sequence[SourcePointer]) -> list[Found]:
        scheme = next(scheme for scheme in self.schemes if scheme.name == kind)
        found = _look(scheme, session_id, group, self.bounds)
        for _ in range(self.tries - 1):
            failed = [place for place, one in enumerate(found) if isinstance(one, SourceSystemError) and one.cause not in BOUNDS]
            again = _look(scheme, session_id, [group[place] for place in failed], self.bounds) if failed else []
            for place, one in zip(failed, again, strict=True):
                found[place] = one
        return found


def resolve_durable_sources(state: DurableContextState, resolver: Resolver, *, run: str = "") -> tuple[SourceResolution, ...]:
    """A resolution for each distinct pointer of the facts, then of the pending items, in their order. Retrieval evidence is
    not resolved. Raises SourceSystemError: a round with a gap binds nothing."""
    resolved = resolver.resolve_all(state.pointers, run=run)
    for failure in resolved.failures:
        raise failure.error
    return resolved.resolutions


def _look(scheme: Scheme, session_id: str, group: Sequence[SourcePointer], bounds: Bounds) -> list[Found]:
    try:
        return scheme.find(session_id, group, bounds)
    except SourceSystemError as error:
        return [error] * len(group)
    except MemoryError:
        return [SourceSystemError("there was no memory to look at a source: try again", cause="no_memory")] * len(group)


def _sorted(pointers: Sequence[str], found: dict[str, tuple[str | None, Found]], run: str) -> Resolved:
    resolutions: list[SourceResolution] = []
    failures: list[Failure] = []
    for pointer in pointers:
        source_type, one = found[pointer]
        if isinstance(one, SourceSystemError):
            failures.append(Failure(pointer=pointer, error=one))
        else:
            resolutions.append(SourceResolution.of(pointer, source_type, one, run=run))
    return Resolved(resolutions=tuple(resolutions), failures=tuple(failures))
