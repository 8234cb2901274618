# CUDA without a build: NVRTC (which torch brings along) or nvcc compiles a kernel's text, and the driver loads and launches it.
import glob

_DEVICE = @@h200.json:device@@  # of an H200; for what a device does not tell
_SOURCES = {}  # kernel name -> CUDA text
_PLANS_KEPT = 64  # shapes and streams per set of weights
_raw_stream = getattr(torch._C, "_cuda_getCurrentRawStream", None) or (lambda device: torch.cuda.current_stream(device).cuda_stream)
_captured = set()  # memory that captured graphs read; it is never freed


def _up(value, to):
    return -(-value // to) * to


def _pointer(tensor=None):
    return ctypes.c_void_p(None if tensor is None else tensor.data_ptr())


def _nvrtc():
    major = (torch.version.cuda or "").split(".")[0]
    wheels = os.path.join(os.path.dirname(os.path.dirname(torch.__file__)), "nvidia", "*", "lib", "libnvrtc.so*")
    toolkit = os.path.join(os.environ.get("CUDA_HOME") or "/usr/local/cuda", "lib64", "libnvrtc.so*")
    for path in [*sorted(glob.glob(wheels)), "libnvrtc.so." + major, *sorted(glob.glob(toolkit))]:
        try:
            return ctypes.CDLL(path)
        except OSError:
            continue
    return None


def _compile_nvrtc(library, source, arch, defines):
    """The machine code, or a sentence that says why there is none."""
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    if library.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"kernel.cu", 0, None, None):
        return "NVRTC could not be started"
    try:
        options = [o.encode() for o in ("--gpu-architecture=" + arch, "--std=c++17", "-default-device", *defines)]
        if library.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options)):
            library.nvrtcGetProgramLogSize(program, ctypes.byref(size))
            log = ctypes.create_string_buffer(size.value)
            library.nvrtcGetProgramLog(program, log)
            return "NVRTC: " + log.value.decode(errors="replace").strip()[:400]
        library.nvrtcGetCUBINSize(program, ctypes.byref(size))
        image = ctypes.create_string_buffer(size.value)
        library.nvrtcGetCUBIN(program, image)
        return image.raw
    finally:
        library.nvrtcDestroyProgram(ctypes.byref(program))


def _compile_nvcc(source, arch, defines):
    nvcc = shutil.which("nvcc") or os.path.join(os.environ.get("CUDA_HOME") or "/usr/local/cuda", "bin", "nvcc")
    if not os.path.exists(nvcc):
        return "there is no nvcc"
    with tempfile.TemporaryDirectory(prefix="hone-kernels-") as folder:
        with open(os.path.join(folder, "kernel.cu"), "w") as f:
            f.write(source)
        command = [nvcc, "-std=c++17", "-arch=" + arch, "-cubin", "-o", "kernel.cubin", *defines, "kernel.cu"]
        try:
            done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
        except (OSError, subprocess.SubprocessError) as e:
            return "nvcc: %s" % e
        if done.returncode:
            return "nvcc: " + done.stdout.decode(errors="replace").strip()[:400]
        with open(os.path.join(folder, "kernel.cubin"), "rb") as f:
            return f.read()


def _compile(source, arch, defines):
    said = []
    library = _nvrtc()
    for made in (lambda: _compile_nvrtc(library, source, arch, defines) if library else "there is no NVRTC", lambda: _compile_nvcc(source, arch, defines)):
        image = made()
        if isinstance(image, bytes):
            return image
        said.append(image)
    raise _Unsupported("the CUDA kernel could not be built: " + "; ".join(said))


def _images(name, arch, macros):
    """The machine code of a kernel: the one that an earlier run kept, or, if that cannot be loaded, newly built and kept."""
    defines = ["-D%s=%s" % item for item in sorted(macros.items())]
    identity = "\0".join([_SOURCES[name], arch, torch.version.cuda or "", *defines])
    file = "%s-%s.cubin" % (name, hashlib.sha256(identity.encode()).hexdigest()[:24])
    folders = [f for f in _cache_folders() if f]
    for folder in folders:
        try:
            with open(os.path.join(folder, file), "rb") as f:
                yield f.read()
        except OSError:
            pass
    image = _compile(_SOURCES[name], arch, defines)
    for folder in folders:
        try:
            os.makedirs(folder, mode=0o700, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=folder, suffix=".tmp", delete=False) as f:
                f.write(image)
            os.replace(f.name, os.path.join(folder, file))
            break
        except OSError:
            continue  # not kept: the next process compiles again
    yield image


class _Attribute(ctypes.Structure):  # CUlaunchAttribute
    _fields_ = [("id", ctypes.c_int), ("pad", ctypes.c_int), ("x", ctypes.c_uint), ("y", ctypes.c_uint), ("z", ctypes.c_uint), ("rest", ctypes.c_char * 52)]


class _Config(ctypes.Structure):  # CUlaunchConfig
    _fields_ = [(n, ctypes.c_uint) for n in ("gx", "gy", "gz", "bx", "by", "bz", "shared")] + [
        ("stream", ctypes.c_void_p), ("attributes", ctypes.POINTER(_Attribute)), ("count", ctypes.c_uint)]  # fmt: skip


_ATTRIBUTE_COOPERATIVE, _ATTRIBUTE_CLUSTER, _ATTRIBUTE_OVERLAP = 2, 4, 6
_SHARED_BYTES, _LARGE_CLUSTERS = 8, 14  # of cuFuncSetAttribute


class _Driver:
    """The CUDA driver. Its errors are raised as _Unsupported. torch has initialised the driver and owns the contexts."""

    def __init__(self):
        self.library, self.contexts = ctypes.CDLL("libcuda.so.1"), {}
        self.launch_kernel = self.library.cuLaunchKernelEx

    def __call__(self, name, *arguments):
        code = getattr(self.library, name)(*arguments)
        if code:
            raise _Unsupported("%s failed: %s" % (name, self._words(code)))

    def launch(self, arguments):
        code = self.launch_kernel(*arguments)
        if code:
            raise _Unsupported("the launch failed: %s" % self._words(code))

    def _words(self, code):
        text = ctypes.c_char_p()
        self.library.cuGetErrorString(code, ctypes.byref(text))
        return "%s (%d)" % ((text.value or b"an unknown error").decode(), code)

    def enter(self, device):
        """Makes torch's context of the device current: a thread that has not called CUDA yet has none."""
        context = self.contexts.get(device)
        if context is None:
            context, number = ctypes.c_void_p(), ctypes.c_int()
            self("cuDeviceGet", ctypes.byref(number), device)
            self("cuDevicePrimaryCtxRetain", ctypes.byref(context), number)
            self.contexts[device] = context
        self("cuCtxSetCurrent", context)


_driver_state = []


def _driver():
    if not _driver_state:
        try:
            _driver_state.append(_Driver())
        except OSError as e:
            raise _Unsupported("the CUDA driver cannot be loaded: %s" % e) from None
        except AttributeError as e:
            raise _Unsupported("the CUDA driver is too old: %s" % e) from None
    return _driver_state[0]


_allowed = {}  # function -> bytes of shared memory that its launches may ask for


def _allow_shared(function, size):
    """Sets the shared memory of a function. Launches share a function, and the driver keeps only the last value, so the largest is set."""
    with _lock:
        if size > 48 * 1024 and size > _allowed.get(function.value, 0):
            _driver()("cuFuncSetAttribute", function, _SHARED_BYTES, size)
            _allowed[function.value] = size


def _capturing():
    return torch.cuda.is_current_stream_capturing()


def _not_while_capturing(advice="with this shape before"):
    """Refuses to compile, pack or synchronise during a capture: none of these can be part of a graph."""
    if _capturing():
        raise _Unsupported("a CUDA graph is being captured; call the module once " + advice)


def _before_packing(device, drops):
    """Refuses to pack weights during a capture. Waits for the device if memory is freed, because any stream may still read it."""
    _not_while_capturing("before, and again after its weights changed")
    if drops:
        torch.cuda.synchronize(device)


_FROM_AMPERE = ("recurrent_grid", "recurrent_step")


def _arch(device, name):
    major, minor = torch.cuda.get_device_capability(device)
    if major == 8 and name in _FROM_AMPERE:
        return "sm_%d%d" % (major, minor)
    if major not in (9, 10):
        raise _Unsupported("the CUDA kernel is for Hopper and Blackwell (sm_90, sm_100), not sm_%d%d" % (major, minor))
    return "sm_%d%da" % (major, minor)


_modules, _functions = {}, {}


def _function(device, name, macros, entry=None):
    """A loaded kernel, `entry` of the source `name`; its module stays for the life of the process, as captured graphs refer to it."""
    key = (device, name, tuple(sorted(macros.items())))
    entry = entry or name
    with _lock:
        if (key, entry) not in _functions:
            _not_while_capturing()
            driver, failure = _driver(), None
            driver.enter(device)
            for image in [None] if key in _modules else _images(name, _arch(device, name), macros):
                module, function = _modules.get(key) or ctypes.c_void_p(), ctypes.c_void_p()
                try:
                    if image is not None:
                        driver("cuModuleLoadData", ctypes.byref(module), image)
                    driver("cuModuleGetFunction", ctypes.byref(function), module, entry.encode())
                    _modules[key], _functions[key, entry] = module, function
                    break
                except _Unsupported as e:
                    failure = e
            else:
                raise failure
        return _functions[key, entry]
