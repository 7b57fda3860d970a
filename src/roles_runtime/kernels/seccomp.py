"""A seccomp filter, assembled by hand: system calls that no analysis needs and every escape begins with.

It allows by default; what matters most is that no new namespaces can be made, since a user namespace would give
back the capabilities that were dropped, within it, and that there are no sockets but those which a network namespace
walls off: one of the vsock family speaks with the host of a virtual machine whatever namespace it is in.
"""

from __future__ import annotations

import platform
import struct

_LOAD, _JUMP_EQUAL, _JUMP_ABOVE, _JUMP_BITS, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _KILL, _EPERM, _ENOSYS, _EAFNOSUPPORT = 0x7FFF0000, 0x80000000, 0x00050001, 0x00050026, 0x00050061
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16
_X32 = 0x40000000
# CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET
_NEW_NAMESPACES = 0x00020000 | 0x02000000 | 0x04000000 | 0x08000000 | 0x10000000 | 0x20000000 | 0x40000000

# Numbers above 424 are the same on all architectures: io_uring, the new mount calls, pidfd_getfd, mount_setattr.
_NEW_CALLS = (425, 426, 427, 428, 429, 430, 431, 432, 433, 438, 442, 443)

# ptrace, mount, umount2, pivot_root, chroot, swapon, swapoff, reboot, sethostname, setdomainname, init_module,
# delete_module, finit_module, quotactl, kexec_load, kexec_file_load, add_key, request_key, keyctl, unshare, setns,
# perf_event_open, fanotify_init, open_by_handle_at, process_vm_readv, process_vm_writev, kcmp, bpf, userfaultfd,
# acct, settimeofday, syslog, personality, and on x86 also iopl, ioperm, modify_ldt, vhangup.
_BLOCKED = {
    "x86_64": (
        *(101, 165, 166, 155, 161, 167, 168, 169, 170, 171, 175, 176, 313, 179, 246, 320, 248, 249, 250, 272, 308),
        *(298, 300, 304, 310, 311, 312, 321, 323, 163, 164, 103, 135, 172, 173, 154, 153),
    ),
    "aarch64": (
        *(117, 40, 39, 41, 51, 224, 225, 142, 161, 162, 105, 106, 273, 60, 104, 294, 217, 218, 219, 97, 268),
        *(241, 262, 265, 270, 271, 272, 280, 282, 89, 170, 116, 92),
    ),
}
_AUDIT = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_CLONE = {"x86_64": 56, "aarch64": 220}
_CLONE3 = 435
_SOCKET = {"x86_64": 41, "aarch64": 198}
_SOCKETPAIR = {"x86_64": 53, "aarch64": 199}
# AF_UNIX, AF_INET, AF_INET6, AF_NETLINK
_FAMILIES = (1, 2, 10, 16)


def seccomp_filter(machine: str = "") -> bytes | None:
    """The filter as the kernel takes it (an array of ``struct sock_filter``), or None for an unknown machine."""
    machine = machine or platform.machine()
    if machine not in _BLOCKED:
        return None
    program = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_JUMP_EQUAL, 1, 0, _AUDIT[machine]),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER),
    ]
    if machine == "x86_64":
        program += [(_JUMP_ABOVE, 0, 1, _X32), (_RETURN, 0, 0, _EPERM)]
    for call in (*_BLOCKED[machine], *_NEW_CALLS):
        program += [(_JUMP_EQUAL, 0, 1, call), (_RETURN, 0, 0, _EPERM)]
    program += _families(_SOCKET[machine]) + _families(_SOCKETPAIR[machine])
    program += [
        # Its flags stand in memory, which a filter can not read; callers then fall back to clone.
        (_JUMP_EQUAL, 0, 1, _CLONE3),
        (_RETURN, 0, 0, _ENOSYS),
        (_JUMP_EQUAL, 0, 3, _CLONE[machine]),
        (_LOAD, 0, 0, _FIRST_ARGUMENT),
        (_JUMP_BITS, 0, 1, _NEW_NAMESPACES),
        (_RETURN, 0, 0, _EPERM),
        (_RETURN, 0, 0, _ALLOW),
    ]
    return b"".join(struct.pack("=HBBI", *each) for each in program)


def _families(call: int) -> list[tuple[int, int, int, int]]:
    """Lets a call that makes sockets through for some families only; goes on with the number of the call loaded."""
    allowed = [(_JUMP_EQUAL, len(_FAMILIES) - at, 0, family) for at, family in enumerate(_FAMILIES)]
    return [
        (_JUMP_EQUAL, 0, len(_FAMILIES) + 3, call),
        (_LOAD, 0, 0, _FIRST_ARGUMENT),
        *allowed,
        (_RETURN, 0, 0, _EAFNOSUPPORT),
        (_RETURN, 0, 0, _ALLOW),
    ]
