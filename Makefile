# Every target sets up what it needs first, once: a virtual environment in .venv, and the AVR tools.

VENV := .venv
PYTHON := $(VENV)/bin/python
DEBIAN_PACKAGES := gcc-avr avr-libc simavr libsimavr-dev avrdude arduino-core-avr \
	gcc-arm-none-eabi libnewlib-arm-none-eabi

# PlatformIO sends usage data by default.
export PLATFORMIO_SETTING_ENABLE_TELEMETRY ?= no

# Some containers forbid Python to keep what it compiles; then each of hundreds of processes compiles
# all packages that it imports.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help demo test nightly prove agreement fuzz coverage mutants versions lint docs firmware upload gallery setup tools chips node browser cmake clean

help:  ## list the targets
	@sed -n 's/^\([a-z]*\):.*  ## /\1	/p' $(MAKEFILE_LIST) | expand -t 10

demo: setup node  ## train, quantize, build, emulate and report, on data that a package ships
	@$(VENV)/bin/protonn-edge demo $(ARGS)

# All of them on all cores; the tests of a file stay together, since they share what they build.
TESTS_ := -n auto --dist loadfile
TESTS_core := $(TESTS_) --ignore=tests/extensions
test: setup $(VENV)/has-docs node browser cmake  ## run all tests; ARGS=core or ARGS="tests/cli -k demo" runs some
	@$(PYTHON) -m pytest $(or $(TESTS_$(ARGS)),$(ARGS))

# With the tests that are marked so, with random seeds, and with nothing that compilers made before.
nightly: setup $(VENV)/has-docs node browser cmake  ## run what no push needs: tests with new seeds, fuzzers, proofs; SEED=1
	@PROTONN_EDGE_KEPT_BUILDS=$$(mktemp -d) $(PYTHON) -m pytest $(TESTS_) -m "" --hypothesis-profile=nightly
	@$(MAKE) --no-print-directory fuzz SECONDS=1800 ARGS="--seed $(or $(SEED),1)"
	@$(MAKE) --no-print-directory prove agreement

# All programs on one core take a quarter of an hour; ARGS="linear forest" those with such names.
prove: setup  ## prove the C of all kinds free of run-time errors, with Frama-C; ARGS="linear" some
	@command -v frama-c >/dev/null || ( $(call install,frama-c-base,Frama-C) )
	@PYTHONPATH=tests $(PYTHON) -m extensions.proof.frama_c $(ARGS)

# Random cases of every part of the package, in two processes; the seeds decide which.
fuzz: setup  ## run the fuzzers for ten minutes; SECONDS=60 or ARGS="--only tables --seed 7" change that
	@PYTHONPATH=tests $(PYTHON) -m laws.fuzz --seconds $(or $(SECONDS),600) $(ARGS)

# A part of it is among the tests. ARGS="-j 2" runs it in two processes, ARGS="--only calls" without
# the proofs of programs.
agreement: setup  ## prove programs, and that other assembly and portable C agree; ARGS="forest" some
	@PYTHONPATH=tests $(PYTHON) -m extensions.proof.agreement $(ARGS)

# Tests run in about twice their time. Templates are read by a plugin in tests/.
coverage: export PYTHONPATH := $(CURDIR)/tests
coverage: setup $(VENV)/has-docs node browser cmake  ## list lines of the package and its templates that no test runs
	@$(PYTHON) -m coverage erase
	@$(PYTHON) -m coverage run -m pytest -q $(or $(TESTS_$(ARGS)),$(ARGS))
	@$(PYTHON) -m coverage combine -q
	@$(PYTHON) -m coverage report

# In a copy of the checkout; one folder or module, for an hour or so.
mutants: setup $(VENV)/has-mutants  ## list faults that no near test notices; FOLDER=quantization SAMPLE=50 SEED=1
	@$(PYTHON) tests/mutants.py $(FOLDER) --sample $(or $(SAMPLE),50) --seed $(or $(SEED),1)

# pip gives users what is newest today, which constraints.txt keeps from the tests.
versions: tools $(VENV)/has-versions  ## use the wheel with newest and lowest versions; ARGS="--only 3.12-newest"
	@$(PYTHON) tests/versions.py $(ARGS)

# cppcheck takes an int for 16 bits in firmware/, as the AVR does; the model's header, which it misses,
# is generated later.
lint: $(VENV)/has-lint  ## check style, types and imports of all code
	@$(PYTHON) -m ruff check .
	@$(PYTHON) -m ruff format --check .
	@$(PYTHON) -m mypy
	@$(VENV)/bin/lint-imports --no-logo pyproject.toml $(wildcard protonn_edge/extensions/imports.toml)
	@find firmware protonn_edge -path firmware/generated -prune -o -name '*.[ch]' -print -o -name '*.cpp' -print \
	    | xargs $(VENV)/bin/clang-format --dry-run -Werror
	@$(VENV)/bin/cppcheck --quiet --error-exitcode=1 --std=c99 --platform=avr8 \
	    --enable=warning,performance,portability --inline-suppr \
	    --suppress=missingIncludeSystem --suppress=preprocessorErrorDirective \
	    -i firmware/generated firmware
	@git ls-files | xargs $(VENV)/bin/codespell
	@$(PYTHON) tests/prose.py
	@$(PYTHON) tests/lines.py

docs: $(VENV)/has-docs  ## make the documentation, docs/_build/index.html
	@$(PYTHON) -m sphinx -W --keep-going -n -q docs docs/_build && echo docs/_build/index.html

firmware: setup  ## compile the firmware, after `protonn-edge build`
	@$(call pio,run)

upload: setup  ## compile and upload it; PORT=/dev/ttyACM0 names the port
	@$(call pio,run --target upload $(if $(PORT),--upload-port $(PORT)))

gallery: setup node browser  ## make the reports of several data sets, and the screenshots in docs/
	@$(PYTHON) benchmarks/run.py gallery $(ARGS)

clean:  ## remove what was built and cached; .venv stays
	rm -rf .pio dist docs/_build firmware/generated protonn-edge-demo gallery .coverage* .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -not -path './$(VENV)/*' -prune -exec rm -rf {} +

# --- set-up ----------------------------------------------------------------------------------------

setup: tools $(VENV)/has-test  ## install everything: the package, its tests', and the AVR tools

# `pio` itself, told where to find what it needs if it cannot reach its registry.
pio = variables=$$($(PYTHON) -m protonn_edge.chips.toolchain) && eval "$$variables" && $(VENV)/bin/pio $(1)

# The package, editable, and one of its extras. The file remembers that it is there. Python compiles a
# module when it is first imported: to compile all of them takes longer than all else here. CI has uv
# install, in a fifth of the time; pip is everywhere, and knows the indexes that its user has chosen.
PIP = $(PYTHON) -m pip install -qq --disable-pip-version-check --no-compile
$(VENV)/has-%: pyproject.toml constraints.txt | $(PYTHON)
	@echo "pip install --editable '.[$*]'  # silent for up to two minutes"
	@$(PIP) --constraint constraints.txt --editable '.[$*]'
	@touch $@

# The first Python that is new enough. Debian packs the means to make a virtual environment apart.
$(PYTHON):
	@for python in python3 python3.14 python3.13 python3.12 python3.11; do \
	    $$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && break; \
	    python=; \
	done; \
	if [ -z "$$python" ]; then \
	    echo "Please install Python 3.11 or newer, then run make again." >&2; exit 1; \
	fi; \
	if ! $$python -c 'import ensurepip, venv' 2>/dev/null; then \
	    $(call install,python3-venv,the Python modules venv and ensurepip); \
	fi; \
	echo "$$python -m venv $(VENV)"; \
	$$python -m venv --clear $(VENV)

# A package manager's own list is the quickest to ask; elsewhere the programs must be on PATH.
tools:
	@if command -v dpkg-query >/dev/null; then \
	    found=$$(dpkg-query -W -f '$${db:Status-Status}\n' $(DEBIAN_PACKAGES) 2>/dev/null \
	        | grep -cx installed); \
	    [ "$$found" = $(words $(DEBIAN_PACKAGES)) ]; \
	else \
	    command -v avr-gcc >/dev/null && command -v avrdude >/dev/null && command -v simavr >/dev/null; \
	fi || { \
	    $(call install,$(DEBIAN_PACKAGES),avr-gcc avr-libc simavr avrdude and the Arduino AVR core); \
	}

# For the tests of C for chips of 32 bits, which are skipped without them: half a gigabyte.
CHIPS = gcc-arm-none-eabi gcc-riscv64-unknown-elf picolibc-riscv64-unknown-elf gcc-xtensa-lx106 \
	qemu-system-arm qemu-system-misc
chips:
	@$(call install,$(CHIPS),compilers and emulators of chips with 32 bits)

# For the Uno in the report's page, and the tests that run the firmware on that second emulator; without
# it the report does without, and the tests are skipped. npm fetches the emulator into the user's cache.
node:
	@command -v node >/dev/null && command -v npm >/dev/null \
	    || ( $(call install,nodejs npm,Node.js with npm) ) || true

# For the tests of the report's page, which are skipped without.
browser:
	@command -v chromium >/dev/null || command -v google-chrome >/dev/null \
	    || ( $(call install,chromium,Chromium) ) || true

# For the tests of exports in other build systems, which are skipped without.
cmake:
	@command -v cmake >/dev/null || ( $(call install,cmake,CMake) ) || true

# $(call install,PACKAGES,WHAT THEY ARE): install Debian packages, or say what is missing.
define install
if [ "$$(id -u)" = 0 ]; then sudo=; else sudo=sudo; fi; \
if ! command -v apt-get >/dev/null || ! command -v $${sudo:-true} >/dev/null; then \
    echo "Please install $(2) (on Debian: $(1)), then run make again." >&2; exit 1; \
fi; \
echo "$$sudo apt-get install $(1)"; \
$$sudo apt-get update -qq || true; \
$$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -qq --no-install-recommends \
    -o DPkg::Lock::Timeout=300 $(1) >/dev/null \
    || { echo "Please install $(1), then run make again." >&2; exit 1; }
endef
