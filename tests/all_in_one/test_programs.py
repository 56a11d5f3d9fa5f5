"""The processes of a small installation share no lane of P0 with another priority."""

from __future__ import annotations

from notifyproj.all_in_one.programs import PagePorts, table


def test_two_processes_take_p0_and_nothing_else() -> None:
    queues = {
        each.name: part.removeprefix("--queues=").split(",")
        for each in table(PagePorts(), host="127.0.0.1")
        for part in each.arguments
        if part.startswith("--queues=")
    }
    urgent = [name for name, found in queues.items() if any(one.startswith("p0.") for one in found)]
    assert urgent == ["p0", "p0-2"]
    assert all(one.startswith("p0.") for name in urgent for one in queues[name])


def test_without_an_address_of_streams_there_is_no_live_process() -> None:
    all_of_them = table(PagePorts(), host="")
    others = [each for each in all_of_them if each.name != "live"]
    assert len(others) == len(all_of_them) - 1
    assert list(table(PagePorts(), host="", has_streams=False)) == others


def test_the_pages_listen_on_the_chosen_address_and_ports() -> None:
    found = {each.name: each for each in table(PagePorts(web=1, live=2, flower=3), host="0.0.0.0")}  # noqa: S104 - of a container
    pages = {name: each.port for name, each in found.items() if each.port is not None}
    assert pages == {"web": 1, "live": 2, "flower": 3}
    for name, port in pages.items():
        assert {f"--port={port}", "--host=0.0.0.0", "--address=0.0.0.0"} & set(
            found[name].arguments
        ) > {f"--port={port}"}
