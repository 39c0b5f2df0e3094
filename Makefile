# Two commands on a machine with Python and make: `make demo`, `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test check bench side-by-side motion equations fuzz tables format clean

$(VENV)/.base: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[cli]"
	@touch $@

$(VENV)/.dev: $(VENV)/.base
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[dev]"
	@touch $@

demo: $(VENV)/.base  ## build robots, compute, print results and timings
	$(BIN)/python examples/demo.py

test: $(VENV)/.dev  ## all tests
	$(BIN)/python -m pytest -n auto --dist loadfile

check: $(VENV)/.dev  ## what CI checks beside the tests: style, types, layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/.dev  ## peers and ours in one run; a table, and raw data in benchmarks/results/
	$(BIN)/python benchmarks/bench.py

side-by-side: $(VENV)/.dev  ## both contact models on the Mini Cheetah; numbers and a picture
	$(BIN)/python benchmarks/side_by_side.py

equations: $(VENV)/.dev  ## equations of motion against sympy.physics.mechanics; raw data in benchmarks/results/
	$(BIN)/python benchmarks/derive.py

motion: $(VENV)/.dev  ## robots that trot, balance and fall; numbers and a picture
	$(BIN)/python benchmarks/motion.py

fuzz: $(VENV)/.dev  ## 100 000 damaged URDF files; counts in benchmarks/results/
	$(BIN)/python benchmarks/fuzz_urdf.py

tables:  ## the newest measurement into the README
	$(PYTHON) benchmarks/report.py

format: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
