# Everything that a person or CI does with this project. `make help` lists it.
#
# PYTHON=python3.12 chooses the interpreter that .venv is made with.

PYTHON ?= python3
# Tests run in as many processes, each with its own servers. A third process on two cores uses the time in
# which tests wait. Servers of the environment cannot be shared.
PROCESSES ?= $(if $(REDIS_URL),0,3)
VENV := .venv
RUN := $(VENV)/bin/python
PYTEST = TEST_PROCESSES=$(PROCESSES) $(if $(SLOW_THIRD),TEST_SLOW_THIRD=$(SLOW_THIRD)) $(AT) $(RUN) -m pytest --numprocesses=$(PROCESSES) --dist=loadscope \
	--no-loadscope-reorder
AT := $(if $(CLOCK),.ci/at '$(CLOCK)')
PORTS := $(if $(WEB_PORT),--web-port=$(WEB_PORT)) $(if $(FLOWER_PORT),--flower-port=$(FLOWER_PORT)) \
	$(if $(SANDBOX_PORT),--sandbox-port=$(SANDBOX_PORT)) $(if $(LIVE_PORT),--live-port=$(LIVE_PORT))

# What `check` needs to import the settings; nothing is connected to and nothing is signed.
CHECK_ENVIRON := DATABASE_URL=postgresql://check@127.0.0.1:9/none REDIS_URL=redis://127.0.0.1:1/0 \
	CELERY_BROKER_URL=redis://127.0.0.1:2/0 NOTIFY_PUBLIC_URL=http://127.0.0.1 \
	NOTIFY_SECRET_KEY=only-for-type-checks-and-never-to-sign-anything \
	NOTIFY_ENCRYPTION_KEYS=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA= \
	NOTIFY_ROUTES=push=sandbox NOTIFY_SANDBOX_URL=http://127.0.0.1:3 \
	NOTIFY_SANDBOX_SECRET=whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=

# Each process of the tests imports up to 1,800 modules; where nothing keeps them compiled, that takes
# twice as long.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help demo stop shell test test-all check api embed fonts pictures docs bench chaos gameday host format lock advisories clean

help:
	@echo 'make demo    start everything here, play the stories, stay until Ctrl-C'
	@echo '             EXIT=1 ends after them; STORIES=0 leaves them out;'
	@echo '             WEB_PORT= LIVE_PORT= FLOWER_PORT= SANDBOX_PORT= choose ports'
	@echo 'make stop    stop the demo that runs here'
	@echo "make shell   a shell for manage.py beside the demo; RUN_THIS='manage.py ...' runs one command"
	@echo 'make test    the tests of each change, on servers of their own: all but the slow tests of'
	@echo '             tests/slow_tests.py, and fewer examples of property tests;'
	@echo '             ONLY=tests/rules runs a part, with its slow tests and all examples;'
	@echo '             PROCESSES=0 runs them in one process, as a debugger needs it;'
	@echo '             BROKER=rabbitmq runs them with RabbitMQ as the broker, which must be installed;'
	@echo "             CLOCK='2026-03-08 06:58' runs them at that time in UTC (needs a C compiler)"
	@echo 'make test-all    every test: killed processes, chaos, browsers, npm; ONLY= and so on as above;'
	@echo '             EXCEPT=tests/rules leaves a part out; SLOW_THIRD=0, 1 or 2 runs a third of the'
	@echo '             files with slow tests'
	@echo 'make check   lint, format, types, arrows, compose file, licences'
	@echo 'make api     write docs/openapi.json from the code and check it with Redocly CLI and Spectral'
	@echo '             (needs Node.js 20.19 or later)'
	@echo 'make embed   build the web components from their sources, static/notifications/inbox (needs'
	@echo '             Node.js), and keep those of the last release beside the new ones'
	@echo 'make fonts   write the part of the icon font that the admin uses, and the Latin part of its'
	@echo '             text font, after a change of an icon'
	@echo 'make pictures    write the pictures of README beside a running demo (needs Chromium)'
	@echo 'make docs    build the documentation site with search and diagrams into var/site; without it the'
	@echo '             demo serves the plain pages at /docs'
	@echo 'make bench   the numbers against their baselines; ONLY=name runs one'
	@echo 'make chaos   kill everything while it works and count at the providers;'
	@echo '             KILLS=30 SEED=1 choose a plan, RUNS=name plays named ones, RUNS=all each'
	@echo '             but the long ones: steady_hours, flapping'
	@echo 'make gameday play failover, restore, change of the broker and a bad deploy, and print the table of'
	@echo '             docs/guarantees.md with what held; ALL=1 plays each row, ONLY=test_poison one'
	@echo 'make host    the commands of docs/deploy-systemd.md on a bare Debian 12 in namespaces of its own'
	@echo '             (needs root, debootstrap and a network)'
	@echo 'make format  let ruff rewrite what it can'
	@echo 'make lock    write the pins of requirements*.txt, and what they need, into the locks with'
	@echo '             their hashes; UPGRADE=1 takes the newest of what is not pinned'
	@echo 'make advisories    look up known vulnerabilities of what is locked (needs a network)'
	@echo 'make clean   remove caches; data stays in var/'

demo: $(VENV)/runtime
	@$(AT) $(RUN) -m notifyproj.devstack.supervisor $(if $(EXIT),--exit) $(if $(filter 0 no,$(STORIES)),--no-stories) $(PORTS)

stop:
	@$(RUN) -m notifyproj.devstack.supervisor --stop

# manage.py beside a running demo: `make shell`, or `make shell RUN_THIS='manage.py check_providers'`.
shell:
	@test -r var/demo.env || { echo 'No demo runs here: start one with make demo.' >&2; exit 1; }
	@. ./var/demo.env; PATH="$(CURDIR)/$(VENV)/bin:$$PATH:$(CURDIR)"; export PATH; \
		$(if $(RUN_THIS),python $(RUN_THIS),exec "$${SHELL:-/bin/sh}")

test: $(VENV)/tools
	@$(PYTEST) $(if $(ONLY),$(ONLY),-m 'not slow' --hypothesis-profile=brief)

test-all: $(VENV)/tools
	@$(PYTEST) $(ONLY) $(addprefix --ignore=,$(EXCEPT))

check: $(VENV)/tools
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(CHECK_ENVIRON) $(VENV)/bin/mypy .
	$(VENV)/bin/lint-imports
	$(CHECK_ENVIRON) $(RUN) -W ignore manage.py makemigrations --check --dry-run
	$(VENV)/bin/check-jsonschema --builtin-schema vendor.compose-spec docker-compose.yml docs/compose/init.yml
	@$(VENV)/bin/pip-licenses >/dev/null && echo 'Licences: all allowed (pyproject.toml lists them)'

api: $(VENV)/tools
	@$(CHECK_ENVIRON) $(RUN) -m tests.architecture.openapi_page
	@.ci/api/check

# Keeps the files of the last release, which pages of other sites name.
embed: $(VENV)/tools
	@.ci/embed/build
	@$(CHECK_ENVIRON) $(RUN) -m tests.architecture.embed_snippet

fonts: $(VENV)/tools
	@$(CHECK_ENVIRON) .ci/fonts/build $(VENV)

pictures: $(VENV)/tools
	@test -r var/demo.env || { echo 'No demo runs here: start one with make demo.' >&2; exit 1; }
	@. ./var/demo.env; $(RUN) -m tests.admin.pictures

docs: $(VENV)/tools
	@.ci/docs $(VENV)

advisories: $(VENV)/tools
	@.ci/advisories $(VENV)

bench: $(VENV)/tools
	@$(RUN) -m tests.benchmarks $(ONLY)

chaos: $(VENV)/tools
	@$(RUN) -m tests.chaos $(if $(KILLS),--kills=$(KILLS)) $(if $(SEED),--seed=$(SEED)) $(RUNS)

gameday: $(VENV)/tools
	@$(RUN) -m tests.gameday $(if $(ALL),--all) $(ONLY)

# Needs root and debootstrap.
host: $(VENV)/tools
	@$(RUN) -m tests.debian_host

format: $(VENV)/tools
	$(VENV)/bin/ruff check --fix .
	$(VENV)/bin/ruff format .

clean:
	rm -rf .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis

lock: $(VENV)/tools
	@.ci/lock $(VENV) $(if $(UPGRADE),--upgrade)

# The stamps carry the locks' dates: a second start takes no time, a changed lock installs again.
$(VENV)/runtime: requirements-lock.txt
	@.ci/install "$(PYTHON)" $(VENV) $< && touch $@

$(VENV)/tools: requirements-dev-lock.txt
	@.ci/install "$(PYTHON)" $(VENV) $< && touch $@ $(VENV)/runtime
