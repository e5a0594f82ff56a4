"""Devices and coordinators in asyncio, and the model while a device takes part."""

from __future__ import annotations

import asyncio
import multiprocessing
import threading
from pathlib import Path

import numpy as np
import pytest
from runs import DIM, Running, bowl, goes_on, small

import zofl

pytestmark = pytest.mark.usefixtures("zofl")


def test_devices_and_events() -> None:
    async def run() -> None:
        with zofl.serve(small()) as server:
            devices = [zofl.Device(server.url, server.run, id, loss=bowl) for id in ("a", "b")]
            tasks = [asyncio.create_task(d.run_async()) for d in devices]
            rounds = [e async for e in server.events_async() if e["event"] == "round"]
            assert len(rounds) == 5
            one, other = await asyncio.gather(*tasks)
            assert one.ended and one.digest == other.digest

    asyncio.run(run())


def test_errors_come_out() -> None:
    async def run() -> None:
        with pytest.raises(zofl.UsageError, match="^id: "):
            await zofl.Device("nats://127.0.0.1:1", "a", "x y", loss=bowl).run_async()

    asyncio.run(run())


def test_a_cancelled_device_keeps_its_state(tmp_path: Path) -> None:
    async def run() -> None:
        plan = small(members=1, target=1, quorum=1, rounds=0)
        with zofl.serve(plan) as server:
            device = zofl.Device(server.url, server.run, "a", loss=bowl, store=tmp_path / "a")
            task = asyncio.create_task(device.run_async())
            async for event in server.events_async():
                if event["event"] == "round" and event["n"] > 3:
                    break
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert (tmp_path / "a" / "checkpoint").exists()
            assert device.model().record >= 3
            with pytest.raises(TimeoutError if hasattr(asyncio, "timeout") else asyncio.TimeoutError):
                await asyncio.wait_for(device.run_async(), 1)
            nobody = asyncio.create_task(anext_of(server))
            await asyncio.sleep(0)
            nobody.cancel()  # while it waits

    asyncio.run(run())


async def anext_of(server: zofl.Server) -> None:
    async for _ in server.events_async():
        pass


def test_the_model_meanwhile() -> None:
    """From any thread: the app's, progress's, and the loss's own."""
    plan = small(members=1, target=1, quorum=1, rounds=0)
    inside: list[zofl.Model] = []
    told: list[zofl.Model] = []
    enough = threading.Event()
    with zofl.serve(plan) as server:
        def loss(x: np.ndarray, batch: zofl.Batch) -> float:
            if batch.n == 5 and not inside:
                inside.append(device.device.model())
            return bowl(x, batch)

        def progress(event: dict[str, object]) -> None:
            if event["n"] == 6 and not told:
                told.append(device.device.model())
                enough.set()

        with pytest.raises(RuntimeError, match="does not take part"):
            zofl.Device(server.url, server.run, "b", loss=bowl).model()
        device = Running(server, "a", loss=loss, progress=progress)
        assert enough.wait(60)
        models = [device.device.model() for _ in range(3)]
        x = device.device.x
        device.device.stop()
        result = device.got()
        for m in (*inside, *told, *models):
            assert m.x.shape == (DIM,) and m.x.dtype == np.float32
            assert m.x.tobytes() == server.export(at=m.record).tobytes()
    assert inside[0].record == 4 and told[0].record >= 6
    assert x.shape == (DIM,) and models[0].record <= models[2].record <= result.record
    last = device.device.model()
    assert last.record == result.record and np.array_equal(last.x, result.model)
    last.x[:] = 0
    assert device.device.x.any()


def take_part(device: zofl.Device, out: "multiprocessing.Queue[str]") -> None:
    out.put(device.run().digest)


@pytest.mark.parametrize("how", ["spawn", "fork"])
def test_devices_in_processes(how: str) -> None:
    if how not in multiprocessing.get_all_start_methods():
        pytest.skip("no such processes here")
    context = multiprocessing.get_context(how)
    with zofl.serve(small()) as server:
        out: multiprocessing.Queue[str] = context.Queue()
        devices = [zofl.Device(server.url, server.run, id, loss=bowl) for id in ("a", "b")]
        processes = [context.Process(target=take_part, args=(d, out)) for d in devices]
        for p in processes:
            p.start()
        assert len({out.get(timeout=60) for _ in processes}) == 1
        for p in processes:
            p.join(60)
            assert p.exitcode == 0
