"""What a newcomer does wrong, and the sentence that he gets: once, with the name and a remedy."""

from __future__ import annotations

import logging
import sys
import threading
import time
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from runs import DIM, Running, bowl, small

import zofl
from zofl.protocol import Answers, Functions
from zofl.spoken import spoken

pytestmark = pytest.mark.usefixtures("zofl")

ASKED = "device=pi-1 n={} step={} size=0 seed=1 points=1 left=29"


def answers(path: Path, loss: Any, **more: Any) -> Answers:
    np.zeros(3, "<f4").tofile(path)
    made = Answers(Functions(loss=loss), **more)
    assert made.answer(f"map dim=3 points=1 path={path}") == "ok"
    return made


async def awaited(x: Any, batch: Any) -> float:
    return 1.0


@pytest.mark.parametrize("returned, said", [
    (lambda x, b: None, "returned None, as if its return were missing: return one number"),
    (lambda x, b: "1.5", "returned the text '1.5': return one number"),
    (lambda x, b: np.zeros(3), "returned an array of shape (3,): return one number, such as"),
    (lambda x, b: np.zeros(1), "returned an array of shape (1,): return one number"),
    (lambda x, b: [1.0], "returned a list: return one number"),
    (lambda x, b: 1 + 2j, "returned a complex number: return one number"),
    (lambda x, b: np.complex64(1), "returned a complex number: return one number"),
    (lambda x, b: {}, "returned a dict: return one number"),
    (awaited, "is async, and nobody awaits it: write it as a plain def"),
])
def test_what_is_no_loss(tmp_path: Path, caplog: pytest.LogCaptureFixture, returned: Any,
                         said: str) -> None:
    made = answers(tmp_path / "x", returned)
    for n in range(1, 10):
        answer = made.answer("loss " + ASKED.format(n, 0))
        assert said in answer and "test_mistakes.py:" in answer
    told = [r.getMessage() for r in caplog.records]
    assert len(told) == 4 and all(said in t for t in told)
    assert "failed again, 2 times:" in told[1] and "failed again, 8 times:" in told[3]
    assert "Traceback" not in caplog.text  # no line of the app's raised it
    assert caplog.text.count(said) == 4


def test_numbers_of_all_kinds(tmp_path: Path) -> None:
    kinds = [1, True, 1.0, np.float32(1), np.int64(1), np.array(1.0), np.bool_(True)]
    made = answers(tmp_path / "x", lambda x, b: kinds[b.n])
    for n in range(len(kinds)):
        assert made.answer("loss " + ASKED.format(n, 0)) == "loss 1.0"


def test_one_traceback_of_the_app_alone(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    def sensor() -> float:
        raise LookupError("no sensor")

    made = answers(tmp_path / "x", lambda x, b: sensor())
    for n in range(1, 8):
        assert made.answer("loss " + ASKED.format(n, 0)) == "error LookupError: no sensor"
    assert caplog.text.count("Traceback") == 1 and "in sensor" in caplog.text
    assert "zofl/protocol.py" not in caplog.text and "zofl/faults.py" not in caplog.text
    assert "failed again, 4 times: LookupError: no sensor" in caplog.text


def test_writing_to_x(tmp_path: Path) -> None:
    def loss(x: Any, batch: Any) -> float:
        x -= 1
        return 0.0

    said = answers(tmp_path / "x", loss).answer("loss " + ASKED.format(1, 0))
    assert "loss (test_mistakes.py:" in said
    assert said.endswith("writes to x, which is read-only: begin with x = x.copy()")


def test_writing_to_x_as_torch_does(tmp_path: Path, caplog: pytest.LogCaptureFixture,
                                    monkeypatch: pytest.MonkeyPatch) -> None:
    """It harms nobody else, and is said once."""
    def loss(x: np.ndarray, batch: Any) -> float:
        before = float(x[0])
        np.frombuffer((np.ctypeslib.ctypes.c_float * 3).from_address(  # type: ignore[attr-defined]
            x.ctypes.data), "f4")[:] = 7
        return before

    monkeypatch.setitem(sys.modules, "torch", types.ModuleType("torch"))
    made = answers(tmp_path / "x", loss)
    for n in (1, 2, 3):
        assert made.answer("loss " + ASKED.format(n, 0)) == "loss 0.0"
    assert np.fromfile(tmp_path / "x", "<f4").tolist() == [0, 0, 0]
    assert caplog.text.count("writes to x through torch: begin with x = x.copy()") == 1


def test_nan_at_first(tmp_path: Path) -> None:
    losses = iter([float("nan"), float("inf"), 1.0, float("nan")])
    made = answers(tmp_path / "x", lambda x, b: next(losses))
    said = made.answer("loss " + ASKED.format(2, 0))
    assert said.startswith("error <lambda> (test_mistakes.py:")
    assert "returned nan in the round of record 2, at parameters of up to 0" in said
    assert "returned inf" in made.answer("loss " + ASKED.format(3, 0))
    assert made.answer("loss " + ASKED.format(4, 0)) == "loss 1.0"
    assert made.answer("loss " + ASKED.format(5, 0)) == "loss nan"  # the program says where


def test_nan_ends_a_device() -> None:
    with zofl.serve(small(members=1, target=1, quorum=1, deadline=2000)) as server:
        with pytest.raises(zofl.Error, match="returned nan in the round of record.*strict=False"):
            zofl.Device(server.url, server.run, "bad", loss=lambda x: float("nan")).run()


def test_the_cause_is_the_apps(caplog: pytest.LogCaptureFixture) -> None:
    def loss(x: np.ndarray) -> float:
        raise LookupError("no sensor")

    with zofl.serve(small(members=1, target=1, quorum=1, deadline=2000)) as server:
        with pytest.raises(zofl.Error, match="loss .*no sensor.*strict=False") as e:
            zofl.Device(server.url, server.run, "bad", loss=loss).run()
    assert isinstance(e.value.__cause__, LookupError)
    trace = e.value.__cause__.__traceback__
    assert trace is not None and trace.tb_frame.f_code.co_name == "loss"
    assert caplog.text.count("no sensor") == 3  # a sentence, and the traceback


@pytest.mark.parametrize("works", [lambda x, calls: not x.any(), lambda x, calls: calls == 1])
def test_a_loss_that_works_once(works: Any) -> None:
    """A run that looks for mu first asks for the model, and then for points beside it."""
    calls: list[int] = []

    def loss(x: np.ndarray) -> float:
        calls.append(1)
        if not works(x, len(calls)):
            raise LookupError("no sensor")
        return 1.0

    plan = zofl.plan(run="once", dim=5, members=1, target=1, quorum=1, deadline=2000)
    with zofl.serve(plan) as server:
        with pytest.raises(zofl.Error, match="loss .*no sensor.*strict=False") as e:
            zofl.Device(server.url, plan, "bad", loss=loss).run()
    assert isinstance(e.value.__cause__, LookupError)


@pytest.mark.parametrize("loss", [lambda: 1.0, lambda x, batch, data: 1.0, lambda x, *, data: 1.0])
def test_a_loss_that_cannot_be_called(loss: Any) -> None:
    """It is said at once, not in the first round."""
    for call in (lambda: zofl.Device("", "a", "b", loss=loss),
                 lambda: zofl.minimize(loss, np.zeros(2))):
        with pytest.raises(TypeError, match=r"<lambda> \(test_mis.*write it as f\(x\) or f\(x, batch"):
            call()


@pytest.mark.parametrize("wrong", [{"dim": "five"}, {"samples": 1.5}, {"points": None},
                                   {"dim": 3_000_000_000}, {"points": 0}])
def test_numbers_of_a_device(wrong: dict[str, Any]) -> None:
    name, value = next(iter(wrong.items()))
    with pytest.raises((TypeError, ValueError), match=f"{name}={value!r}: give"):
        zofl.Device("", "a", "b", loss=bowl, **wrong)


@pytest.mark.parametrize("loss", [lambda x: 1.0, lambda x, b: 1.0, lambda x, b=None: 1.0,
                                  lambda *a: 1.0, lambda x, *, batch: 1.0, np.sum])
def test_a_loss_that_can(loss: Any) -> None:
    zofl.Device("", "a", "b", loss=loss)


@pytest.mark.parametrize("call, said", [
    (lambda: zofl.plan(dim=5, perturbation=3), r"plan\(\).*'perturbation': did you mean pert"),
    (lambda: zofl.plan(dims=5), r"plan\(\).*'dims': did you mean dim\?"),
    (lambda: zofl.plan(dim=5, epsilo=3), "did you mean epsilon"),
    (lambda: zofl.simulate(bowl, small(), device=3), r"simulate\(\).*did you mean devices\?"),
    (lambda: zofl.tune(bowl, small(), querys=3), r"tune\(\).*did you mean queries\?"),
    (lambda: zofl.serve(small(), stor="x"), r"serve\(\).*did you mean store\?"),
    (lambda: zofl.serve(small(), jet_stream=True), r"did you mean jetstream\?"),
    (lambda: zofl.Device("", "a", "b", loss=bowl, cred="x"), r"Device\(\).*did you mean creds\?"),
    (lambda: zofl.Device("", "a", "b", loss=bowl, smaples=3), r"did you mean samples\?"),
    (lambda: zofl.export("log", like_="x", urll="y"), r"export\(\).*did you mean url\?"),
])
def test_unknown_keywords(call: Any, said: str) -> None:
    with pytest.raises(TypeError, match=said) as e:
        call()
    assert isinstance(e.value, zofl.UsageError)


@pytest.mark.parametrize("call, said", [
    (lambda: zofl.plan("decomlf", dim=5), "decomfl"),
    (lambda: zofl.plan(dim=5, rule="momentm"), "did you mean momentum"),
    (lambda: zofl.plan(dim=5, quorum=99), "quorum"),
    (lambda: zofl.plan(), "dim=.*segments=.*initial="),
    (lambda: zofl.simulate(bowl, small(), devices="three"), "devices=three: give a whole number$"),
    (lambda: zofl.simulate(bowl, small(), seeds=0), "seeds=0: give 1"),
    (lambda: zofl.serve(small(), url="nats://example.org"), "plaintext=True"),
    (lambda: zofl.Device("nats://127.0.0.1:1", "a", "x y", loss=bowl).run(), "^id: "),
    (lambda: zofl.status("nats://127.0.0.1:1", ""), "run= is missing"),
])
def test_errors_speak_of_pythons_names(call: Any, said: str) -> None:
    with pytest.raises(zofl.Error, match=said) as e:
        call()
    assert "--" not in str(e.value).replace("zofl plan --fields", "")


@pytest.mark.parametrize("text, said", [
    ("--id is missing: give each device a name", "id= is missing: give each device a name"),
    ("--creds /no/such/file: no such file", "creds=/no/such/file: no such file"),
    ("--tls-cert and --tls-key belong together", "tls_cert= and tls_key= belong together"),
    ("set it with --set quorum=3 or --set members", "set it with quorum=3 or members="),
    ("begin with --preset zofl, which finds", "begin with preset=zofl, which finds"),
    ("with zofl plan --initial a.npy --train 'head.*' now",
     "with zofl.plan(initial=a.npy, train='head.*') now"),
    ("that `zofl plan --secret` made", "that `zofl.plan(secret=)` made"),
    ("did you mean --devices?; see zofl simulate --help", "did you mean devices=?"),
    ("as tls://host:4222, or give --plaintext", "as tls://host:4222, or give plaintext=True"),
    ("goes on trying: --strict=false", "goes on trying: strict=False"),
    ("`zofl plan --fields` lists them", "`zofl plan --fields` lists them"),
    ("`zofl retire pi-1`, a - b -- c", "`zofl retire pi-1`, a - b -- c"),
])
def test_spoken(text: str, said: str) -> None:
    assert spoken(text) == said


def test_a_block_that_waits_for_nothing(caplog: pytest.LogCaptureFixture) -> None:
    with zofl.serve(small()) as server:
        with zofl.Device(server.url, server.run, "a", loss=bowl):
            pass
        assert caplog.text.count("call wait() in the block") == 1
        with pytest.raises(LookupError), zofl.Device(server.url, server.run, "a", loss=bowl):
            raise LookupError
        assert caplog.text.count("call wait() in the block") == 1


def test_losses_in_ints() -> None:
    plan = zofl.plan(run="ints", dim=4, members=1, rounds=10)
    with zofl.serve(plan) as server:
        result = zofl.Device(server.url, "ints", "a",
                             loss=lambda x: int(100 * np.sum((x - 1) ** 2))).run()
    assert result.ended and result.record >= 10


def test_a_slow_loss_names_the_deadline(caplog: pytest.LogCaptureFixture) -> None:
    told = threading.Event()

    def loss(x: np.ndarray) -> float:
        time.sleep(0.2)
        return bowl(x, None)  # type: ignore[arg-type]

    plan = small(members=1, target=1, quorum=1, perturbations=10, deadline=500, reannounce=100)
    with zofl.serve(plan) as server:
        device = Running(server, "slow", loss=loss, points=1)
        until = time.monotonic() + 60
        while "deadline is 500 ms" not in caplog.text and time.monotonic() < until:
            told.wait(0.1)
        reason = server.status().get("reason", "")
        device.device.stop()
        device.got()
    assert "raise deadline, or make the loss quicker; deadline is 500 ms" in caplog.text
    assert not reason or "raise deadline" in reason
