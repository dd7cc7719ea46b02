"""Kinds of which a project has one thing for one purpose: where a summary names another, one of the two is wrong."""

from __future__ import annotations

import re
from typing import NamedTuple

from compaction.retention.words import all_stems, stem


class Choice(NamedTuple):
    """`about`: words that name the purpose; `options`: patterns of the things, each a group of spellings."""

    about: str
    options: tuple[str, ...]


_STORE = "store stored storage save saved persist persisted persistence database db backend write written"
_FILES = ("json files?", "yaml files?", "csv files?", "(?:text|flat) files?", "in[ -]memory")
_PACKAGES = "package packages dependency dependencies install installed manager lock"

CHOICES: tuple[Choice, ...] = (
    Choice(
        _STORE,
        ("sqlite", "postgresql|postgres", "mysql|mariadb", "mongodb|mongo", "redis|valkey", "dynamodb", "duckdb", *_FILES),
    ),
    Choice(_PACKAGES, ("npm", "yarn", "pnpm", "bun")),
    Choice(_PACKAGES, ("pip", "poetry", "uv", "conda", "pipenv")),
    Choice("test tests testing runner framework", ("pytest", "unittest", "nose")),
    Choice("test tests testing runner framework", ("jest", "vitest", "mocha")),
    Choice("api endpoint endpoints interface service", ("rest", "graphql", "grpc", "soap")),
    Choice("framework web server app application", ("django", "flask", "fastapi", "express", "rails", "spring")),
    Choice("front frontend ui component components", ("react", "vue", "svelte", "angular", "htmx")),
    Choice("config configuration settings format", ("json", "yaml", "toml", "ini")),
    Choice("indent indentation indented style", ("tabs", "spaces")),
    Choice("queue broker job jobs worker workers", ("celery", "rq", "sidekiq", "kafka", "rabbitmq", "sqs")),
    Choice("auth authentication login session sessions token tokens", ("jwt", "(?:session )?cookies?", "basic auth", "oauth ?2?")),
    Choice("branch branches merge merges merging history", ("rebase", "merge commits?", "squash")),
    Choice("deploy deploys deployed deployment host hosted cloud", ("aws", "gcp|google cloud", "azure", "heroku")),
    Choice("language written write rewrite code", ("python", "golang|go", "rust", "typescript", "javascript", "java", "ruby")),
    Choice("存储 保存 数据库 写入", ("sqlite", "postgresql|postgres", "mysql", "mongodb", "redis", "(?:json|yaml|csv) ?文件")),
)

OPTIONS: tuple[tuple[re.Pattern[str], ...], ...] = tuple(
    tuple(re.compile(rf"(?<![\w-])(?:{option})(?![\w-])", re.IGNORECASE | re.ASCII) for option in choice.options) for choice in CHOICES
)
ABOUT: tuple[frozenset[str], ...] = tuple(frozenset((*all_stems(choice.about), *map(stem, choice.about.split()))) for choice in CHOICES)


def chosen(text: str) -> dict[int, frozenset[str]]:
    """By the place of a choice, the options that a text names."""
    found = {place: frozenset(_named(patterns, text)) for place, patterns in enumerate(OPTIONS)}
    return {place: names for place, names in found.items() if names}


def _named(patterns: tuple[re.Pattern[str], ...], text: str) -> list[str]:
    return [match.group().lower() for pattern in patterns for match in [pattern.search(text)] if match]
