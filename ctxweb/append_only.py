"""Tables that only grow. Triggers of the database refuse to change or to remove a row, whoever asks; the hash chain of the audit
tells of those who take the triggers away first."""

from __future__ import annotations

from collections.abc import Iterator

from django.db.backends.base.base import BaseDatabaseWrapper

APPEND_ONLY = {
    # table: the columns that name a row, beside its id
    "ctxweb_auditentry": ("project_id", "seq"),
    "ctxweb_signoff": ("project_id", "seq"),
    "ctxweb_durableversion": ("session", "number"),
    "ctxweb_durableproposal": ("session", "number"),
    "ctxweb_durabledecision": ("proposal_id",),
}
NEVER_EMPTIED = ("ctxweb_audithead",)  # its rows change with every append, and none ever goes

_FUNCTION = (
    "CREATE OR REPLACE FUNCTION ctxweb_append_only() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
    "RAISE EXCEPTION '% is append-only: % is refused', TG_TABLE_NAME, TG_OP USING ERRCODE = 'integrity_constraint_violation'; "
    "END $$"
)


def triggers(vendor: str) -> dict[str, str]:
    """Name of each trigger, and the statement that makes it."""
    made = _sqlite if vendor == "sqlite" else _postgres
    return dict(made())


def triggers_create(connection: BaseDatabaseWrapper) -> None:
    """Make the triggers that are not there, for the tables that are."""
    there, tables = triggers_found(connection), set(connection.introspection.table_names())
    with connection.cursor() as cursor:
        if connection.vendor != "sqlite":
            cursor.execute(_FUNCTION)
        for name, statement in triggers(connection.vendor).items():
            if name not in there and _table_of(statement) in tables:
                cursor.execute(statement)


def triggers_drop(connection: BaseDatabaseWrapper) -> None:
    """Take the triggers away: for a migration backwards, and for tests, which empty every table."""
    there = triggers_found(connection)
    with connection.cursor() as cursor:
        for name, statement in triggers(connection.vendor).items():
            if name in there:
                cursor.execute(f"DROP TRIGGER {name}" + ("" if connection.vendor == "sqlite" else f" ON {_table_of(statement)}"))


def triggers_found(connection: BaseDatabaseWrapper) -> set[str]:
    """The names of the triggers that the database has."""
    query = "SELECT name FROM sqlite_master WHERE type = 'trigger'"
    if connection.vendor != "sqlite":
        query = "SELECT tgname FROM pg_trigger WHERE NOT tgisinternal AND tgenabled = 'O'"
    with connection.cursor() as cursor:
        cursor.execute(query)
        return {name for (name,) in cursor.fetchall()}


def _table_of(statement: str) -> str:
    return statement.split(" ON ")[1].split()[0]


def _sqlite() -> Iterator[tuple[str, str]]:
    for table, key in APPEND_ONLY.items():
        again = " AND ".join(f"{column} = NEW.{column}" for column in key)
        yield _sqlite_trigger(table, "UPDATE")
        yield _sqlite_trigger(table, "DELETE")
        # INSERT OR REPLACE takes the old row away without asking the trigger above
        yield _sqlite_trigger(table, "INSERT", f"WHEN EXISTS (SELECT 1 FROM {table} WHERE id = NEW.id OR ({again})) ")
    for table in NEVER_EMPTIED:
        yield _sqlite_trigger(table, "DELETE")


def _sqlite_trigger(table: str, event: str, when: str = "") -> tuple[str, str]:
    name = f"{table}_refuses_{event.lower()}"
    says = f"{table} is append-only: {'REPLACE' if when else event} is refused"
    return name, f"CREATE TRIGGER {name} BEFORE {event} ON {table} {when}BEGIN SELECT RAISE(ABORT, '{says}'); END"


def _postgres() -> Iterator[tuple[str, str]]:
    for table in (*APPEND_ONLY, *NEVER_EMPTIED):
        events = "DELETE" if table in NEVER_EMPTIED else "UPDATE OR DELETE"
        for name, when, each in ((f"{table}_refuses_change", events, "ROW"), (f"{table}_refuses_truncate", "TRUNCATE", "STATEMENT")):
            yield name, f"CREATE TRIGGER {name} BEFORE {when} ON {table} FOR EACH {each} EXECUTE FUNCTION ctxweb_append_only()"
