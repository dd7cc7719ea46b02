"""The state folder: private, complete, with secrets that are made once."""

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from ctxweb.home import SOCKET_PATH_BYTES, Home, private_folder

pytestmark = pytest.mark.nodb


@pytest.fixture
def home(tmp_path: Path) -> Home:
    made = Home(root=tmp_path / "home")
    made.prepare()
    return made


def test_only_this_user_can_open_the_home(home: Home) -> None:
    for folder in (home.root, home.blobs, home.uploads, home.log, home.broker):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700, folder


def test_a_secret_is_made_once_and_readable_by_this_user_only(home: Home) -> None:
    first = home.secret(home.api_token)
    assert len(first) >= 43
    assert home.secret(home.api_token) == first
    assert stat.S_IMODE(home.api_token.stat().st_mode) == 0o600
    assert [entry.name for entry in home.root.iterdir() if entry.name.startswith(".secret-")] == []


def test_processes_that_make_a_secret_at_once_agree_on_it(home: Home) -> None:
    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(lambda _: home.secret(home.secret_key), range(32)))) == 1


def test_the_broker_socket_leaves_a_home_whose_path_is_too_long_for_one(tmp_path: Path) -> None:
    short = Home(root=Path("/srv/ctxweb"))
    assert short.broker_socket == Path("/srv/ctxweb/broker/broker.sock")
    deep = Home(root=tmp_path / ("d" * 120))
    assert len(os.fsencode(deep.broker_socket)) <= SOCKET_PATH_BYTES
    assert deep.root not in deep.broker_socket.parents
    assert deep.broker_socket == Home(root=deep.root).broker_socket


def test_the_longest_path_that_fits_stays_inside() -> None:
    room = SOCKET_PATH_BYTES - len("/broker/broker.sock")
    inside, outside = (Home(root=Path("/" + "d" * (length - 1))) for length in (room, room + 1))
    assert inside.root in inside.broker_socket.parents
    assert outside.root not in outside.broker_socket.parents


def test_a_private_folder_that_others_can_open_is_refused(tmp_path: Path) -> None:
    mine, open_to_all, link = tmp_path / "mine", tmp_path / "open", tmp_path / "link"
    private_folder(mine)
    private_folder(mine)
    open_to_all.mkdir(mode=0o755)
    link.symlink_to(mine)
    for folder in (open_to_all, link):
        with pytest.raises(ImproperlyConfigured, match="not a folder that only this user can open"):
            private_folder(folder)


def test_what_a_killed_web_server_left_of_uploads_is_removed(home: Home) -> None:
    (home.uploads / "a.upload.jsonl").write_bytes(b"half")
    (home.blobs / "whole").write_bytes(b"kept")
    home.clear_uploads()
    assert list(home.uploads.iterdir()) == []
    assert (home.blobs / "whole").exists()
