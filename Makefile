# Everything a contributor runs. Bare `make` lists it.
SHELL := /bin/bash
export CGO_ENABLED ?= 0
# Without the place of the sources in them, compiled packages serve any copy of the
# module: the clones that CI builds, and the one that a test grows.
export GOFLAGS := -trimpath $(GOFLAGS)
# Compilers, linkers and tests live for seconds: with more garbage in between they
# spend less on collecting it. What each of them holds is bounded all the same.
export GOGC ?= 400
export GOMEMLIMIT ?= 3GiB

SEEDS   ?= 200
FUZZ    ?= 30s

.PHONY: help build test test-watched test-again test-unwatched test-quick lint fmt fuzz sim cluster-test bench demo screenshots tools outdated vulnerable reproducible release

help: ## list what can be made
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-13s %s\n", $$1, $$2}'

build: ## build the program into bin/
	go build -o bin/chainexplorer ./cmd/chainexplorer

tools: ## install what the tests need and the machine lacks
	@scripts/tools.sh

# go test, and a list of what was skipped, which fails where CI is set. 'make lint'
# vets, and nobody debugs these binaries: without what debuggers read they are linked
# in half the time.
TESTRUN = go run ./scripts/testrun -vet=off -ldflags=-w

# The race detector leaves field and curve arithmetic alone, and SQLite, which was C:
# they share nothing of Go's, and take most of the time when they are watched. More was
# tried: with the tables under the store left alone it told of races inside of
# encoding/json that are none, perhaps because equal generic types are linked once,
# watched or not.
UNWATCHED = chainexplorer/internal/starknet/hash github.com/consensys/gnark-crypto/... github.com/NethermindEth/juno/core/... modernc.org/sqlite/lib
# Most is watched, and not made fast: without inlining it is compiled in half to two
# thirds of the time, and under the race detector it runs no slower, but for what is
# called for every felt.
SLOW = github.com/andybalholm/brotli github.com/jackc/pgx/v5/pgtype github.com/parquet-go/...
FAST = chainexplorer/internal/felt chainexplorer/internal/starknet/...
RACE = -race -gcflags=chainexplorer/...=-l $(FAST:%=-gcflags=%=) $(UNWATCHED:%=-gcflags=%=-race=false) $(SLOW:%=-gcflags=%=-l)
# It would let every process sleep for a second at its end, for goroutines that still
# run; the tests wait for theirs.
export GORACE ?= atexit_sleep_ms=20

test: tools ## run all tests, with the race detector where it can find something
	@$(MAKE) --no-print-directory -j3 test-watched test-again test-unwatched

# As many packages at once as there are processors, and two of each kind of the others
# beside them, because the tests of the program and those in a browser wait most of the time.
test-watched:
	list=$$(go run ./scripts/races) && CGO_ENABLED=1 $(TESTRUN) $(RACE) -p $$(getconf _NPROCESSORS_ONLN) -timeout 18m $$list

# Tests that do less under the race detector are run once more without it: scripts/races
# tells from the sources which they are.
test-again:
	list=$$(go run ./scripts/races -again) && $(TESTRUN) -p 2 -timeout 15m $$list

# Tests in which nothing runs on a second goroutine are run without the race detector
# alone. The pages in a browser and the example of the guide are the longest, and begin.
test-unwatched:
	list=$$(go run ./scripts/races -none) && $(TESTRUN) -p 2 -timeout 15m ./internal/web/walk ./internal/architecture $$list

test-quick: ## run the tests without the race detector
	go test -timeout 10m ./...

fmt: ## format the code
	gofmt -w $$(git ls-files '*.go')

# What go vet has learned of a package is kept for a tool of the same bytes: without the
# commit and the place of the sources in it, for any commit and any clone.
lint: ## check formatting, vet and staticcheck
	@unformatted=$$(gofmt -l $$(git ls-files '*.go')); if [ -n "$$unformatted" ]; then echo "not formatted:"; echo "$$unformatted"; exit 1; fi
	@go build -buildvcs=false -o bin/lint ./scripts/lint
	go vet -vettool=bin/lint ./...

sim: ## run the simulation over SEEDS seeds (make sim SEEDS=1000)
	SIM_SEEDS=$(SEEDS) SIM_POSTGRES_SEEDS=$(SEEDS) go test -count=1 -timeout 0 -run TestSimulation ./internal/index/sim

cluster-test: ## run the tests of Citus on a cluster of this machine (make cluster-test CITUS=SOURCES builds it first)
	@if [ -n "$(CITUS)" ]; then scripts/citus.sh build "$(CITUS)"; fi
	@scripts/citus.sh run 2 go test -count=1 -p 1 -timeout 30m -run Citus ./internal/store/postgres ./cmd/chainexplorer ./internal/index/sim

fuzz: ## fuzz every parser for FUZZ each (make fuzz FUZZ=5m)
	@scripts/fuzz.sh $(FUZZ)

demo: ## show the whole product on built-in simulated chains
	go run ./cmd/chainexplorer demo

screenshots: ## make the pictures of the README from the demo
	go run ./scripts/screenshots

release: ## build static binaries for four platforms, with digests and bills of materials, into dist/
	@scripts/release.sh

reproducible: ## build twice in different places and compare
	@scripts/reproducible.sh $(ANEW)

vulnerable: ## look for known vulnerabilities that the program can reach
	@scripts/vulnerable.sh

outdated: ## list the modules that have a newer version
	@scripts/outdated.sh

bench: ## run the benchmarks and print their ratios
	go run ./bench/ingest
	go run ./bench/events
	go run ./bench/gateway -events 0
	go test -run '^$$' -bench . ./bench/...
