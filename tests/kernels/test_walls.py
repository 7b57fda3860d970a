"""What code behind the wall can see and do. Without a sandbox on the machine these fail, as they must."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import msgspec
import pytest

import roles_runtime
from roles_runtime.errors import SandboxUnavailableError, WorkspaceError
from roles_runtime.kernels import sandbox as sandbox_module
from roles_runtime.kernels.folder import remove_tree
from roles_runtime.kernels.local import RESERVE_BYTES, LocalKernels
from roles_runtime.kernels.seccomp import seccomp_filter
from roles_runtime.kernels.workspace import Workspace

pytestmark = pytest.mark.anyio


async def test_keys_of_the_runtimes_environment_are_not_inside(
    doomed: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-planted-secret")
    look = "import os, glob\nseen = str(dict(os.environ))\nfor path in glob.glob('/proc/*/environ'):\n"
    look += "    try: seen += open(path).read()\n    except OSError: pass\n'planted' in seen, 'HOME' in seen"
    assert (await doomed(look)).output == "(False, True)"


@pytest.mark.parametrize(
    "path",
    [
        "/etc/shadow",
        "/etc/hostname",
        "/var",
        "/boot",
        "/home",
        str(Path.cwd() / "pyproject.toml"),
        str(Path(roles_runtime.__file__)),
        str(Path.home() / ".bashrc"),
        "/sys",
    ],
)
async def test_what_is_not_on_the_list_is_not_there(walled: Callable, path: str) -> None:
    assert (await walled(f"import os; os.path.exists({path!r})")).output == "False"


async def test_a_file_planted_in_the_home_folder_is_not_seen(walled: Callable) -> None:
    planted = Path.home() / ".roles-runtime-wall-test"
    planted.write_text("secret", encoding="utf-8")
    try:
        assert (await walled(f"import os; os.path.exists({str(planted)!r})")).output == "False"
    finally:
        planted.unlink()


async def test_the_user_is_nobody_in_particular_and_has_no_capability(walled: Callable) -> None:
    done = await walled(
        "import os\nstatus = dict(l.strip().split(':\\t') for l in open('/proc/self/status') if ':\\t' in l.strip())\n"
        "[os.getuid() != 0, os.geteuid() != 0, "
        "[status[k] for k in status if k.startswith('Cap')], status['NoNewPrivs']]"
    )
    none = "0" * 16
    assert (
        done.output.replace("\n", "").replace(" ", "")
        == f"[True,True,['{none}','{none}','{none}','{none}','{none}'],'1']"
    )
    assert os.stat(walled.workspace.files).st_uid != 0 or os.geteuid() != 0


@pytest.mark.parametrize("folder", ["/", "/usr", "/etc", "/dev", "/run/kernel", os.path.dirname(os.__file__)])
async def test_nothing_outside_the_workspace_and_tmp_can_be_written(walled: Callable, folder: str) -> None:
    done = await walled(f"open({folder + '/planted'!r}, 'w')")
    assert done.outcome == "error"
    assert "Read-only" in done.error or "Permission denied" in done.error


async def test_the_workspace_is_the_current_folder_and_home_is_tmp(walled: Callable) -> None:
    done = await walled("import os\nopen('/tmp/x', 'w').write('1'); os.getcwd(), os.environ['HOME']")
    assert done.output == "('/workspace', '/tmp')"


@pytest.mark.parametrize("address", ["('8.8.8.8', 53)", "('127.0.0.1', 22)"])
async def test_the_network_is_cut(walled: Callable, address: str) -> None:
    done = await walled(f"import socket; socket.create_connection({address}, 2)")
    assert "unreachable" in done.error or "refused" in done.error


async def test_no_socket_reaches_past_the_network_namespace(walled: Callable) -> None:
    done = await walled(
        "import errno, socket\nrefused = []\n"
        "for family in (40, 17, 38, 29, 31):\n"
        "    for make in (socket.socket, socket.socketpair):\n"
        "        try: make(family, socket.SOCK_STREAM)\n"
        "        except OSError as error: refused.append(error.errno)\n"
        "a, b = socket.socketpair(); socket.socket(); set(refused) == {errno.EAFNOSUPPORT}, len(refused)"
    )
    assert done.output == "(True, 10)"


async def test_other_processes_are_not_seen(walled: Callable) -> None:
    done = await walled(
        "import os\nseen = [open(f'/proc/{p}/comm').read().strip() for p in os.listdir('/proc') if p.isdigit()]\n"
        "{name for name in seen if name != 'bwrap' and not name.startswith('python')}"
    )
    assert done.output == "set()"


async def test_no_new_namespace_can_be_made_and_nobody_traced(walled: Callable) -> None:
    done = await walled(
        "import ctypes, os\nlibc = ctypes.CDLL(None, use_errno=True)\n"
        "[libc.unshare(0x10000000), ctypes.get_errno(), libc.ptrace(0, 0, 0, 0), "
        "libc.mount(b'x', b'/tmp', b'tmpfs', 0, 0)]"
    )
    assert done.output == "[-1, 1, -1, -1]"


async def test_a_fork_bomb_meets_its_bound_and_the_session_goes_on(doomed: Callable) -> None:
    done = await doomed(
        "import os, time, signal\nchildren = []\ntry:\n    while len(children) < 2000:\n        pid = os.fork()\n"
        "        if pid == 0: time.sleep(100)\n        children.append(pid)\nexcept OSError as error: print(error)\n"
        "for pid in children: os.kill(pid, signal.SIGKILL); os.waitpid(pid, 0)\nlen(children) < 300"
    )
    assert "temporarily unavailable" in "".join(done.stdout)
    assert done.output == "True"


_SPEAK = """
import json, os, socket
kernel = get_ipython().kernel
parent = json.loads(json.dumps(kernel.get_parent('shell')['header'], default=str))
def say(kind, content):
    header = json.loads(json.dumps(kernel.session.msg_header(kind), default=str))
    parts = [json.dumps(header).encode(), json.dumps(parent).encode(), b'{}', content]
    kernel.iopub_socket.send_multipart([b't', b'<IDS|MSG>', kernel.session.sign(parts), *parts])
"""


async def test_a_message_that_never_ends_does_not_fill_the_runtime(doomed: Callable) -> None:
    done = await doomed(
        _SPEAK + "for fd in os.listdir('/proc/self/fd'):\n"
        "    try: line = socket.socket(fileno=os.dup(int(fd))); line.getpeername()\n"
        "    except OSError: continue\n"
        "    if str(line.getsockname()).endswith('k-2'): break\n"
        "line.setblocking(True)\n"
        "for i in range(100): line.sendall(b'\\x03' + (1 << 20).to_bytes(8, 'big') + bytes(1 << 20))"
    )
    assert done.outcome == "lost"
    assert "MiB or" in done.error
    assert (await doomed("1 + 1")).output == "2"


async def test_a_kernel_that_closes_its_sockets_is_replaced_at_once(doomed: Callable) -> None:
    done = await doomed(_SPEAK + "import time; os.closerange(3, 1000); time.sleep(100)", timeout_s=30.0)
    assert done.outcome == "lost"
    assert (await doomed("1 + 1")).output == "2"


async def test_forged_messages_harm_nobody(walled: Callable) -> None:
    done = await walled(
        _SPEAK + "for kind in ('stream', 'display_data', 'execute_result', 'status', 'error', 'update_display_data'):\n"
        "    for content in (b'', b'[]', b'{', b'{\"data\": 5, \"text\": []}', b'{\"text\": \"\\\\ud800\"}',\n"
        '        b\'{"data": {"image/png": "?", "text/plain": {}}}\', b\'{"x":\' + b\'[\' * 100000,\n'
        "        b'{\"data\": {\"application/vnd.roles-runtime.log+json\": [1]}}', b'\\xff'): say(kind, content)\n"
        'say(\'execute_reply\', b\'{"status": "error", "traceback": [1, {}], "ename": 3}\')\n7'
    )
    assert json.loads(msgspec.json.encode(done))["output"] == "7"
    assert (await walled("1 + 1")).output == "2"


async def test_half_a_surrogate_pair_is_shown_as_a_question_mark(walled: Callable) -> None:
    done = await walled("import os; print('\\ud800', os.fsdecode(b'\\xff')); 'x\\udfff'")
    assert (done.outcome, "".join(done.stdout), done.output) == ("ok", "? ?\n", "x?")
    assert "ValueError: ?" in (await walled("raise ValueError('\\ud800')")).error
    assert "UnicodeEncodeError" in (await walled("x = '\ud800'")).error


async def test_a_kernel_with_a_folder_deeper_than_any_stack_goes_and_leaves_nothing(doomed: Callable) -> None:
    dig = "import os\nos.chdir(PLACE)\nfor i in range(3000): os.mkdir('d'); os.chdir('d')\nos.chdir('/workspace')\n"
    await doomed(dig.replace("PLACE", "'/ipc'") + dig.replace("PLACE", "'/workspace'"))
    live = doomed.kernel._live
    assert (await doomed("import os; os.kill(os.getpid(), 9)")).outcome == "lost"
    assert not live.process.home.root.exists()
    remove_tree(doomed.workspace.files / "d")
    assert (await doomed("1 + 1")).output == "2"


@pytest.mark.parametrize("place", ["/ipc", "/workspace", "/workspace/" + "deep/" * 20])
async def test_the_disk_is_not_filled(doomed: Callable, monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    for module in ("local", "workspace"):
        monkeypatch.setattr(f"roles_runtime.kernels.{module}.MAX_WORKSPACE_BYTES", 64 << 20)
    done = await doomed(
        f"import os, time\nos.makedirs({place!r}, exist_ok=True)\n"
        f"with open({place!r} + '/.big', 'wb') as file: file.write(b'x' * (100 << 20))\ntime.sleep(60)"
    )
    assert done.outcome == "error"
    assert "more than 64 MiB" in done.error


async def test_the_disk_is_not_filled_by_files_that_stand_in_no_folder(
    doomed: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    # What is free on a real disk depends on what else runs there.
    free = iter((100 << 30, 90 << 30))

    def free_bytes(workspace: Workspace) -> int:
        # Other kernels of this run are tidied meanwhile; to them the disk is empty.
        return next(free, RESERVE_BYTES - 1) if workspace.root == doomed.workspace.root else 100 << 30

    monkeypatch.setattr("roles_runtime.kernels.local._free_bytes", free_bytes)
    done = await doomed("import time; time.sleep(60)")
    assert done.outcome == "error"
    assert "the disk is nearly full, 2047 MiB are left" in done.error


async def test_nothing_of_the_host_is_behind_the_descriptors_of_the_first_process(walled: Callable) -> None:
    done = await walled(
        "import os\nfound = []\n"
        "for process in ('1', 'self'):\n"
        "    try: names = os.listdir(f'/proc/{process}/fd')\n"
        "    except PermissionError: names = []\n"
        "    for fd in names:\n"
        "        try: found.append(os.readlink(f'/proc/{process}/fd/{fd}'))\n"
        "        except OSError: pass\n"
        "[path for path in found if path.startswith('/') and not path.startswith(('/dev/', '/proc/'))]"
    )
    assert done.output == "[]"


async def test_a_machine_out_of_memory_ends_what_is_inside_first(walled: Callable) -> None:
    done = await walled("open('/proc/self/oom_score_adj').read().strip()")
    assert done.output == "1000"


async def test_memory_and_files_are_bounded(walled: Callable) -> None:
    assert "MemoryError" in (await walled("x = bytearray(6 << 30)")).error
    done = await walled("f = open('/tmp/big', 'wb')\nfor i in range(80): f.write(bytes(8 << 20))")
    assert "No space left" in done.error
    assert (await walled("import os; f.close(); os.unlink('/tmp/big'); 7")).output == "7"


async def test_a_cell_can_not_make_the_runtime_read_through_links(walled: Callable, tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("secret", encoding="utf-8")
    await walled(
        f"import os; os.symlink({str(tmp_path)!r}, 'dir'); os.symlink({str(tmp_path / 'secret.txt')!r}, 'leak.txt')"
    )
    for name in ("leak.txt", "dir/secret.txt", "../x", "/etc/passwd"):
        with pytest.raises(WorkspaceError):
            walled.workspace.open(name)
    await walled("os.unlink('dir'); os.unlink('leak.txt')")


async def test_no_sandbox_fails_closed_and_names_the_ways_out(sessions: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox_module, "_programs", list)
    async with LocalKernels(spare=False) as kernels:
        assert not kernels.sandboxed
        assert "roles-runtime[interpreter]" in kernels.problem
        with pytest.raises(SandboxUnavailableError, match="--unsafe-no-sandbox"):
            kernels.open("a", Workspace(sessions / "closed"))


async def test_a_bubblewrap_that_does_not_work_is_not_believed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n", encoding="utf-8")
    broken.chmod(0o755)
    monkeypatch.setattr(sandbox_module, "_programs", lambda: [str(broken)])
    with pytest.raises(SandboxUnavailableError, match="No permissions to create new namespace"):
        sandbox_module.find_sandbox()


async def test_another_system_is_named_as_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(SandboxUnavailableError, match="needs Linux"):
        sandbox_module.find_sandbox()


async def test_a_current_folder_below_usr_is_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "cwd", classmethod(lambda cls: cls("/usr/share/doc")))
    words = list(sandbox_module._interpreter())
    assert "/usr/share/doc" in [after for word, after in pairwise(words) if word == "--tmpfs"]


async def test_the_filter_is_whole_for_each_machine_it_knows() -> None:
    for machine in ("x86_64", "aarch64"):
        program = seccomp_filter(machine)
        assert program is not None
        assert len(program) % 8 == 0
    assert seccomp_filter("pdp11") is None
