# Sourced by ci/demo, ci/test and ci/bench: finds Python, installs packages where it may, makes virtual environments.

say() { printf '\n== %s\n' "$*"; }

# Prints the first Python >= 3.11.
find_python() {
    local candidate
    for candidate in python3 python3.13 python3.12 python3.11 python3.14; do
        if command -v "$candidate" >/dev/null &&
            "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
            echo "$candidate"
            return
        fi
    done
    echo "Python 3.11 or newer is needed and none was found; install it (apt-get install python3 python3-venv)" >&2
    return 6
}

# present COMMAND|PATTERN: whether a command, or a file (if there is a slash in it), is there.
present() {
    case "$1" in
        */*) compgen -G "$1" >/dev/null ;;
        *) command -v "$1" >/dev/null ;;
    esac
}

# apt_install COMMAND=PACKAGE[,OTHER NAME OF IT] ...: installs the packages whose command or file is missing.
# Without root, or without apt, it says what is missing and goes on: whoever needs it names it again.
apt_install() {
    local pair package missing=() as_root=()
    for pair in "$@"; do
        present "${pair%=*}" || missing+=("$pair")
    done
    [ ${#missing[@]} -eq 0 ] && return 0
    if ! command -v apt-get >/dev/null; then
        echo "missing, and there is no apt-get here: ${missing[*]##*=}" >&2
        return 0
    fi
    if [ "$(id -u)" -ne 0 ]; then
        if ! sudo -n true 2>/dev/null; then
            echo "missing, and installing needs root: sudo apt-get install ${missing[*]##*=}" >&2
            return 0
        fi
        as_root=(sudo -n)
    fi
    say "apt-get install ${missing[*]##*=}"
    "${as_root[@]}" apt-get update -qq || true
    for pair in "${missing[@]}"; do
        for package in $(tr , ' ' <<<"${pair##*=}"); do
            present "${pair%=*}" && break
            "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
                apt-get install -y -qq --no-install-recommends "$package" >/dev/null 2>&1 || true
        done
        present "${pair%=*}" || echo "apt-get did not bring ${pair%=*} (${pair##*=})" >&2
    done
}

# The extras whose packages ci/lock.txt pins; `bash ci/lock` writes it.
LOCKED_EXTRAS=verify,run,time,prove,cli,dev,docs

# test_environment: what the tests run in, .venv-test. Each version, and the hash of each file, is that of ci/lock.txt;
# only NVIDIA's compiler, where the machine has none, comes by pyproject.toml alone.
test_environment() {
    local extras=$LOCKED_EXTRAS
    present nvcc || present /usr/local/cuda/bin/nvcc || extras=$extras,cuda
    environment .venv-test "$extras" ci/lock.txt
}

# Options of pip for what is installed. Where byte code has a place of its own, that of what is imported is made there.
pip_options=(-qq --disable-pip-version-check ${PYTHONPYCACHEPREFIX:+--no-compile})

# have_venv PYTHON: makes sure that this Python can make environments.
have_venv() {
    if ! "$1" -c 'import ensurepip, venv' 2>/dev/null; then
        apt_install "/usr/lib/python3*/ensurepip=python3-venv"
    fi
}

# environment FOLDER EXTRAS [LOCK]: a virtual environment with this package (editable) and its extras; reused until
# pyproject.toml, setup.py, the Python or the lock change. Sets PYTHON.
environment() {
    local folder=$1 extras=$2 lock=${3:-} base stamp
    base=$(find_python)
    have_venv "$base"
    PYTHON="$PWD/$folder/bin/python"
    stamp=$("$base" -V && sha256sum pyproject.toml setup.py && echo "$extras $PWD" && cat ${lock:+"$lock"} </dev/null)
    if [ "$(cat "$folder/stamp" 2>/dev/null)" = "$stamp" ]; then
        return
    fi
    say "installing tilewright[$extras] into $folder"
    [ -x "$PYTHON" ] || "$base" -m venv --clear "$folder"
    [ -z "$lock" ] || "$PYTHON" -m pip install "${pip_options[@]}" --require-hashes --requirement "$lock"
    "$PYTHON" -m pip install "${pip_options[@]}" --editable ".[$extras]" ${lock:+--no-build-isolation}
    echo "$stamp" >"$folder/stamp"
}

# packages FOLDER PYTHON REQUIREMENTS: a virtual environment of this Python with the packages of a file and nothing else;
# reused until the file or the Python change.
packages() {
    local folder=$1 base=$2 requirements=$3 stamp pip=()
    have_venv "$base"
    stamp=$("$base" -V && cat "$requirements")
    if [ "$(cat "$folder/stamp" 2>/dev/null)" = "$stamp" ]; then
        return
    fi
    say "installing $(tr '\n' ' ' <"$requirements")into $folder"
    if "$base" -m pip --version >/dev/null 2>&1; then
        "$base" -m venv --clear --without-pip "$folder"
        pip=("$base" -m pip --python "$folder/bin/python")
    else
        "$base" -m venv --clear "$folder"
        pip=("$folder/bin/python" -m pip)
    fi
    "${pip[@]}" install "${pip_options[@]}" --requirement "$requirements"
    echo "$stamp" >"$folder/stamp"
}
