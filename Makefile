# Two commands on a machine with Python and make: `make demo`, `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test check style types types-of-users layers smoke memory digests turns soak misuse time-bombs mutants bench side-by-side motion limits stepper policy experiments experiment-pages paper equations waiting load fuzz tables pictures docs format clean derivatives derivatives-of-functions sweep sweep-kills pushes aarch64 wheel linearize interop misuse-derivatives worlds scenes

$(VENV)/.base: pyproject.toml
	@echo "making an environment in $(VENV): a minute or two"
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[all]"
	@touch $@

$(VENV)/.dev: $(VENV)/.base
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[dev]"
	@touch $@

demo: $(VENV)/.base  ## two robots, compared: numbers here, pages in demo/, opened if there is a display
	$(BIN)/python examples/demo.py

test: $(VENV)/.dev  ## all tests
	$(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder

check: style types types-of-users layers  ## what CI checks beside the tests; `-j2` does it side by side

style: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.dev
	$(BIN)/mypy

types-of-users: $(VENV)/.dev
	$(BIN)/basedpyright --pythonpath $(BIN)/python

layers: $(VENV)/.dev
	$(BIN)/lint-imports

smoke: $(VENV)/.base  ## a short test with every Python that is found; an environment of its own for each, in .smoke/
	$(BIN)/python tests/smoke/interpreters.py

aarch64: $(VENV)/.dev  ## smoke test, core tests and the same bits on a 64-bit ARM, emulated by qemu; all of it in .aarch64/
	$(BIN)/python tests/aarch64/emulated.py

wheel: $(VENV)/.base  ## the built wheel in a fresh environment: install, import, first simulation, first picture
	$(BIN)/python tests/smoke/wheel.py

TORCH ?= torch==2.13.0
.interop/.made: pyproject.toml
	$(PYTHON) -m venv .interop
	.interop/bin/python -m pip install --quiet --disable-pip-version-check -e ".[jax,torch]" "$(TORCH)" "pytest>=8"
	@touch $@

interop: .interop/.made  ## JAX and PyTorch, in an environment of their own, .interop/
	.interop/bin/python -m pytest tests/interop --doctest-modules src/featherweight/interop

memory: $(VENV)/.dev  ## 10 000 models compiled and dropped: what stays in memory; raw data in benchmarks/results/
	$(BIN)/python benchmarks/memory.py

bench: $(VENV)/.dev  ## peers and ours in one run; a table, and raw data in benchmarks/results/
	$(BIN)/python benchmarks/bench.py

side-by-side: $(VENV)/.dev  ## both contact models on the Mini Cheetah; numbers and a picture
	$(BIN)/python benchmarks/side_by_side.py

motion: $(VENV)/.dev  ## robots that trot, balance and fall; numbers and a picture
	$(BIN)/python benchmarks/motion.py

worlds: $(VENV)/.dev  ## things that touch each other, beside MuJoCo; raw data in benchmarks/results/
	$(BIN)/python benchmarks/worlds.py

scenes: $(VENV)/.dev  ## random stacks, worlds and ragdolls by the thousand: what fails; goes on where it ended
	$(BIN)/python benchmarks/random_scenes.py

digests: $(VENV)/.dev  ## the same bits as before, over all functions, robots, integrators and contact models
	$(BIN)/python benchmarks/digests.py

turns: $(VENV)/.dev  ## this version and another checkout (OTHER=path/src) in turns: is anything slower?
	$(BIN)/python benchmarks/turns.py $(OTHER)

derivatives-of-functions: $(VENV)/.dev  ## gradients of users' functions beside Pinocchio's matrices; in benchmarks/results/
	$(BIN)/python benchmarks/derivatives_of_functions.py

policy: $(VENV)/.dev  ## what a neural policy costs inside a rollout, against the peak; raw data in benchmarks/results/
	$(BIN)/python benchmarks/policy.py

linearize: $(VENV)/.dev  ## A and B of a contact step beside MuJoCo's differences; in benchmarks/results/
	$(BIN)/python benchmarks/linearize.py

derivatives: $(VENV)/.dev  ## derivatives of dynamics beside Pinocchio's: time, compile time, error; in benchmarks/results/
	$(BIN)/python benchmarks/derivatives.py

limits: $(VENV)/.dev  ## what joint limits cost limp robots; raw data in benchmarks/results/
	$(BIN)/python benchmarks/limits.py

stepper: $(VENV)/.dev  ## what a call of Stepper costs beyond its native time; raw data in benchmarks/results/
	$(BIN)/python benchmarks/stepper.py

sweep: $(VENV)/.dev  ## sweeps: cluster against threads, a fresh worker, 10⁹ lanes, 10⁵ empty chunks; in benchmarks/results/
	$(BIN)/python benchmarks/sweep.py

sweep-kills: $(VENV)/.dev  ## a sweep whose processes are killed fifty times: the same bits; counts in benchmarks/results/
	$(BIN)/python benchmarks/sweep_kills.py

pushes: $(VENV)/.dev  ## pushes that a humanoid survives, 100 000 of them, and their map; minutes, goes on where it ended
	$(BIN)/python benchmarks/pushes.py

waiting: $(VENV)/.dev  ## what people wait for: the demo, loading, frames a second; raw data in benchmarks/results/
	$(BIN)/python benchmarks/waiting.py

pictures: $(VENV)/.dev  ## the pictures of the README and the pages, made by the project itself
	$(BIN)/python docs/make_pictures.py
	$(BIN)/python docs/make_drawings.py

experiment-pages: $(VENV)/.dev  ## the sources' own experiments: text and pictures of docs/experiments/, three minutes
	$(BIN)/python docs/make_experiments.py

docs: $(VENV)/.dev  ## all pages as HTML, in docs/_build/
	$(BIN)/sphinx-build -q -W -b html docs docs/_build/html
	@echo docs/_build/html/index.html

experiments: $(VENV)/.dev  ## the variational integrator: energy, iterations, time; a report with plots
	$(BIN)/python benchmarks/variational/measure.py
	$(BIN)/python benchmarks/variational/report.py

paper: $(VENV)/.dev  ## the comparison of the paper on variational integrators, whole; pictures and tables of the pages
	$(BIN)/python benchmarks/variational/paper.py

equations: $(VENV)/.dev  ## equations of motion against sympy.physics.mechanics; raw data in benchmarks/results/
	$(BIN)/python benchmarks/derive.py

load: $(VENV)/.dev  ## how long real URDF files take to load; raw data in benchmarks/results/
	$(BIN)/python benchmarks/load.py

fuzz: $(VENV)/.dev  ## 100 000 damaged URDF files; counts in benchmarks/results/
	$(BIN)/python benchmarks/fuzz_urdf.py

mutants: $(VENV)/.dev  ## faults seeded one at a time, and whether the tests see them; the score in benchmarks/results/
	$(BIN)/python -m benchmarks.mutants

time-bombs: $(VENV)/.dev  ## the largest URDF files of all kinds: two seconds each; in benchmarks/results/
	$(BIN)/python benchmarks/time_bombs.py

soak: $(VENV)/.dev  ## 20 minutes of random calls with threads, forks and signals; counts in benchmarks/results/
	$(BIN)/python benchmarks/soak.py

misuse: $(VENV)/.dev  ## bad vectors and a long chain: ours, Pinocchio and MuJoCo; counts in benchmarks/results/
	$(BIN)/python benchmarks/misuse.py

misuse-derivatives: $(VENV)/.dev  ## 100 000 misuses of derivatives; counts in benchmarks/results/
	$(BIN)/python benchmarks/misuse_derivatives.py

tables:  ## the newest measurements into the README, docs/benchmarks.md and the page about reliability
	$(PYTHON) benchmarks/report.py

format: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) .smoke .aarch64 .interop build dist demo docs/_build .pytest_cache .mypy_cache .ruff_cache .hypothesis
