# SPDX-License-Identifier: Apache-2.0
#
#   make            release build: build/ramet, build/libramet.a, build/libramet.so
#   make run        builds and starts the server: http://127.0.0.1:7077
#   make tour       a tour of the command-line tool on a scratch store
#   make test       every test, on SQLite and PostgreSQL; ends with "N passed, M failed, K skipped"
#                   (ENGINE=sqlite or ENGINE=postgres: on one; SUITE='cli/*': those suites)
#   make bench      the table of docs/performance.md, and build/bench.json
#   make bench-peers   Ramet beside OpenCode, LangGraph and others; build/bench-peers.json and .svg (QUICK=1: small)
#   make web-bench  the rows of the page there, in a browser
#   make lint       clang-format, cppcheck, the house rules, ESLint
#   make docs       writes docs/api anew, from the tables of routes
#   make install    into PREFIX (default /usr/local), DESTDIR honoured
#   make clean
#
#   V=1             shows the commands of the build
#   SAN=1           with AddressSanitizer and UndefinedBehaviorSanitizer, in build/san
#   make test-model N=1000000 SEED=7     make test-crash N=500     make test-fault-all
#   make test-lost-writes T=600          connections to PostgreSQL die under many writers, T seconds long
#
# Each target installs the Debian packages it needs when they are missing (tools/setup).

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:

PREFIX ?= /usr/local
SAN ?= 0
ifeq ($(SAN),1)
B := build/san
SANFLAGS := -fsanitize=address,undefined -fno-sanitize-recover=all
OPT ?= -O1
else
B := build
OPT ?= -O2
endif

SETUP := $(shell tools/setup build >&2 || echo failed)
ifneq ($(SETUP),)
$(error the packages could not be installed; run tools/setup build to see why)
endif

ifeq ($(filter -j%,$(MAKEFLAGS)),)
MAKEFLAGS += -j$(shell nproc)
endif
ifneq ($(V),1)
SAY = @printf '  %-4s %s\n'
HUSH = @
else
SAY = @:
endif

CC := gcc
PKGS := sqlite3 libpq libzstd libcrypto
BIN_PKGS := zlib libcurl libssl libprotobuf-c
BENCH_PKGS := libmicrohttpd
WARN := -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith \
        -Wvla -Wwrite-strings -Wformat=2 -Wundef -Wno-format-truncation
CFLAGS := -std=c11 -D_GNU_SOURCE -g $(OPT) $(WARN) -fPIC -fvisibility=hidden -pthread -MMD -MP \
          -fno-strict-aliasing -fstack-protector-strong -D_FORTIFY_SOURCE=2 $(SANFLAGS) \
          -Iinclude -Isrc -isystem $(B)/gen $(shell pkg-config --cflags $(PKGS) $(BIN_PKGS))
LDFLAGS := -pthread $(SANFLAGS) -Wl,-z,relro,-z,now
LIBS := $(shell pkg-config --libs $(PKGS)) -lm
# No more of gRPC than is called: its pkg-config file names fifty libraries that it is made of.
BIN_LIBS := $(shell pkg-config --libs $(BIN_PKGS)) -lgrpc_unsecure -lgpr
ifeq ($(SAN),1)
CFLAGS := $(filter-out -D_FORTIFY_SOURCE=2,$(CFLAGS))
endif

# All C files of some rooms of src/, their subfolders included.
c_of = $(sort $(shell find $(1:%=src/%) -name '*.c'))
LIB_SRC := $(call c_of,base store core foreign)
SERVER_SRC := $(call c_of,form http grpc identity runtime turns live agent face server)
BIN_SRC := $(SERVER_SRC) $(call c_of,client acp cli)
BENCH_SRC := $(wildcard bench/*.c bench/cases/*.c)
WEB_SRC := $(shell find web \( -name node_modules -o -name tests \) -prune -o -type f -print)
LIB_OBJ := $(LIB_SRC:%.c=$(B)/obj/%.o)
# The messages of gRPC: made from proto/, and from the files of protobuf that those use.
PROTO := memory/v1/memory a2a/v1/a2a grpc/health/v1/health grpc/reflection/v1/reflection \
         google/rpc/status google/protobuf/struct google/protobuf/empty google/protobuf/timestamp \
         google/protobuf/any google/protobuf/descriptor
GEN_SRC := $(PROTO:%=$(B)/gen/%.pb-c.c)
GEN := $(GEN_SRC) $(B)/gen/descriptors.inc
PROTO_STD := $(shell pkg-config --variable=includedir protobuf)
CLIENT_OBJ := $(patsubst %.c,$(B)/obj/%.o,$(call c_of,client))
BIN_OBJ := $(BIN_SRC:%.c=$(B)/obj/%.o) $(GEN_SRC:%.c=%.o) $(B)/obj/page_data.o

.PHONY: all run tour test setup-test setup-bench test-model test-crash test-fault-all test-lost-writes test-scale bench bench-churn bench-peers web-bench lint format docs install clean

all: $(B)/ramet $(B)/libramet.so

$(B)/obj/%.o: %.c
	@mkdir -p $(@D)
	$(SAY) CC $<
	$(HUSH)$(CC) $(CFLAGS) -c $< -o $@

# protobuf-c has no `optional` of proto3: a oneof of one member is the same on the wire. It ends texts
# at their first NUL, so those inside of JSON values are bytes to it.
$(B)/gen/proto/%.proto: proto/%.proto
	@mkdir -p $(@D)
	@sed -E 's/^( *)optional ([A-Za-z0-9_.]+) ([a-z0-9_]+) = ([0-9]+);/\1oneof opt_\3 { \2 \3 = \4; }/' $< > $@
$(B)/gen/proto/google/protobuf/struct.proto: $(PROTO_STD)/google/protobuf/struct.proto
	@mkdir -p $(@D)
	@sed -E -e 's/^ *string string_value/bytes string_value/' \
	    -e 's/^ *map<string, Value> fields = 1;/message FieldsEntry { bytes key = 1; Value value = 2; } repeated FieldsEntry fields = 1;/' $< > $@
$(B)/gen/proto/google/protobuf/%.proto: $(PROTO_STD)/google/protobuf/%.proto
	@mkdir -p $(@D)
	@cp $< $@
$(GEN_SRC): $(B)/gen/%.pb-c.c: $(PROTO:%=$(B)/gen/proto/%.proto)
	$(SAY) GEN $@
	$(HUSH)protoc --c_out=$(B)/gen -I$(B)/gen/proto $*.proto
# What reflection tells: the files as they are, with what they import.
$(B)/gen/descriptors.inc: proto/memory/v1/memory.proto proto/a2a/v1/a2a.proto proto/grpc/health/v1/health.proto proto/grpc/reflection/v1/reflection.proto
	$(SAY) GEN $@
	@mkdir -p $(B)/gen/alpha/grpc/reflection/v1alpha
	@sed 's/grpc\.reflection\.v1\b/&alpha/' proto/grpc/reflection/v1/reflection.proto \
	    > $(B)/gen/alpha/grpc/reflection/v1alpha/reflection.proto
	$(HUSH)protoc --include_imports -o $(B)/gen/descriptors -Iproto -I$(B)/gen/alpha \
	    memory/v1/memory.proto a2a/v1/a2a.proto grpc/health/v1/health.proto \
	    grpc/reflection/v1/reflection.proto \
	    grpc/reflection/v1alpha/reflection.proto
	@od -An -v -tx1 $(B)/gen/descriptors | sed 's/ \(..\)/0x\1,/g' > $@
$(B)/gen/%.pb-c.o: $(B)/gen/%.pb-c.c | $(GEN)
	$(SAY) CC $<
	$(HUSH)$(CC) $(CFLAGS) -w -c $< -o $@
$(BIN_SRC:%.c=$(B)/obj/%.o): | $(GEN)

# The page: built by Vite, then put into the binary, packed (web/README.md).
build/web/page_data.c: $(WEB_SRC) tools/web
	$(SAY) WEB $@
	$(HUSH)tools/web build build/web
$(B)/obj/page_data.o: build/web/page_data.c
	@mkdir -p $(@D)
	$(HUSH)$(CC) $(CFLAGS) -c $< -o $@

$(B)/libramet.a: $(LIB_OBJ)
	$(SAY) AR $@
	@rm -f $@
	$(HUSH)ar qcs $@ $^

$(B)/libramet.so: $(LIB_OBJ)
	$(SAY) LD $@
	$(HUSH)$(CC) $(LDFLAGS) -shared -Wl,-soname,libramet.so.0 $^ $(LIBS) -o $@

$(B)/ramet: $(BIN_OBJ) $(B)/libramet.a
	$(SAY) LD $@
	$(HUSH)$(CC) $(LDFLAGS) $(BIN_OBJ) $(B)/libramet.a $(LIBS) $(BIN_LIBS) -o $@

# The benchmark is not part of the product; it measures the ramet in the same folder.
setup-bench:
	@tools/setup bench
$(BENCH_SRC:%.c=$(B)/obj/%.o): CFLAGS += -I.
$(BENCH_SRC:%.c=$(B)/obj/%.o): | setup-bench
$(B)/ramet-bench: $(BENCH_SRC:%.c=$(B)/obj/%.o) $(CLIENT_OBJ) $(B)/libserver.a $(B)/libramet.a $(B)/ramet
	$(SAY) LD $@
	$(HUSH)$(CC) $(LDFLAGS) $(filter %.o %.a,$^) $(LIBS) $(BIN_LIBS) $(shell pkg-config --libs $(BENCH_PKGS)) -o $@

run: $(B)/ramet
	@exec $(B)/ramet serve
tour: $(B)/ramet
	@tools/tour $(B)/ramet

# ---- tests: every program prints TAP, tests/run counts all of it

setup-test:
	@tools/setup test

UNIT_SRC := $(wildcard tests/unit/*.c)
MODEL_SRC := $(wildcard tests/model/*.c)
TEST_LIB := $(patsubst %.c,$(B)/obj/%.o,$(wildcard tests/lib/*.c))
FAULT_SRC := $(wildcard tests/fault/*.c)
# Unit tests reach into the server too; its parts come from an archive, so that main() stays out.
SERVER_OBJ := $(SERVER_SRC:%.c=$(B)/obj/%.o) $(GEN_SRC:%.c=%.o) $(B)/obj/page_data.o
$(B)/libserver.a: $(SERVER_OBJ)
	$(SAY) AR $@
	@rm -f $@
	$(HUSH)ar qcs $@ $^
$(B)/tests/unit: $(UNIT_SRC:%.c=$(B)/obj/%.o) $(TEST_LIB) $(B)/libserver.a
$(B)/tests/model: $(MODEL_SRC:%.c=$(B)/obj/%.o) $(TEST_LIB)
$(B)/tests/fault: $(FAULT_SRC:%.c=$(B)/obj/%.o) $(TEST_LIB)
$(B)/tests/unit: TEST_LIBS := -lcriterion $(BIN_LIBS)
$(B)/tests/unit: TEST_PARTS := $(B)/libserver.a
# Runs turns of agents for tests/server/agent.mjs.
$(B)/tests/agent: $(patsubst %.c,$(B)/obj/%.o,$(wildcard tests/agent/*.c) $(call c_of,agent))
$(B)/tests/agent: TEST_LIBS := $(BIN_LIBS)
# The same driver, its calls through a server and the client.
$(B)/tests/model_http: $(MODEL_SRC:%.c=$(B)/obj/over_http/%.o) $(TEST_LIB) $(CLIENT_OBJ) $(B)/libserver.a
$(B)/tests/model_http: TEST_PARTS := $(B)/libserver.a
$(B)/tests/model_http: TEST_LIBS := $(BIN_LIBS)
$(B)/obj/over_http/%.o: %.c
	@mkdir -p $(@D)
	$(SAY) CC "$< (over HTTP)"
	$(HUSH)$(CC) $(CFLAGS) -DOVER_HTTP -c $< -o $@
$(B)/tests/%: $(B)/libramet.a
	@mkdir -p $(@D)
	$(SAY) LD $@
	$(HUSH)$(CC) $(LDFLAGS) $(filter %.o,$^) $(TEST_PARTS) $(B)/libramet.a $(LIBS) $(TEST_LIBS) -o $@

# The server with one more protocol, a folder and a line (docs/add-a-face.md). The folder stands
# where src/face/NAME would: its files include "face/NAME/…". All other objects are those of ramet.
FACES_EXTRA := tests/face/toy
EXTRA := $(B)/obj/extra-faces
EXTRA_OBJ := $(patsubst %.c,$(B)/obj/%.o,$(wildcard $(FACES_EXTRA)/*.c)) $(EXTRA)/faces.o
$(EXTRA_OBJ): CFLAGS += -I$(FACES_EXTRA)/../.. -I$(EXTRA)
$(EXTRA_OBJ): | $(GEN)
$(EXTRA)/extra_faces.def: src/server/faces.def
	@mkdir -p $(@D)
	@{ cat $<; echo 'FACE($(notdir $(FACES_EXTRA)))'; } > $@
$(EXTRA)/faces.o: src/server/faces.c $(EXTRA)/extra_faces.def
	$(SAY) CC "$< (one face more)"
	$(HUSH)$(CC) $(CFLAGS) -DFACES_DEF='"extra_faces.def"' -c $< -o $@
$(B)/tests/toy-ramet: $(EXTRA_OBJ) $(filter-out $(B)/obj/src/server/faces.o,$(BIN_OBJ)) $(B)/libramet.a
	@mkdir -p $(@D)
	$(SAY) LD $@
	$(HUSH)$(CC) $(LDFLAGS) $^ $(LIBS) $(BIN_LIBS) -o $@

TESTS := $(B)/tests/unit $(B)/tests/agent $(B)/tests/model $(B)/tests/model_http $(B)/tests/fault $(B)/tests/toy-ramet

$(UNIT_SRC:%.c=$(B)/obj/%.o): | setup-test $(GEN)

# The benchmark is built, not run: it must not fall behind the headers.
test: setup-test all $(TESTS) $(B)/ramet-bench
	@ENGINE='$(ENGINE)' SUITE='$(SUITE)' tests/run $(B)

test-model: N = 1000000
test-model: $(B)/tests/model
	$(B)/tests/model --ops $(N) $(if $(SEED),--seed $(SEED))
test-crash: N = 500
test-crash: $(B)/tests/fault
	$(B)/tests/fault crash --rounds $(N)
test-fault-all: $(B)/tests/fault
	$(B)/tests/fault vfs --all
# On a PostgreSQL server of its own, which ends with the test.
test-lost-writes: T = 600
test-lost-writes: setup-test $(B)/tests/fault
	@dir=$$(mktemp -d)/pg; trap 'tests/lib/postgres.sh remove $$dir; rmdir $${dir%/pg}' EXIT; \
	chmod 755 $${dir%/pg}; RAMET_TEST_DB=$$(tests/lib/postgres.sh start $$dir) && export RAMET_TEST_DB && \
	$(B)/tests/fault lost-writes --budget $(T) $(if $(SEED),--seed $(SEED))
# memory-service with 1,000 members, 10,000 forks of one root and a chain of 1,000.
test-scale: setup-test all
	SCALE=full B=$(CURDIR)/$(B) RAMET=$(CURDIR)/$(B)/ramet node tests/server/memory_contract.mjs 'many members'

# ---- speed

bench: $(B)/ramet-bench
	$(B)/ramet-bench --json $(B)/bench.json
# Ten minutes of load: the memory of the server must stay flat.
bench-churn: $(B)/ramet-bench
	$(B)/ramet-bench --only churn --json $(B)/bench-churn.json
# The same history in Ramet and in others (bench/peers/main.mjs names QUICK, PEERS and PATIENCE).
bench-peers: $(B)/ramet
	@tools/setup peers
	@RAMET=$(abspath $(B)/ramet) B=$(abspath $(B)) node bench/peers/main.mjs $(B)/bench-peers
# The page in a browser: first load, versions of a message in a long chat, the timeline of a great tree.
web-bench: $(B)/ramet
	@tools/setup test
	@RAMET=$(abspath $(B)/ramet) tools/web run node tools/bench.mjs

# ---- house rules

FORMATTED = $(shell git ls-files --cached --others --exclude-standard '*.c' '*.h')
lint:
	@tools/setup lint
	clang-format --dry-run --Werror $(FORMATTED)
	cppcheck --quiet --error-exitcode=1 --std=c11 --enable=warning,performance,portability \
	    --suppressions-list=tools/cppcheck.suppressions --inline-suppr -Iinclude -Isrc -D_GNU_SOURCE src
	tools/house-rules
	tools/web lint
format:
	@tools/setup lint
	clang-format -i $(FORMATTED)

# What the code tells about itself, written anew.
docs: $(B)/ramet
	for name in $$($(B)/ramet help --api list); do $(B)/ramet help --api $$name > docs/api/$$name.md; done
	$(B)/ramet help --markdown > docs/cli.md
	$(B)/ramet help --settings > $(B)/settings.md
	sed -i -e '/^<!-- settings -->/r $(B)/settings.md' -e '/^<!-- settings -->/,/^<!-- .settings -->/{/^<!-- /!d}' docs/server.md

install: all
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/lib/pkgconfig $(DESTDIR)$(PREFIX)/include/ramet \
	    $(DESTDIR)$(PREFIX)/share/man/man1 $(DESTDIR)$(PREFIX)/share/bash-completion/completions \
	    $(DESTDIR)$(PREFIX)/share/zsh/site-functions $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d
	install -m 755 $(B)/ramet $(DESTDIR)$(PREFIX)/bin/ramet
	install -m 644 $(B)/libramet.a $(DESTDIR)$(PREFIX)/lib/libramet.a
	install -m 755 $(B)/libramet.so $(DESTDIR)$(PREFIX)/lib/libramet.so.0
	ln -sf libramet.so.0 $(DESTDIR)$(PREFIX)/lib/libramet.so
	install -m 644 include/ramet.h $(DESTDIR)$(PREFIX)/include/ramet.h
	install -m 644 $(wildcard include/ramet/*.h) $(DESTDIR)$(PREFIX)/include/ramet
	sed -e 's|@PREFIX@|$(PREFIX)|' tools/ramet.pc.in > $(DESTDIR)$(PREFIX)/lib/pkgconfig/ramet.pc
	$(B)/ramet help --man > $(DESTDIR)$(PREFIX)/share/man/man1/ramet.1
	$(B)/ramet completion bash > $(DESTDIR)$(PREFIX)/share/bash-completion/completions/ramet
	$(B)/ramet completion zsh > $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_ramet
	$(B)/ramet completion fish > $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/ramet.fish

clean:
	rm -rf build

-include $(shell test -d $(B)/obj && find $(B)/obj -name '*.d')
