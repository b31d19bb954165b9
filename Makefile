# Targets need Go and git only, unless their line says otherwise. `make` lists them.
GO       ?= go
FUZZTIME ?= 60s
BENCH    ?=
CRASH    ?=
SOAK     ?= 1h
IMAGE_TOOL ?= docker
QUICK    ?= ./eventlog/... ./projections/... ./handlers ./handlers/format ./handlers/policy ./handlers/prompt ./handlers/reply ./handlers/tell ./llm/... ./internal/archtest ./internal/config ./internal/i18n
RACE     ?= ./contexts ./handlers/engine ./internal/app/rounds ./mcp

# What is shipped has no C in it, so neither has what is tested; linking 80 test programs takes half as long.
# More room for garbage saves tests a tenth of their processor time.
export CGO_ENABLED = 0
race bench: export CGO_ENABLED = 1
test quick check: export GOGC = 400
# What was compiled by make build, or in another clone, is not compiled again.
test quick: export GOFLAGS := $(GOFLAGS) -trimpath

# Checking programs come from a module of their own.
TOOL     := $(GO) tool -modfile=internal/tools/go.mod

.DEFAULT_GOAL := help
.PHONY: help browser cluster cluster-sample cluster-figures collector screenshots build demo quick test test-servers test-fixtures vet static check race vuln crash soak powercut attacks sweep fuzz golden bench release deb test-deb image test-image clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-15s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## bin/agent, one static binary
	$(GO) build -trimpath -o bin/agent ./cmd/agent

demo: build ## the whole program at work on this machine alone, in a few seconds
	./bin/agent demo

quick: ## the packages one edits most, under a minute
	$(GO) test $(QUICK)

test: ## before each commit, with make static, which vets. Where CI is set, also the series that start many processes
	$(GO) test -vet=off $(if $(CI),,-short) -timeout 30m ./...
	$(if $(CI),$(MAKE) --no-print-directory cluster-sample)

test-servers: bin/servers/node_modules ## tests with MCP servers that are not ours (needs Node, and npm's registry once)
	SERVERS='$(CURDIR)/bin/servers' $(GO) test -count=1 -tags servers ./internal/servers

bin/servers/node_modules: internal/servers/package.json internal/servers/package-lock.json
	mkdir -p bin/servers
	cp $^ bin/servers
	npm ci --prefix bin/servers --ignore-scripts --no-audit --no-fund --fetch-retries 5
	touch $@

test-fixtures: ## the fake GitHub beside recorded traffic (needs Node, and npm's registry once)
	forge/forgetest/fixtures/run

vet: ## formatting and go vet
	@files=$$(gofmt -l .) && test -z "$$files" || { echo "run gofmt -w on:" $$files >&2; exit 1; }
	$(GO) vet ./...
	$(GO) vet -tags servers ./internal/servers

static: vet ## vet, staticcheck, exhaustive switches, go.mod
	$(GO) mod tidy -diff
	$(TOOL) staticcheck ./...
	$(TOOL) exhaustive -d -typeignore '^(reflect|log/slog|slog)\.Kind$$|^syscall\.Errno$$' ./...

check: static ## all that make test finds and more: static checks, whole sweeps, the race detector (needs a C compiler)
	AGENT_EXHAUSTIVE=1 $(GO) test -timeout 60m ./...
	$(MAKE) race

race: ## the race detector where goroutines meet; RACE=./... is everything
	$(GO) test -race -timeout 60m $(RACE)

vuln: ## known vulnerabilities in what is linked (needs its database on the network)
	$(TOOL) govulncheck ./...

crash: ## kill the real program at its system calls (Linux); CRASH='-every 20' is quicker
	$(GO) run ./internal/crash $(CRASH)

soak: ## both forges, kills, outages, used-up limits, pauses for SOAK (1h): nothing lost or doubled, nothing grows (Linux)
	$(GO) run ./internal/soak -for $(SOAK)

powercut: ## cut the power CUTS times (200) on ext4 and xfs, then with a build without syncs, which must fail (Linux, root, loop devices)
	unshare --mount --propagation private $(GO) test ./cmd/agent -run TestPowerCut -v -timeout 120m -args -powercuts $(or $(CUTS),200)
	$(GO) build -tags nosync -o bin/agent-nosync ./cmd/agent
	unshare --mount --propagation private $(GO) test ./cmd/agent -run TestPowerCut -v -timeout 120m -args -powercuts $(or $(CUTS),200) -unsynced $(CURDIR)/bin/agent-nosync

attacks: ## the series that must not fail once (Linux): 200 tries of each escape, 330 red-team attempts by each kind of run, 500 kills
	AGENT_EXHAUSTIVE=1 $(GO) test -timeout 120m -v ./internal/git -run 'Swaps|NoGitOutlives'
	AGENT_EXHAUSTIVE=1 $(GO) test -timeout 120m -v ./mcp/workspace -run 'Outlives|Survivors|Freeze|Denied|Limits'
	AGENT_EXHAUSTIVE=1 $(GO) test -timeout 120m -v ./cmd/agent -run 'RedTeam|NoSurvivors'

sweep: ## kill a planning run in one process at each of its points, of which make test takes some
	AGENT_EXHAUSTIVE=1 $(GO) test ./handlers/engine -run TestKilledInAPlan -every 1 -timeout 60m

fuzz: ## each fuzz target for FUZZTIME, which is 60s
	@grep -r --include='*_test.go' '^func Fuzz' . | sed -E 's|^\./(.*)/[^/]*:func (Fuzz[A-Za-z0-9_]*).*|\1 \2|' | sort | \
	while read -r dir target; do \
		echo "$$dir $$target"; \
		$(GO) test "./$$dir" -run '^$$' -fuzz "^$$target\$$" -fuzzminimizetime 1s -fuzztime $(FUZZTIME) || exit 1; \
	done

golden: ## write the golden files anew; read the diff before you commit it
	$(GO) test $$(grep -rl --include='*_test.go' 'flag.Bool("update"' . | xargs -n1 dirname | sort -u) -update

browser: ## our pages in Chromium (needs chromium; without it the tests are skipped)
	cd internal/tools/browser && $(GO) test -count=1 -v .

cluster: ## several machines on real NATS servers: the suite of every bus, chaos for CLUSTER (5m), builds with faults that it must find (Linux; root for disks that fill up)
	cd internal/tools/cluster && $(GO) test -count=1 ./... && $(GO) build -o '$(CURDIR)/bin/nats' ./node
	$(GO) run ./internal/soak -nats bin/nats -for $(or $(CLUSTER),5m) -pace 1500ms -seed $(or $(SEED),1)
	$(GO) run ./internal/soak -nats bin/nats -for 30s -pace 1s -wrong nofence
	$(GO) run ./internal/soak -nats bin/nats -for 30s -pace 1s -wrong noleasecheck

cluster-sample: ## of make cluster what two machines do in 15 seconds of faults; CI's make test ends with it (Linux)
	cd internal/tools/cluster && $(GO) build -o '$(CURDIR)/bin/nats' ./node
	$(GO) run ./internal/soak -nats bin/nats -workers 2 -for 15s -pace 1s -seed $(or $(SEED),$(shell date +%s))

cluster-figures: ## how fast several machines are: throughput, takeover, a long context on another machine (Linux; root)
	cd internal/tools/cluster && $(GO) build -o '$(CURDIR)/bin/nats' ./node
	$(GO) run ./internal/soak -nats bin/nats -measure

collector: ## our spans into the receiver of the OpenTelemetry collector (the first time it is downloaded)
	cd internal/tools/collector && $(GO) test -count=1 -v .

screenshots: build ## the pictures in docs/, from a demo (needs chromium, git and go)
	@demo=$$(mktemp -d) && ./bin/agent demo --dir "$$demo" >/dev/null && \
	(cd internal/tools/browser && AGENT_DEMO="$$demo" $(GO) test -count=1 -run TestScreenshots . -args -screenshots '$(CURDIR)/docs'); rc=$$?; rm -rf "$$demo"; exit $$rc

bench: ## our figures beside others' (needs a C compiler, 3 GiB of disk); BENCH=append,scan,run,start leaves out the long ones
	cd internal/bench && $(GO) run . -only '$(BENCH)'

release: ## archives for Linux and macOS, Debian packages, SHA256SUMS and an SBOM in bin/release, the same bytes everywhere
	$(GO) run ./internal/release

deb: ## Debian packages for amd64 and arm64 in bin/release, the same bytes everywhere
	$(GO) run ./internal/release -only linux/amd64,linux/arm64

test-deb: ## install, upgrade, remove and purge the package in a Debian of its own (needs root and debootstrap)
	deploy/test-deb

image: build ## the image of deploy/Dockerfile (needs docker; IMAGE_TOOL=podman or buildah do as well)
	$(IMAGE_TOOL) build -f deploy/Dockerfile -t agent .

test-image: build ## build the image and run the demo in it; skipped, and said so, where no tool for images works
	deploy/test-image

clean: ## remove what make build made
	rm -rf bin
