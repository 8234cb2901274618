"""Moves a process that has imported torch outside into a sandbox, and drops the privileges that a candidate must not have.

A sandbox whose first process waits (src/process/sandbox_exec.h, `+hold`) provides descriptors. With them a fork of the nursery enters the
sandbox's namespaces, becomes one of its processes, and applies Landlock and the seccomp filter to itself, as the C++ helper does for a program
that it starts. Nothing here imports torch. No foreign code runs before place() returns; after that, nothing in this process can be trusted.
"""

import ctypes
import os
import resource
import select
import signal
import socket
import struct
import sys
import tempfile
import time

_libc = ctypes.CDLL(None, use_errno=True)

_CLONE_NEWUSER = 0x10000000
_NAMESPACES = 0x00020000 | 0x20000000 | 0x08000000 | 0x40000000 | 0x04000000  # mounts, processes, IPC, network, host name
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_CAPBSET_DROP, _PR_SET_NO_NEW_PRIVS, _PR_CAP_AMBIENT = 1, 4, 24, 38, 47
_PR_CAP_AMBIENT_CLEAR_ALL = 4
_CLONE_NEWNS = 0x00020000
_MOUNT_SETATTR = 442  # the number is the same on every architecture
_AT_FDCWD, _AT_RECURSIVE = -100, 0x8000
_MOUNT_READ_ONLY, _MOUNT_NO_SETUID = 1, 2
_CAPABILITY_VERSION_3 = 0x20080522
_LANDLOCK_RESTRICT_SELF = 446  # the number is the same on every architecture
_SECCOMP_SET_MODE_FILTER, _SECCOMP_NEW_LISTENER = 1, 8
_CONTROL = 3
_ADOPTION_S = 10


def _must(result, what):
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, "%s: %s" % (what, os.strerror(number)))
    return result


def _is_read_only(file):
    return bool(os.statvfs(file).f_flag & os.ST_RDONLY)


def _hand_over_program(link):
    """Passes the program's descriptor from a mount namespace in which everything is read-only. The opened file keeps that property."""
    if _libc.unshare(_CLONE_NEWNS):
        _must(_libc.unshare(_CLONE_NEWUSER | _CLONE_NEWNS), "cannot make a mount namespace")
    attributes = struct.pack("4Q", _MOUNT_READ_ONLY | _MOUNT_NO_SETUID, 0, 0, 0)
    _must(
        _libc.syscall(_MOUNT_SETATTR, _AT_FDCWD, b"/", _AT_RECURSIVE, attributes, ctypes.c_size_t(len(attributes))),
        "cannot make a mount namespace read-only")
    # By name, because the link in /proc leads to the writable mount.
    program = os.open(os.path.realpath(sys.executable), os.O_RDONLY)
    if not _is_read_only(program):
        raise OSError("the interpreter's file is not read-only")
    socket.send_fds(link, [b"d"], [program])


def start_from_read_only_mount():
    """Restarts this interpreter unless it runs from a read-only mount. Its forks keep /proc/self/exe, through which they could otherwise
    reach the mount that the interpreter was started from, outside the sandbox's own mounts."""
    if _is_read_only("/proc/self/exe"):
        return
    ours, theirs = socket.socketpair()
    helper = os.fork()
    if helper == 0:
        try:
            _hand_over_program(theirs)
            os._exit(0)
        except BaseException as error:
            os.write(2, ("%s\n" % error).encode())
        finally:
            os._exit(1)
    theirs.close()
    programs = socket.recv_fds(ours, 1, 1)[1]
    os.waitpid(helper, 0)
    if not programs:
        raise OSError("no read-only mount to start from")
    os.execve(programs[0], sys.orig_argv, os.environ)


def _enter(tickets, nested):
    """Enters the sandbox's namespaces. The process itself stays in its PID namespace; its children are in the sandbox's."""
    first = tickets["first"]
    if "user_namespace" in tickets:
        _must(_libc.setns(tickets["user_namespace"], _CLONE_NEWUSER), "cannot enter the user namespace of the sandbox")
    _must(_libc.setns(first, _NAMESPACES), "cannot enter the namespaces of the sandbox")
    if nested:
        _must(_libc.setns(first, _CLONE_NEWUSER), "cannot enter the inner user namespace of the sandbox")


def _await_adoption():
    """Waits until the first process of the sandbox is the parent, so that this process is one of its descendants."""
    until = time.monotonic() + _ADOPTION_S
    while os.getppid() != 1:
        if time.monotonic() > until:
            raise OSError("the first process of the sandbox did not take this one over")
        time.sleep(0.0005)


def _take_places(tickets, kept):
    """Gives descriptors 0 to 3 their meaning for a worker, and closes all others except those in `kept`."""
    null = os.open("/dev/null", os.O_RDONLY)
    for descriptor, place in ((null, 0), (tickets["out"], 1), (tickets["err"], 2), (tickets["control"], _CONTROL)):
        os.dup2(descriptor, place)
    low = _CONTROL + 1
    for descriptor in sorted(kept):
        os.closerange(low, descriptor)
        low = descriptor + 1
    os.closerange(low, resource.getrlimit(resource.RLIMIT_NOFILE)[0])


def _forget_outside(environment, folder):
    """Resets what was set or drawn at random before the fork, including copies in libraries."""
    os.environ.clear()
    os.environ.update(line.partition("=")[::2] for line in environment)
    os.chdir(folder)
    tempfile.tempdir = None
    tempfile._name_sequence = None
    if "random" in sys.modules:
        sys.modules["random"].seed()
    if "numpy.random" in sys.modules:
        sys.modules["numpy.random"].seed()


class _Capabilities(ctypes.Structure):
    _fields_ = [("effective", ctypes.c_uint32), ("permitted", ctypes.c_uint32), ("inheritable", ctypes.c_uint32)]


def _drop_capabilities():
    for capability in range(64):
        _libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0)
    _libc.prctl(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    _must(_libc.capset(header, (_Capabilities * 2)()), "cannot drop capabilities")


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p)]


def _load_filter(program, call):
    """Returns the descriptor that Hone's SyscallWatch answers."""
    filter_ = _Program(len(program) // 8, program)
    return _must(
        _libc.syscall(call, _SECCOMP_SET_MODE_FILTER, _SECCOMP_NEW_LISTENER, ctypes.byref(filter_)), "cannot load the seccomp filter")


def _become_expendable(limits):
    """Says how much rather than others the kernel ends this process when memory runs out. If Hone is privileged, this can be undone only with
    its privileges, so it is done before they are dropped."""
    for word in limits:
        name, _, value = word.partition("=")
        if name == "EXPENDABLE":
            try:
                with open("/proc/self/oom_score_adj", "w") as file:
                    file.write(value)
            except OSError:  # some containers forbid it; the other limits hold
                pass


def _lower_limits(limits):
    """Lowers the limits of this process (src/process/limits.h). None is raised."""
    for word in limits:
        name, _, value = word.partition("=")
        if name != "EXPENDABLE":
            number = getattr(resource, "RLIMIT_" + name)
            soft, hard = (int(value) if one == resource.RLIM_INFINITY else min(one, int(value)) for one in resource.getrlimit(number))
            resource.setrlimit(number, (soft, hard))


def _await_closing(descriptor):
    """Waits until the other end of a pipe is closed."""
    poll = select.poll()
    poll.register(descriptor, 0)
    if not poll.poll(1000 * _ADOPTION_S):
        raise OSError("the first process of the sandbox did not answer")


def _settle(request, tickets):
    """The last steps, as a process of the sandbox."""
    _await_adoption()
    _libc.prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
    os.setsid()
    told, listener_goes_to = tickets["told"], tickets["ticket"]
    rules = tickets.get("rules")
    _take_places(tickets, [one for one in (told, listener_goes_to, rules) if one is not None])
    _forget_outside(request["environment"], request["folder"])
    os.write(told, struct.pack("i", os.getpid()))
    _await_closing(told)
    os.close(told)
    _lower_limits(request["limits"])
    _drop_capabilities()
    # After entering namespaces this process can no longer read its own entries in /proc.
    _must(_libc.prctl(_PR_SET_DUMPABLE, 1, 0, 0, 0), "cannot become an ordinary process")
    _must(_libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "cannot set no_new_privs")
    if rules is not None:
        _must(_libc.syscall(_LANDLOCK_RESTRICT_SELF, rules, 0), "cannot restrict the file system with Landlock")
        os.close(rules)
    program = bytes.fromhex(request["filter"])
    with socket.socket(fileno=listener_goes_to) as ticket:
        listener = _load_filter(program, request["seccomp"])
        ticket.sendmsg([b"d"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, struct.pack("i", listener))])
        os.close(listener)


def place(request, descriptors):
    """Returns in a new process inside the sandbox, with its channel at descriptor 3. In this process it returns False as soon as the other
    one has started; if that one fails, the sandbox's stderr has the reason."""
    tickets = dict(zip(request["descriptors"], descriptors))
    outside = os.fork()
    if outside:
        os.waitpid(outside, 0)
        return False
    try:
        os.dup2(tickets["err"], 2)
        _become_expendable(request["limits"])
        _enter(tickets, request["nested"])
        between = os.fork()  # when it ends, the sandbox's first process becomes its child's parent
        if between:
            os.waitpid(between, 0)
            os._exit(0)
        if os.fork():
            os._exit(0)
        _settle(request, tickets)
    except BaseException as error:  # a process that is neither inside nor outside must not continue
        try:
            os.write(2, ("%s\n" % error).encode())
        finally:
            os._exit(126)
    return True
