# shellcheck shell=bash
# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Set-up in steps, for packaging/setup, start, test and bundle to source. Each step looks first
# whether there is anything to do, so a second run takes seconds; what was done is remembered by
# stamps that hold a hash of what it was done from. Exit codes are those of the programs: 2 for an
# unusable request, 3 when the machine, a package or the network is to blame.
#
# Environment: CUDA_AGENT_VENV (an existing virtual environment to use, never changed),
# CUDA_AGENT_BASE_PYTHON (default /usr/bin/python3), CUDA_HOME, CUDA_AGENT_JOBS (parallel jobs).

set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
logs=$root/build/setup
base_python=${CUDA_AGENT_BASE_PYTHON:-/usr/bin/python3}
jobs=${CUDA_AGENT_JOBS:-$(nproc)}
venv=${CUDA_AGENT_VENV:-$root/.venv}
preset=release
step_number=0
step_count=5
step_name=

# fail CODE MESSAGE: the one line that says what is wrong and what to do.
fail() {
    printf 'packaging/%s: %s\n' "$(basename "$0")" "$2" >&2
    exit "$1"
}

# finished SECONDS_OR_WORD: closes the progress line of the running step.
finished() {
    [ -t 1 ] && printf '\r\033[K'
    printf '[%d/%d] %s … %s\n' "$step_number" "$step_count" "$step_name" "$1"
}

begin() {
    step_number=$((step_number + 1))
    step_name=$1
    [ -t 1 ] && printf '[%d/%d] %s …' "$step_number" "$step_count" "$step_name"
    return 0
}

# logged COMMAND...: runs it with its output in the step's log. A terminal sees the last line of
# the log, a pipe sees a line every half minute, so that a long step never looks dead.
logged() {
    local log=$logs/$step_number.log started=$SECONDS pid code=0 line
    mkdir -p "$logs"
    # A process group of its own, so that Ctrl-C reaches all that the command started.
    set -m
    "$@" >>"$log" 2>&1 </dev/null 9>&- &
    pid=$!
    set +m
    # shellcheck disable=SC2064 # the number of this very process
    trap "kill -- -$pid 2>/dev/null || true; echo; exit 130" INT TERM
    local next=30
    while kill -0 "$pid" 2>/dev/null; do
        sleep 0.2
        if [ -t 1 ]; then
            line=$(tail -c 300 "$log" | tr '\r' '\n' | tr -cd '[:print:]\n' | tail -n 1)
            printf '\r\033[K[%d/%d] %s … %d s  %.60s' "$step_number" "$step_count" "$step_name" \
                $((SECONDS - started)) "$line"
        elif [ $((SECONDS - started)) -ge "$next" ]; then
            printf '[%d/%d] %s … %d s so far\n' "$step_number" "$step_count" "$step_name" "$next"
            next=$((next + 30))
        fi
    done
    wait "$pid" || code=$?
    trap - INT TERM
    return "$code"
}

# start_log: empties the log of the running step.
start_log() {
    mkdir -p "$logs" 2>/dev/null || fail 3 "cannot write to $root/build: is the disk full or the folder another user's?"
    : >"$logs/$step_number.log" || fail 3 "cannot write to $logs"
}

# reason: the line of the step's log that names the cause, network and disk first.
reason() {
    local log=$logs/$step_number.log found
    found=$(grep -m1 -iE 'No space left on device' "$log") ||
        found=$(grep -m1 -oiE "(could not resolve|temporary failure (in name resolution|resolving)|unable to connect to|cannot initiate the connection|connection (refused|timed out)|network is unreachable|name or service not known|read timed out|proxyerror|certificate verify failed).*" "$log") ||
        found=$(grep -m1 -E '^E: ' "$log") ||
        found=$(grep -m1 -E '^ERROR: ' "$log") ||
        found=$(grep -v '^ *$' "$log" | tail -n 1) || found="no output"
    case $found in
    *[Rr]esol* | *[Cc]onnect* | *unreachable* | *"timed out"* | *[Pp]roxy* | *"not known"*)
        found="no network ($found)"
        ;;
    esac
    printf '%.160s; log: %s' "$found" "$log"
}

package_names() {
    sed -e 's/#.*//' -e 's/[[:space:]]//g' -e '/^$/d' "$root/packaging/packages.txt"
}

# missing_packages: those of packages.txt that dpkg does not know as installed.
missing_packages() {
    local installed
    # shellcheck disable=SC2016 # the format is dpkg-query's own
    # dpkg-query reports unknown packages by its exit code: that is an answer here, no failure.
    installed=$(package_names | xargs dpkg-query -W -f='${db:Status-Status} ${Package}\n' 2>/dev/null |
        sed -n 's/^installed //p' | sort -u || true)
    comm -23 <(package_names | sort -u) <(printf '%s\n' "$installed")
}

install_packages() {
    # Without an update a fresh container knows no package at all; a failed one may still do.
    "${as_root[@]}" apt-get -o Acquire::Retries=2 update || true
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -o Acquire::Retries=2 \
        install -y --no-install-recommends "$@"
}

step_packages() {
    begin "Debian packages"
    command -v dpkg-query >/dev/null ||
        fail 3 "dpkg-query is missing: this is no Debian; install the equivalents of packaging/packages.txt and run again with --no-packages"
    local missing started=$SECONDS
    mapfile -t missing < <(missing_packages)
    if [ "${#missing[@]}" -eq 0 ]; then
        finished ready
        return
    fi
    local what="package ${missing[0]}"
    [ "${#missing[@]}" -eq 1 ] || what="packages ${missing[*]}"
    command -v apt-get >/dev/null || fail 3 "$what: missing, and there is no apt-get to install with"
    as_root=()
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null ||
            fail 3 "$what: missing; not root and no sudo: as root run apt-get install ${missing[*]}"
        # The password, if one is wanted, is asked for here and not behind the log.
        if [ -t 0 ]; then sudo -v; else sudo -n true 2>/dev/null; fi ||
            fail 3 "$what: missing, and sudo was refused: as root run apt-get install ${missing[*]}"
        as_root=(sudo -n)
    fi
    start_log
    logged install_packages "${missing[@]}" || fail 3 "$what: cannot be installed: $(reason)"
    mapfile -t missing < <(missing_packages)
    [ "${#missing[@]}" -eq 0 ] || fail 3 "packages ${missing[*]}: still missing after apt-get"
    finished "$((SECONDS - started)) s"
}

# toolkit_wanted: true when the machine brings no CUDA toolkit (the rule of core/base/paths.h).
toolkit_wanted() {
    [ ! -e "${CUDA_HOME:-/usr/local/cuda}/include/cuda.h" ]
}

# stamp_text FILES...: what a stamp has to hold to be up to date.
stamp_text() {
    cat "$@" | sha256sum | cut -c1-64
}

# unmet PIN_KIND: pinned packages that the environment lacks, one a line.
unmet() {
    "$venv/bin/python" "$root/packaging/pins.py" "$1" "$root/packaging/requirements.txt"
}

create_environment() {
    "$base_python" -m venv "$venv" || return
    "$venv/bin/python" -c 'import pip'
}

install_pins() {
    "$venv/bin/python" -m pip install --disable-pip-version-check --no-input --progress-bar off "$@"
}

step_python() {
    begin "Python environment"
    local stamp=$venv/cuda-agent.stamp want started=$SECONDS missing pins
    want="$(stamp_text "$root/packaging/requirements.txt") $venv"
    if [ -n "${CUDA_AGENT_VENV:-}" ]; then
        [ -x "$venv/bin/python" ] || fail 2 "CUDA_AGENT_VENV=$venv holds no bin/python"
        missing=$(unmet base) ||
            fail 3 "CUDA_AGENT_VENV=$venv lacks $(head -n 1 <<<"$missing"): run $venv/bin/python -m pip install -r $root/packaging/requirements.txt"
        finished "ready ($venv)"
        return
    fi
    if "$venv/bin/python" -c '' 2>/dev/null; then
        if [ "$(cat "$stamp" 2>/dev/null)" = "$want" ] && [ -d "$(torch_folder)" ]; then
            finished ready
            return
        fi
    else
        [ -x "$base_python" ] || fail 3 "package python3 is missing: there is no $base_python"
        start_log
        rm -rf "$venv"
        if ! logged create_environment; then
            rm -rf "$venv"
            if grep -qiE 'ensurepip|No module named venv' "$logs/$step_number.log"; then
                fail 3 "package python3-venv is missing: $base_python cannot create a virtual environment"
            fi
            fail 3 "cannot create $venv: $(reason)"
        fi
    fi
    start_log
    if ! missing=$(unmet base); then
        local free
        free=$(df -Pk "$venv" | awk 'NR == 2 {print int($4 / 1048576)}')
        if grep -q '^torch==' <<<"$missing" && [ "$free" -lt 8 ]; then
            fail 3 "PyTorch needs 8 GiB of free disk while it is installed and $root has $free GiB"
        fi
        logged install_pins -r "$root/packaging/requirements.txt" ||
            fail 3 "Python package $(head -n 1 <<<"$missing"): cannot be installed: $(reason)"
        missing=$(unmet base) || fail 3 "Python package $(head -n 1 <<<"$missing"): still missing after pip"
    fi
    if ! missing=$(unmet alone); then
        mapfile -t pins <<<"$missing"
        logged install_pins --no-deps "${pins[@]}" ||
            fail 3 "Python package ${pins[0]}: cannot be installed: $(reason)"
    fi
    printf '%s\n' "$want" >"$stamp"
    finished "$((SECONDS - started)) s"
}

torch_folder() {
    printf '%s\n' "$venv"/lib/python3*/site-packages/torch
}

# The toolkit of the wheels lies in site-packages/nvidia/cu13, ready for nvcc. What is missing are
# the names that linkers look for (libx.so, lib64) and cuDNN and NCCL beside the rest, as an
# installed toolkit has them; hard links, so that the folder stands by itself inside the sandbox.
link_toolkit() {
    local toolkit=$1 library name part
    for part in cudnn nccl; do
        [ -d "$toolkit/../$part" ] && cp -lrn "$toolkit/../$part/include" "$toolkit/../$part/lib" "$toolkit/"
    done
    for library in "$toolkit"/lib/lib*.so.*; do
        name=${library##*/}
        [ -e "$toolkit/lib/${name%%.so.*}.so" ] || ln -s "$name" "$toolkit/lib/${name%%.so.*}.so"
    done
    [ -e "$toolkit/lib64" ] || ln -s lib "$toolkit/lib64"
    "$toolkit/bin/nvcc" --version
}

step_toolkit() {
    begin "CUDA toolkit"
    cuda=
    if ! toolkit_wanted; then
        finished "ready (${CUDA_HOME:-/usr/local/cuda})"
        return
    fi
    local site started=$SECONDS missing pins
    site=$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
    cuda=$site/nvidia/cu13
    local stamp=$cuda/cuda-agent.stamp want
    want=$(stamp_text "$root/packaging/requirements.txt" "$root/packaging/steps.sh")
    if [ "$(cat "$stamp" 2>/dev/null)" = "$want" ] && [ -x "$cuda/bin/nvcc" ]; then
        finished "ready ($cuda)"
        return
    fi
    start_log
    if ! missing=$(unmet toolkit); then
        [ -z "${CUDA_AGENT_VENV:-}" ] ||
            fail 3 "no /usr/local/cuda, and CUDA_AGENT_VENV=$venv lacks $(head -n 1 <<<"$missing"): unset it, or set CUDA_HOME"
        mapfile -t pins <<<"$missing"
        # Their requirements are pinned above already; pip would look for newer ones.
        logged install_pins --no-deps "${pins[@]}" ||
            fail 3 "Python package ${pins[0]}: cannot be installed: $(reason)"
    fi
    logged link_toolkit "$cuda" || fail 3 "the CUDA toolkit in $cuda does not run: $(reason)"
    printf '%s\n' "$want" >"$stamp"
    finished "$((SECONDS - started)) s"
}

step_configure() {
    begin "Configure"
    local tree=$root/build/$preset started=$SECONDS arguments want
    arguments=(--preset "$preset" "-DCUDA_AGENT_PYTHON=$venv/bin/python" "-DCUDA_AGENT_CUDA=$cuda"
        "-DCUDA_AGENT_TESTS=ON")
    want="${arguments[*]} $(stamp_text "$root/CMakePresets.json")"
    # Changes in CMake files need no look from here: ninja configures again by itself.
    if [ -f "$tree/build.ninja" ] && [ "$(cat "$tree/configured.stamp" 2>/dev/null)" = "$want" ]; then
        finished ready
        return
    fi
    start_log
    rm -f "$tree/configured.stamp"
    if ! logged cmake -S "$root" -B "$tree" "${arguments[@]}"; then
        tail -n 20 "$logs/$step_number.log" >&2
        fail 3 "cmake could not configure; log: $logs/$step_number.log"
    fi
    printf '%s\n' "$want" >"$tree/configured.stamp"
    finished "$((SECONDS - started)) s"
}

# step_build [TARGETS...]: everything without targets.
step_build() {
    begin "Build"
    local tree=$root/build/$preset started=$SECONDS
    start_log
    if ! logged ninja -C "$tree" -j "$jobs" "$@"; then
        grep -E 'error|FAILED' "$logs/$step_number.log" | head -n 20 >&2 || true
        fail 3 "the build failed; log: $logs/$step_number.log"
    fi
    finished "$((SECONDS - started)) s"
}

# program_targets: all that the programs need, and no tests.
program_targets() {
    local folder
    for folder in core app resources skills; do
        [ ! -f "$root/$folder/CMakeLists.txt" ] || printf '%s/all\n' "$folder"
    done
}

# set_up LAST_STEP WITH_PACKAGES [BUILD_TARGETS...]: the steps in order, one caller at a time.
set_up() {
    local last=$1 with_packages=$2
    shift 2
    mkdir -p "$root/build" 2>/dev/null || fail 3 "cannot write to $root"
    exec 9>"$root/build/setup.lock"
    if command -v flock >/dev/null && ! flock -n 9; then
        echo "Another set-up runs in $root; waiting for it."
        flock 9
    fi
    if [ "$with_packages" = yes ]; then step_packages; else step_number=1; fi
    [ "$last" != packages ] || return 0
    step_python
    [ "$last" != python ] || return 0
    step_toolkit
    [ "$last" != toolkit ] || return 0
    step_configure
    [ "$last" != configure ] || return 0
    step_build "$@"
    exec 9>&-
}
