"""What is sealed opens with its key, for what it is bound to, and for nothing else."""

from __future__ import annotations

import base64
import sys
from itertools import pairwise

import pytest

from durable_memory.memory.privacy.keyring import Keyring, NotOpened, UnknownKey

OLD = "k1:" + base64.b64encode(b"1" * 32).decode()
NEW = "k2:" + base64.b64encode(b"2" * 32).decode()
OTHER = "k1:" + base64.b64encode(b"3" * 32).decode()


def test_the_first_key_writes_and_all_of_them_read() -> None:
    before, rotated = Keyring.parse(OLD), Keyring.parse(f"{NEW}, {OLD}")
    assert before.open(*before.seal(b"words", b"here"), b"here") == b"words"
    assert rotated.seal(b"words", b"here")[0] == "k2"
    assert rotated.open(*before.seal(b"words", b"here"), b"here") == b"words"
    with pytest.raises(UnknownKey):
        before.open(*rotated.seal(b"words", b"here"), b"here")


def test_what_was_changed_or_is_bound_to_something_else_does_not_open() -> None:
    keyring = Keyring.parse(OLD)
    key_id, sealed = keyring.seal(b"words", b"here")
    for changed, bound_to in ((sealed, b"there"), (sealed[:-1], b"here"), (b"", b"here"), (b"x" + sealed, b"here")):
        with pytest.raises(NotOpened):
            keyring.open(key_id, changed, bound_to)
    with pytest.raises(NotOpened):
        Keyring.parse(OTHER).open(key_id, sealed, b"here")


def test_what_was_stored_before_still_opens() -> None:
    stored = "enc:1:k1:0siSstNEBqCcS+gfDd0fVgYHrHzdk43N933QW64wrxDcGD6GmsrnfX+RUBwpAu5EprEZQ1Zc7DvjX/ERTA0uS1iBvz5GBY4="
    keyring = Keyring.parse(OLD)
    assert keyring.open_text(stored, b"here") == '{"role":"user","content":"grüße, 你好"}'
    assert keyring.digest("0123") == "de85ab5acec1bfeebf80bf38d6390200"
    for changed in (stored[:-4], stored[:-1], stored.replace("+", "-"), stored + "\n", "enc:1:k1:", "enc:1:k1"):
        with pytest.raises(NotOpened):
            keyring.open_text(changed, b"here")
    with pytest.raises(UnknownKey):
        keyring.open_text(stored.replace("k1", "k2"), b"here")


def test_the_same_words_never_look_the_same() -> None:
    keyring = Keyring.parse(OLD)
    assert len({keyring.seal(b"yes", b"here")[1] for _ in range(100)}) == 100


def test_a_digest_of_any_step_of_a_rotation_is_known_at_the_next_one_and_at_the_one_before() -> None:
    steps = [Keyring.parse(keys) for keys in (OLD, f"{OLD} {NEW}", f"{NEW} {OLD}", NEW)]
    for one, other in [*pairwise(steps), *pairwise(reversed(steps))]:
        assert one.digest("0123") in {other.digest("0123"), *other.other_digests("0123")}
    assert Keyring.parse(OTHER).digest("0123") not in {steps[1].digest("0123"), *steps[1].other_digests("0123"), "0123"}


def test_keys_are_in_no_text_of_it() -> None:
    keyring = Keyring.parse(f"{NEW} {OLD}")
    assert repr(keyring) == "Keyring(k2, k1)"


@pytest.mark.parametrize(("module", "package"), [("cryptography.exceptions", "cryptography"), ("pybase64", "pybase64")])
def test_without_its_packages_keys_are_refused_by_the_name_of_the_extra(
    module: str, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ValueError, match=rf"needs the package {package}, .* 'durable-memory\[privacy\]'"):
        Keyring.parse(OLD)
