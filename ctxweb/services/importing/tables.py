"""Writing and removing many rows in bounded memory, past the objects of the ORM."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, TypeVar

from django.db import connection, models

BATCH_ROWS = 500
DELETE_ROWS = 5_000
_CONVERTED = (models.DateTimeField, models.JSONField)
_Item = TypeVar("_Item")


def batches(items: Iterable[_Item], size: int = BATCH_ROWS) -> Iterator[list[_Item]]:
    """The items in lists of at most `size`."""
    iterator = iter(items)
    while batch := list(islice(iterator, size)):
        yield batch


def rows_insert(model: type[models.Model], names: Sequence[str], rows: Iterable[Sequence[Any]], *, skip_known: bool = False) -> None:
    """Insert rows of values given in the order of the attribute `names`; each value has its column's Python type.

    `skip_known` passes over rows that a unique constraint of the table knows already.
    """
    fields = [_field(model, name) for name in names]
    converted = [(place, field) for place, field in enumerate(fields) if isinstance(field, _CONVERTED)]
    columns = ", ".join(connection.ops.quote_name(str(field.column)) for field in fields)
    places = ", ".join(["%s"] * len(fields))
    table = connection.ops.quote_name(model._meta.db_table)
    conflict = " ON CONFLICT DO NOTHING" if skip_known else ""
    with connection.cursor() as cursor:
        cursor.executemany(f"INSERT INTO {table} ({columns}) VALUES ({places}){conflict}", [_prepared(row, converted) for row in rows])


def rows_delete(model: type[models.Model], *, commit: Callable[[], Any], **where: Any) -> None:
    """Delete the rows of a filter in batches, each in the transaction that `commit` opens; nothing cascades."""
    rows = model._default_manager.filter(**where).order_by("pk")
    while keys := list(rows.values_list("pk", flat=True)[:DELETE_ROWS]):
        with commit():
            model._default_manager.filter(pk__gte=keys[0], pk__lte=keys[-1], **where)._raw_delete(connection.alias)


def _field(model: type[models.Model], name: str) -> models.Field[Any, Any]:
    return next(field for field in model._meta.concrete_fields if name in (field.name, field.attname))


def _prepared(row: Sequence[Any], converted: Sequence[tuple[int, models.Field[Any, Any]]]) -> Sequence[Any]:
    if not converted:
        return row
    values = list(row)
    for place, field in converted:
        if values[place] is not None:
            values[place] = field.get_db_prep_save(values[place], connection)
    return values
