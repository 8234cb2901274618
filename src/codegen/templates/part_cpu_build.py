# Compiles C++ for the machine it runs on, with g++, clang++ or c++, and keeps the library.
import platform


def _cpu_identity():
    try:
        with open("/proc/cpuinfo") as f:
            lines = [line for line in f.read(65536).splitlines() if line.split(":")[0].strip() in ("flags", "Features", "model name")]
        return "\n".join(lines[:2])
    except OSError:
        return platform.machine() + platform.processor()


def _compile(compiler, flags, source, target):
    """Compiles to a private name and renames: another process sees the whole file or none."""
    said = ""
    for tune in (["-march=native"], ["-mcpu=native"], []):
        partial = "%s.%d.%d.tmp" % (target, os.getpid(), threading.get_ident())
        try:
            done = subprocess.run([compiler, *flags, "-fPIC", "-shared", "-pthread", *tune, "-x", "c++", "-", "-o", partial], input=source.encode(),
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)  # fmt: skip
        except (OSError, subprocess.SubprocessError) as e:
            return str(e)
        if done.returncode == 0:
            os.replace(partial, target)
            return None
        said = said or done.stdout.decode(errors="replace").strip()[:400]
    return said


def _build(kind, source, flags):
    """The library that `source` makes, compiled unless it is in the cache. `kind` begins its file's name."""
    compilers = [c for c in (os.environ.get("CXX"), "g++", "clang++", "c++") if c and shutil.which(c)]
    identity = "\0".join([source, *flags, _cpu_identity(), platform.system(), platform.machine()])
    name = "%s-%s.so" % (kind, hashlib.sha256(identity.encode()).hexdigest()[:24])
    said = "no C++ compiler (g++, clang++ or c++) was found"
    for folder in _cache_folders():
        try:
            if folder is None:
                folder = tempfile.mkdtemp(prefix="hone-kernels-")
            else:
                os.makedirs(folder, mode=0o700, exist_ok=True)
            target = os.path.join(folder, name)
            if os.path.exists(target):
                try:
                    return ctypes.CDLL(target)
                except OSError:
                    pass  # damaged or of another machine: built anew
            for compiler in compilers:
                said = _compile(compiler, flags, source, target)
                if said is None:
                    return ctypes.CDLL(target)
        except OSError as e:
            said = str(e)
    raise _Unsupported("the CPU kernel could not be built: " + said)


def _threads():
    try:
        cores = len(os.sched_getaffinity(0))
    except AttributeError:
        cores = os.cpu_count() or 1
    return max(1, min(cores, torch.get_num_threads()))
