"""The command lines that shut a program in: no network, no home folder, a read-only system, processes of its own.

Each function returns what stands before the program's own command, or None where the tool is not there. `box`, a folder
of the host, is seen as /box: read-only unless `writable`. /tmp is new and of limited size. The environment is the
caller's to empty.
"""

import os
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

BOX = "/box"
SCRATCH_BYTES = 64 * 2**20
ETC = ("alternatives", "ld.so.cache", "java*", "mono", "php*")  # what toolchains read there; nothing else of /etc shows
OTHER_USER = 65534  # whom root's programs run as: limits on the number of processes do not bind root
SYSTEM_PATH = ("/usr/local/bin", "/usr/bin", "/bin")


@dataclass(frozen=True)
class Places:
    """Folders beyond the system's that hold toolchains, and the image of a container with them."""

    toolchains: str | None = None
    image: str | None = None

    @property
    def folders(self) -> list[str]:
        """Folders that a program may read: the given one, and the conda environment that this interpreter is from."""
        conda = [sys.prefix] if (Path(sys.prefix) / "conda-meta").is_dir() else []
        return [*([str(Path(self.toolchains).resolve())] if self.toolchains else []), *conda]

    @property
    def path(self) -> str:
        """The search path of a program."""
        own = [f"{folder}/{part}" for folder in self.folders for part in ("node_modules/.bin", "bin")]
        return ":".join([*own, *SYSTEM_PATH])


Wrap = Callable[[str, bool, Places], Sequence[str] | None]


def bubblewrap(
    box: str, writable: bool, places: Places, *, sized: bool = True, closed: bool = True
) -> list[str] | None:
    """Versions before 0.8 cannot keep a program from namespaces of its own (closed), in which it may mount file systems
    that take memory; those before 0.7 cannot limit the size of /tmp (sized).
    """
    if (tool := shutil.which("bwrap")) is None:
        return None
    size = ["--size", str(SCRATCH_BYTES)] if sized else []
    command = [tool, "--unshare-user", "--unshare-all", "--die-with-parent", "--new-session"]
    command += ["--disable-userns"] if closed else []
    command += ["--proc", "/proc", "--dev", "/dev", *size, "--tmpfs", "/dev/shm", "--remount-ro", "/dev"]
    command += [*size, "--tmpfs", "/tmp"]  # before the folders, of which one may be below it
    for folder in ["/usr", *_etc(), *places.folders]:
        command += ["--ro-bind", folder, folder]
    for link in (Path(f"/{name}") for name in ("bin", "sbin", "lib", "lib64")):
        if link.is_symlink():
            command += ["--symlink", os.readlink(link), str(link)]
        elif link.is_dir():
            command += ["--ro-bind", str(link), str(link)]
    command += ["--bind" if writable else "--ro-bind", box, BOX, "--remount-ro", "/"]
    return [*command, "--chdir", "/tmp", "--"]


def sized_bubblewrap(box: str, writable: bool, places: Places) -> list[str] | None:
    return bubblewrap(box, writable, places, closed=False)


def old_bubblewrap(box: str, writable: bool, places: Places) -> list[str] | None:
    return bubblewrap(box, writable, places, sized=False, closed=False)


def apptainer(box: str, writable: bool, places: Places) -> list[str] | None:
    if places.image is None or (tool := shutil.which("apptainer") or shutil.which("singularity")) is None:
        return None
    command = [tool, "--silent", "exec", "--containall", "--no-home", "--cleanenv", "--net", "--network", "none"]
    for folder in places.folders:
        command += ["--bind", f"{folder}:{folder}:ro"]
    command += ["--bind", f"{box}:{BOX}{'' if writable else ':ro'}", "--pwd", "/tmp"]
    variables = [f"{name}={value}" for name, value in environment(places).items()]
    return [*command, places.image, "/usr/bin/env", *variables]


ROOT_SCRIPT = """set -e
root=$1 box=$2 mode=$3 size=$4; shift 4
mount -t tmpfs -o "size=$size" tmpfs "$root"
mkdir "$root/proc" "$root/dev" "$root/tmp"
mount -t proc proc "$root/proc"; mount -t tmpfs -o "size=$size" tmpfs "$root/tmp"
show() { mkdir -p "$root$2"; mount --rbind "$1" "$root$2"; }
while [ "$1" != -- ]; do
  if [ -f "$1" ]; then mkdir -p "$root${1%/*}"; : > "$root$1"; mount --bind "$1" "$root$1"; else show "$1" "$1"; fi
  mount -o remount,bind,ro "$root$1"
  shift
done; shift
for link in bin sbin lib lib64; do if [ -L "/$link" ]; then cp -P "/$link" "$root/$link"; fi; done
show "$box" /box; if [ "$mode" = ro ]; then mount -o remount,bind,ro "$root/box"; fi
for name in null zero full random urandom; do : > "$root/dev/$name"; mount --bind "/dev/$name" "$root/dev/$name"; done
ln -s /proc/self/fd "$root/dev/fd"; ln -s fd/0 "$root/dev/stdin"; ln -s fd/1 "$root/dev/stdout"
mount -o remount,bind,ro "$root"
powerless="setpriv --no-new-privs --bounding-set=-all --inh-caps=-all --"
/usr/sbin/chroot "$root" $powerless /bin/sh -c 'cd /tmp; exec "$@"' sh "$@"
exit $?"""


def unshare(box: str, writable: bool, places: Places) -> list[str] | None:
    """Only util-linux and coreutils: a root folder of bind mounts, made by a script inside the new namespaces."""
    if (tool := shutil.which("unshare")) is None:
        return None
    command = [tool, "--map-root-user", "--net", "--ipc", "--uts", "--pid", "--mount", "--fork", "--kill-child"]
    folders = ["/usr", *_etc(), *places.folders]
    plain = [f"/{name}" for name in ("bin", "sbin", "lib", "lib64")]
    folders += [folder for folder in plain if Path(folder).is_dir() and not Path(folder).is_symlink()]
    script = ["/bin/sh", "-c", ROOT_SCRIPT, "sh", "/mnt", box, "rw" if writable else "ro", str(SCRATCH_BYTES)]
    return [*command, "--", *script, *folders, "--"]


def _etc() -> list[str]:
    return [str(path) for name in ETC for path in sorted(Path("/etc").glob(name))]


def environment(places: Places) -> dict[str, str]:
    """Return all the variables that a program sees."""
    fixed = {"HOME": "/tmp", "TMPDIR": "/tmp", "LANG": "C.UTF-8", "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"}
    # Mono's Debug.Assert says nothing without a listener; address space for each thread's memory arena is not to be had
    return {"PATH": places.path, "MONO_TRACE_LISTENER": "Console.Error", "MALLOC_ARENA_MAX": "2"} | fixed
