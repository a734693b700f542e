# Short names for the steps of .ci/run and for what a user needs; see docs/development.md.

PREFIX ?= /usr/local
DESTDIR ?=
SWIFT ?= swift
# The manual page and the completions, which the program itself prints.
PAGES = man/man1/osssync.1 bash-completion/completions/osssync \
	zsh/site-functions/_osssync fish/vendor_completions.d/osssync.fish
SERVER_PAGE = man/man1/osssync-server.1
RELEASE_FLAGS = --scratch-path .build/optimized -c release --static-swift-stdlib -Xlinker -s
# What makes the programs smaller by a fifth: functions that are left out where nothing calls them,
# kept once where two are equal, and closer to each other; no names, which nothing looks up; a packed
# table of relocations (glibc 2.36 and newer), which of Swift's linkers only lld writes; nothing to
# unwind a stack with; and not the names of all Unicode characters, for which nothing here asks.
# Nor is anything made for a debugger, which the linker would take off again.
RELEASE_FLAGS += -Xswiftc -gnone
ifeq ($(shell uname),Linux)
RELEASE_FLAGS += -Xswiftc -Xfrontend -Xswiftc -function-sections -Xlinker --icf=all
RELEASE_FLAGS += -Xswiftc -Xllvm -Xswiftc -align-all-functions=2
RELEASE_FLAGS += -Xlinker --no-export-dynamic -Xlinker --no-eh-frame-hdr -Xlinker scripts/program.ld
RELEASE_FLAGS += -Xswiftc -use-ld=lld -Xlinker -z -Xlinker pack-relative-relocs
RELEASE_FLAGS += -Xlinker --wrap=_swift_stdlib_getScalarName
RELEASE_FLAGS += -Xlinker --defsym=__wrap__swift_stdlib_getScalarName=swift_deletedMethodError
endif
# A folder of that name would take the link into itself.
LINK_RELEASE = rm -rf .build/release && ln -s optimized/release .build/release

.PHONY: all soak planted-bugs setup build simulator test lint format bench bench-quick
.PHONY: bench-baseline demo install install-files deb tarball uninstall clean

all: build

# Installs what is missing of the system libraries; does nothing if nothing is.
setup:
	@scripts/setup

# The two programs, as they are released: .build/release/osssync and osssync-server. In a folder of
# their own, so that they can be built while the tests are.
build:
	OSSSYNC_PROGRAMS=1 $(SWIFT) build $(RELEASE_FLAGS)
	@$(LINK_RELEASE)

# With the flags of the programs: others would compile everything anew, and then once more.
simulator:
	$(SWIFT) build $(RELEASE_FLAGS) --product osssync-simulator
	@$(LINK_RELEASE)

# Everything that can fail, with a line "N passed, N failed" at the end.
test:
	@scripts/setup tests
	@.ci/run

lint:
	@.ci/run lint

format:
	@.ci/run format

# Measurements beside other tools, some hours of them; OPTIONS are those of Tests/Bench/run.
bench:
	@scripts/setup bench
	@Tests/Bench/run $(OPTIONS)

# A minute: the instructions of small workloads, compared with the baseline, and a new baseline.
bench-quick: setup
	@Tests/Bench/run quick

bench-baseline: setup
	@Tests/Bench/run quick --update

# A first run against the embedded server: no account, no network.
demo: setup build
	@scripts/demo

install: build
	@$(MAKE) --no-print-directory install-files

# Without building: for packages.
install-files:
	install -d "$(DESTDIR)$(PREFIX)/bin"
	install -m 755 .build/release/osssync .build/release/osssync-server "$(DESTDIR)$(PREFIX)/bin/"
	install -d $(foreach file,$(PAGES),"$(DESTDIR)$(PREFIX)/share/$(dir $(file))")
	.build/release/osssync help man >"$(DESTDIR)$(PREFIX)/share/$(word 1,$(PAGES))"
	.build/release/osssync completions bash >"$(DESTDIR)$(PREFIX)/share/$(word 2,$(PAGES))"
	.build/release/osssync completions zsh >"$(DESTDIR)$(PREFIX)/share/$(word 3,$(PAGES))"
	.build/release/osssync completions fish >"$(DESTDIR)$(PREFIX)/share/$(word 4,$(PAGES))"
	install -m 644 docs/osssync-server.1 "$(DESTDIR)$(PREFIX)/share/$(SERVER_PAGE)"

# Packages of the programs, in .build/packages: one for Debian and Ubuntu, and an archive with all
# libraries for any other Linux.
deb tarball: build
	@scripts/package $@

uninstall:
	rm -f "$(DESTDIR)$(PREFIX)/bin/osssync" "$(DESTDIR)$(PREFIX)/bin/osssync-server"
	rm -f $(foreach file,$(PAGES) $(SERVER_PAGE),"$(DESTDIR)$(PREFIX)/share/$(file)")

clean:
	rm -rf .build .build-fuzz .build-thread .build-address examples/.build

# New seeds of the simulator, crash points and fuzzers, for MINUTES in all; then what `make test`
# leaves out: most crash points, half of the fault scripts, 4,900 seeds, 960 of wider worlds, 984 of
# several nodes, three processes with one lease, the archive on an empty Debian, more worlds in which
# status, dry run and run must agree, 1,000 kills of transfers, 1,000 races of calls, the nonces of
# 100,000 encrypted uploads, the peers with 1 GiB, the sanitizers, and the tests without the
# libraries of C.
soak:
	@MINUTES=$${MINUTES:-10} Tests/Simulator/run
	@Tests/CrashPoints/run --programs .build/release
	@SEEDS='60..<5000' WIDE='30..<1000' NODES='12..<1000' LEASES=3 Tests/Simulator/run
	@OSSSYNC_PLAN_WORLDS=1000 swift test --filter PlanAgreementTests
	@OSSSYNC_KILLS=1000 swift test --filter 'Killed(Transfer|Process)Tests'
	@OSSSYNC_RACES=1000 swift test --filter '(TransferManagerOrder|IntentRace|DownloadFault)Tests'
	@Tests/FaultScripts/run
	@Tests/Peers/run
	@Tests/Slurm/run
	@Tests/Packages/debian
	@OSSSYNC_THROTTLED_OBJECTS=4000 Tests/FaultScripts/run F243
	@OSSSYNC_SEALED_UPLOADS=100000 Tests/FaultScripts/run F542
	@Tests/Sanitizers/run
	@Tests/Portable/run

# Planted bugs, one at a time in a copy of the tree: the tests must find each.
planted-bugs:
	@Tests/PlantedBugs/run --seeds $${SEEDS:-300} --table
