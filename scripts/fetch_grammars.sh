#!/bin/sh
# Fetches the tree-sitter grammars for `hone lint` as pinned source releases from the Python package index
# into ${HONE_DEPS:-$XDG_CACHE_HOME/hone/deps}. CMake compiles them. A second run is quick, because complete
# files are kept. Only the three headers that generated parsers include are used from the tree-sitter package
# itself.
set -eu

deps="${HONE_DEPS:-${XDG_CACHE_HOME:-$HOME/.cache}/hone/deps}"
index="${PIP_INDEX_URL:-https://pypi.org/simple}"
mkdir -p "$deps"

fetch() {  # project, file, sha256
  folder="$deps/${2%.tar.gz}"
  [ -e "$folder/.complete" ] && return 0
  python3 - "$index" "$1" "$2" "$3" "$deps" <<'PY'
import hashlib, html.parser, io, os, shutil, sys, tarfile, tempfile, urllib.parse, urllib.request

index, project, name, digest, deps = sys.argv[1:]
page = index.rstrip("/") + "/" + project + "/"
links = []


class Links(html.parser.HTMLParser):
    def handle_starttag(self, tag, attrs):
        href = dict(attrs).get("href") or ""
        if tag == "a" and urllib.parse.urlparse(href).path.endswith("/" + name):
            links.append(urllib.parse.urljoin(page, href))


request = urllib.request.Request(page, headers={"Accept": "text/html"})
Links().feed(urllib.request.urlopen(request, timeout=120).read().decode())
if not links:
    sys.exit(f"{page} does not offer {name}")
data = urllib.request.urlopen(links[0], timeout=300).read()
if hashlib.sha256(data).hexdigest() != digest:
    sys.exit(f"{links[0]} is not the file that was pinned (sha256 differs)")
scratch = tempfile.mkdtemp(dir=deps)
with tarfile.open(fileobj=io.BytesIO(data)) as archive:
    archive.extractall(scratch)
folder = name[: -len(".tar.gz")]
shutil.rmtree(os.path.join(deps, folder), ignore_errors=True)
os.rename(os.path.join(scratch, folder), os.path.join(deps, folder))
os.rmdir(scratch)
open(os.path.join(deps, folder, ".complete"), "w").close()
print("fetched", name)
PY
}

fetch tree-sitter-python tree_sitter_python-0.23.6.tar.gz 354bfa0a2f9217431764a631516f85173e9711af2c13dbd796a8815acfe505d9
fetch tree-sitter-cuda tree_sitter_cuda-0.21.0.tar.gz ee097e7ec6fc5f7f8baa6194b630cc34321971b364ca920effa996e1f30418e5
fetch tree-sitter tree-sitter-0.23.2.tar.gz 66bae8dd47f1fed7bdef816115146d3a41c39b5c482d7bad36d9ba1def088450
