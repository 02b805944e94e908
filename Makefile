# SPDX-FileCopyrightText: 2026 The Linnet contributors
# SPDX-License-Identifier: Apache-2.0

SWIFT ?= swift
CC = gcc
PREFIX ?= /usr/local
DESTDIR ?=
BUILD := .build
SUPPORT := $(BUILD)/support
SAMPLE := $(BUILD)/sample/first-light.flac
MEDIA := $(BUILD)/media
RELEASE := $(BUILD)/programs
# What the package manager makes: the same programs, each with all that it needs linked in.
WHOLE := $(BUILD)/release
STATIC := $(BUILD)/static
# The Swift and C++ runtimes are linked in: the programs run on machines without a toolchain. What nothing refers to
# is left out, and what runs lies side by side (scripts/link-order.txt), so that few pages of a program are ever read.
RELEASE_FLAGS := $(SWIFT_FLAGS) -c release --static-swift-stdlib -Xswiftc -use-ld=lld -Xswiftc -L$(CURDIR)/$(STATIC) \
	-Xswiftc -Xclang-linker -Xswiftc -static-libgcc -Xlinker --no-export-dynamic -Xlinker --icf=all \
	-Xlinker -z -Xlinker separate-code -Xlinker -z -Xlinker pack-relative-relocs \
	-Xlinker --no-warn-symbol-ordering -Xlinker --symbol-ordering-file=$(CURDIR)/scripts/link-order.txt
CFLAGS := -std=gnu11 -O2 -Wall -Wextra -Werror
# What is built for use, all if empty, and what is said to the package manager beside: scripts/cross-build.sh sets them.
PRODUCTS ?=
SWIFT_FLAGS ?=
BENCHES ?= first-sound seek resume idle control

.DEFAULT_GOAL := help
.PHONY: help deps run release link-order test support sample media bench fuzz sanitize check check-streams install
.PHONY: clean

help: ## say what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

deps: ## install the Debian packages that building and running need
	@scripts/install-packages.sh build run
	@scripts/check-toolchain.sh $(SWIFT)

run: deps release $(SAMPLE) ## build, start a receiver and play the sample to it
	@scripts/run.sh $(RELEASE) $(SAMPLE)

release: $(STATIC)/libstdc++.a ## build the programs for use
	$(if $(PRODUCTS),$(foreach product,$(PRODUCTS),$(SWIFT) build $(RELEASE_FLAGS) --product $(product) &&) true,$(SWIFT) build $(RELEASE_FLAGS))
	@mkdir -p $(RELEASE)
	SWIFT='$(SWIFT)' scripts/share.py $(WHOLE) $(STATIC) scripts/link-order.txt $(RELEASE)
	@ln -f $(WHOLE)/linnet $(if $(PRODUCTS),,$(WHOLE)/linnet-bench) $(RELEASE)/

# Found before the shared one, since it is alone in its folder.
$(STATIC)/libstdc++.a:
	@mkdir -p $(@D)
	ln -sf "$$($(CC) -print-file-name=libstdc++.a)" $@

link-order: release ## note anew which functions of the programs run (needs valgrind)
	scripts/link-order.py $(WHOLE) $(SUPPORT) $(MEDIA) scripts/link-order.txt

test: ## build and run all tests
	@scripts/install-packages.sh build run test
	@scripts/check-toolchain.sh $(SWIFT)
	@$(MAKE) --no-print-directory support $(SAMPLE) media
	@scripts/check-support.sh $(SUPPORT)
	SWIFT='$(SWIFT)' scripts/test.sh

support: $(SUPPORT)/libasound_module_pcm_simdac.so $(SUPPORT)/libasound_module_ctl_simdac.so $(SUPPORT)/libasound_module_pcm_simadc.so $(SUPPORT)/simdac-check $(SUPPORT)/quickhttpd $(SUPPORT)/gst-clock $(SUPPORT)/move-check $(SUPPORT)/lossy-relay $(SUPPORT)/lossy-hub ## build the test support

$(SUPPORT)/libasound_module_pcm_simdac.so: Tests/Support/simdac/pcm_simdac.c Tests/Support/simdac/intruder.h
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -fPIC -DPIC -shared -o $@ $< -lasound

$(SUPPORT)/libasound_module_pcm_simadc.so: Tests/Support/simdac/pcm_simadc.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -fPIC -DPIC -shared -o $@ $< -lasound -lm

$(SUPPORT)/libasound_module_ctl_simdac.so: Tests/Support/simdac/ctl_simdac.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -fPIC -DPIC -shared -o $@ $< -lasound

$(SUPPORT)/simdac-check: Tests/Support/simdac/check.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -o $@ $< -lasound

$(SUPPORT)/quickhttpd: Tests/Support/quickhttpd/quickhttpd.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -o $@ $< -pthread

$(SUPPORT)/gst-clock: Tests/Support/gst-clock/gst-clock.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -o $@ $< $$(pkg-config --cflags --libs gstreamer-net-1.0)

$(SUPPORT)/move-check: Tests/Support/move-check/move-check.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -o $@ $< $$(pkg-config --cflags --libs gstreamer-1.0 libsoup-3.0)

$(SUPPORT)/lossy-relay: Tests/Support/lossy-relay/lossy-relay.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -o $@ $<

$(SUPPORT)/lossy-hub: Tests/Support/lossy-hub/lossy-hub.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -o $@ $<

sample: $(SAMPLE) ## make the sample

$(SAMPLE): scripts/make-sample.sh scripts/sample.py
	scripts/make-sample.sh $@

media: ## make the media that the tests play
	@Tests/Support/make-media.sh $(MEDIA)

.PHONY: endurance
endurance: ## see what grows over 2,000 tracks, in a quarter of an hour
	@scripts/install-packages.sh build run test
	@$(MAKE) --no-print-directory support release
	$(RELEASE)/linnet-bench endurance

.PHONY: soak-data
soak-data: ## kill senders, applications and receivers at random: make soak-data MESSAGES=1000000 SEED=1
	@scripts/install-packages.sh build run
	@$(MAKE) --no-print-directory release
	$(RELEASE)/linnet-bench soak --messages $(or $(MESSAGES),1000000) --seed $(or $(SEED),1)

.PHONY: soak-group
soak-group: ## let members of a group join, leave, stand still and die at random: make soak-group SECONDS=1800 SEED=1
	@scripts/install-packages.sh build run
	@$(MAKE) --no-print-directory support release
	$(RELEASE)/linnet-bench group-soak --seconds $(or $(SECONDS),1800) --seed $(or $(SEED),1)

bench: ## measure, beside the peers: make bench BENCHES='first-sound seek'
	@scripts/install-packages.sh build run bench
	@scripts/check-toolchain.sh $(SWIFT)
	@$(MAKE) --no-print-directory support media release
	$(RELEASE)/linnet-bench $(BENCHES)

sanitize: ## run the tests of values and libraries under the address and the thread sanitizer
	@scripts/install-packages.sh build run test
	SWIFT='$(SWIFT)' scripts/sanitize.sh address
	SWIFT='$(SWIFT)' scripts/sanitize.sh thread

fuzz: ## run the decoders on made-up input: make fuzz SECONDS=600
	@scripts/fuzz.sh $(or $(SECONDS),20)

check: ## everything that CI runs
	.ci/run

check-streams: ## play streams of every kind, and compare what is heard: make check-streams CASES='hls-live' LONG=1
	@scripts/install-packages.sh build run test
	@$(MAKE) --no-print-directory support
	$(SWIFT) build
	/usr/bin/python3 Tests/Streams/run.py $(if $(LONG),--long) $(CASES)

.PHONY: check-bluetooth
check-bluetooth: ## have a phone and a receiver meet, with the real Bluetooth daemons in two virtual machines
	@scripts/install-packages.sh build bluetooth
	$(SWIFT) build --product bluetooth-probe
	Tests/Bluetooth/run.sh $(BUILD)/debug/bluetooth-probe

install: release ## install the programs, units and pages under DESTDIR and PREFIX
	scripts/install.sh $(RELEASE) '$(DESTDIR)' '$(PREFIX)'

# The Debian systems in which packages and images are made are kept in the cache: see scripts/debian-roots.sh.
ARCHS ?= amd64 arm64
.PHONY: deb test-deb
deb: ## make the Debian packages, as root on amd64: make deb ARCHS=amd64
	@scripts/install-packages.sh deb
	scripts/deb.sh $(ARCHS)

test-deb: ## install, run, upgrade, remove and purge the packages in a Debian 13 system
	@scripts/install-packages.sh deb
	Tests/Packages/run.sh $(ARCHS)

BOARD ?= generic-x86_64
.PHONY: image test-image
image: ## make the image of a board, and the update to it: make image BOARD=generic-x86_64
	@scripts/install-packages.sh deb
	scripts/image.sh $(BOARD)

test-image: ## start the image in QEMU and try what it promises: make test-image BOARD=generic-x86_64 CASES='start'
	@scripts/install-packages.sh deb
	python3 Tests/Image/run.py $(BOARD) $(CASES)

.PHONY: applications
applications: release ## make the sample applications, each a folder that can be installed
	scripts/make-applications.sh $(WHOLE) $(BUILD)/applications

clean: ## remove what was built
	rm -rf $(BUILD)
