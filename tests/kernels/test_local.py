# ruff: noqa: ASYNC110, ASYNC240
from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

from roles_runtime.errors import KernelError, KernelLostError
from roles_runtime.kernels.local import LocalKernels
from roles_runtime.kernels.workspace import Workspace

pytestmark = pytest.mark.anyio


async def test_the_last_expression_or_assignment_is_the_output(either: Callable) -> None:
    # TW-74
    assert (await either("'Hello World!'")).output == "Hello World!"
    assert (await either("result = 'Hello World!'")).output == "Hello World!"
    assert (await either("[1, 'a']")).output == "[1, 'a']"
    assert (await either("np.float64(2.5)")).output == "2.5"


async def test_what_is_printed_is_stdout_and_no_output(either: Callable) -> None:
    # TW-74
    done = await either("print('Hello World!')")
    assert (done.output, done.stdout, done.is_success, done.outcome) == ("", ("Hello World!\n",), True, "ok")
    assert re.fullmatch("exec-[0-9a-f]{12}", done.execution_id)


@pytest.mark.parametrize("code", ["Hello World!", "[1, 2, {"])
async def test_what_is_no_python_is_a_syntax_error(either: Callable, code: str) -> None:
    done = await either(code)
    assert not done.is_success
    assert done.outcome == "error"
    assert "SyntaxError" in done.error


async def test_an_unknown_name_is_an_error_without_output_or_colours(either: Callable) -> None:
    done = await either("Hello_World")
    assert "NameError: name 'Hello_World' is not defined" in done.error
    assert "\x1b" not in done.error
    assert done.output == ""


async def test_variables_stay_and_a_cell_that_ends_in_a_semicolon_changes_nothing(either: Callable) -> None:
    await either("kept = 41;")
    assert (await either("kept + 1")).output == "42"


async def test_pandas_numpy_and_pyplot_are_there(either: Callable) -> None:
    done = await either("(pd.__name__, np.__name__, plt.__name__)")
    assert done.output == "('pandas', 'numpy', 'matplotlib.pyplot')"
    assert "39    39" in (await either("pd.Series(range(40))")).output


async def test_a_long_value_is_cut(either: Callable) -> None:
    output = (await either("'y' * 50_000_000")).output
    assert len(output) == 5000
    assert output.endswith("…")


async def test_50_mb_printed_are_cut_and_the_cut_is_said(either: Callable) -> None:
    done = await either("print('x' * 50_000_000)")
    text = "".join(done.stdout)
    assert len(text) < 1_300_000
    assert "49000001 more characters were cut" in text
    assert (await either("1 + 1")).output == "2"


async def test_an_enormous_error_is_still_an_error(either: Callable) -> None:
    done = await either("raise ValueError('x' * 30_000_000)")
    assert done.outcome == "error"
    assert len(done.error) <= 20_100
    assert (await either("1 + 1")).output == "2"


async def test_plots_and_displayed_images_become_artifacts(either: Callable) -> None:
    done = await either("plt.plot([1, 2]);")
    assert [artifact.mime for artifact in done.artifacts] == ["image/png"]
    kept = Path(done.artifacts[0].path)
    assert kept.read_bytes().startswith(b"\x89PNG")
    assert kept.name.removesuffix(".png") == done.artifacts[0].sha256
    assert done.artifacts[0].name == f"{done.execution_id}-display-0.png"
    svg = await either(
        "from IPython.display import SVG, display\ndisplay(SVG('<svg xmlns=\"http://www.w3.org/2000/svg\"/>'))"
    )
    assert [artifact.mime for artifact in svg.artifacts] == ["image/svg+xml"]


async def test_ten_thousand_images_are_cut_to_a_hundred(either: Callable) -> None:
    done = await either(
        "from IPython.display import Image, display\n"
        "png = b'\\x89PNG\\r\\n\\x1a\\n'\n"
        "for i in range(10000): display(Image(png + bytes([i % 256, i // 256]), format='png'))"
    )
    assert done.outcome == "ok"
    assert len(done.artifacts) == 100
    assert "9900 more displays were left out" in "".join(done.stdout)


async def test_new_and_changed_files_become_artifacts_but_no_dot_files_links_or_pipes(either: Callable) -> None:
    done = await either(
        "import os\nos.makedirs('out', exist_ok=True)\n"
        "open('out/a.csv', 'w').write('a')\nopen('.hidden', 'w').write('x')\n"
        "os.mkfifo('pipe')\nos.symlink('/etc/passwd', 'link.txt')\nos.symlink('/', 'root')"
    )
    assert [(artifact.name, artifact.mime) for artifact in done.artifacts] == [("out/a.csv", "text/csv")]
    assert Path(done.artifacts[0].path).read_bytes() == b"a"
    again = await either("open('out/a.csv', 'w').write('other'); 0")
    assert [artifact.name for artifact in again.artifacts] == ["out/a.csv"]
    assert (await either("2")).artifacts == ()


async def test_files_given_before_and_while_the_kernel_runs_are_seen(either: Callable) -> None:
    name = await anyio.to_thread.run_sync(either.workspace.write, "given.txt", b"hello")
    assert (await either(f"open({name!r}).read()")).output == "hello"
    assert (await either(f"open({name!r}, 'a').write('!'); open({name!r}).read()")).output == "hello!"


async def test_what_code_logs_is_kept_apart(either: Callable) -> None:
    done = await either("import logging; logging.getLogger('sales').warning('only %s rows', 3)")
    assert done.log == (("WARNING", "sales", "only 3 rows"),)


async def test_the_trace_context_is_the_cells_own(either: Callable) -> None:
    look = "import os; os.environ.get('TRACEPARENT', 'none')"
    hostile = "00-\"'); import os #"
    assert (await either.kernel.execute(look, traceparent="00-ab-cd-01")).output == "00-ab-cd-01"
    assert (await either.kernel.execute(look, traceparent=hostile)).output == hostile
    assert (await either(look)).output == "none"


@pytest.mark.parametrize(
    "code",
    [
        "import sys, io; sys.stdout = io.StringIO(); print('lost')",
        "import sys; sys.stdout = None",
        "import sys; sys.stdout.close(); sys.stderr.close()",
        "import os\nfor i in range(10):\n    if os.fork() == 0: os._exit(0)",
        "import threading\nthreading.Thread(target=lambda: print('late')).start()",
        "import os; os.makedirs('gone'); os.chdir('gone'); os.rmdir('../gone'); os.chdir('/')",
        "exit()",
        "input('name? ')",
        "import warnings; warnings.warn('x')",
    ],
)
async def test_a_careless_cell_leaves_the_session_usable(walled: Callable, code: str) -> None:
    await walled(code)
    for _ in range(2):
        try:
            done = await walled("import os; os.chdir('/workspace'); print('still'); 3")
            break
        except KernelLostError:
            continue
    assert done.output == "3"
    assert "still" in "".join(done.stdout)


async def test_deleted_sockets_are_not_missed(walled: Callable) -> None:
    await walled("import glob, os\nfor path in glob.glob('/ipc/*'): os.unlink(path)")
    assert (await walled("1 + 1")).output == "2"


@pytest.mark.parametrize(
    "code", ["import ctypes; ctypes.string_at(0)", "import os; os._exit(3)", "import os; os.closerange(3, 500)"]
)
async def test_a_cell_that_ends_its_kernel_is_told_at_once_and_the_next_one_runs(doomed: Callable, code: str) -> None:
    await doomed("kept = 1; open('kept.txt', 'w').write('here'); 0")
    with anyio.fail_after(30):
        done = await doomed(code, timeout_s=300)
    assert (done.outcome, done.is_success) == ("lost", False)
    assert "variables are gone" in done.error
    after = await doomed("(open('kept.txt').read(), 'kept' in globals())")
    assert after.output == "('here', False)"


async def test_a_cell_that_runs_too_long_is_interrupted_and_variables_stay(walled: Callable) -> None:
    await walled("kept = 5")
    done = await walled("import time; time.sleep(60)", timeout_s=0.5)
    assert (done.outcome, done.is_success) == ("timeout", False)
    assert "0.5 s" in done.error
    assert (await walled("kept")).output == "5"


async def test_a_cell_that_ignores_its_interruption_is_killed_with_its_kernel(doomed: Callable) -> None:
    await doomed("kept = 5")
    done = await doomed("import signal; signal.signal(2, signal.SIG_IGN)\nwhile True: pass", timeout_s=0.5)
    assert done.outcome == "timeout"
    assert "variables are gone" in done.error
    assert (await doomed("'kept' in globals()")).output == "False"


async def test_a_cancelled_cell_is_interrupted_and_the_next_one_runs(walled: Callable) -> None:
    await walled("kept = 6")
    with anyio.move_on_after(0.5) as scope:
        await walled("import time; time.sleep(60)")
    assert scope.cancelled_caught
    assert (await walled("kept")).output == "6"


async def test_a_loss_that_no_cell_told_of_is_told_once_before_anything_runs(doomed: Callable) -> None:
    await doomed("import os, threading, time\nthreading.Thread(target=lambda: (time.sleep(0.2), os._exit(0))).start()")
    await anyio.sleep(1)
    with pytest.raises(KernelLostError, match="variables are gone"):
        await doomed("open('ran', 'w')")
    assert (await doomed("import os; os.path.exists('ran')")).output == "False"


async def test_cells_run_in_the_order_in_which_they_were_given(walled: Callable) -> None:
    await walled("order = []")
    async with anyio.create_task_group() as tasks:
        for number in range(5):
            tasks.start_soon(walled, f"order.append({number})")
    assert (await walled("order")).output == "[0, 1, 2, 3, 4]"


async def test_a_workspace_that_grows_too_large_stops_its_cell(
    doomed: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("roles_runtime.kernels.workspace.MAX_WORKSPACE_BYTES", 1 << 20)
    done = await doomed("import time\nopen('big', 'wb').write(bytes(4 << 20))\ntime.sleep(60)")
    assert done.outcome == "error"
    assert "the workspace holds more than 1 MiB" in done.error
    assert (await doomed("1 + 1")).output == "2"


async def test_the_least_recently_used_idle_kernel_makes_room_and_its_role_is_told(sessions: Path) -> None:
    async with LocalKernels(max_live=1, spare=False) as kernels:
        first = kernels.open("a", Workspace(sessions / "room-a"), sandbox=False)
        second = kernels.open("b", Workspace(sessions / "room-b"), sandbox=False)
        await first.execute("kept = 1")
        assert (await second.execute("2")).output == "2"
        with pytest.raises(KernelLostError):
            await first.execute("kept")
        assert (await first.execute("3")).output == "3"


async def test_an_idle_kernel_goes(sessions: Path) -> None:
    async with LocalKernels(idle_s=0.2, spare=False) as kernels:
        kernel = kernels.open("a", Workspace(sessions / "idle"), sandbox=False)
        await kernel.execute("kept = 1")
        with anyio.fail_after(20):
            while kernel.is_idle:
                await anyio.sleep(0.05)
        with pytest.raises(KernelLostError, match="idled"):
            await kernel.execute("kept")


async def test_what_is_closed_says_so(sessions: Path) -> None:
    kernels = LocalKernels()
    with pytest.raises(KernelError, match="async with"):
        kernels.open("a", Workspace(sessions / "closed"), sandbox=False)
