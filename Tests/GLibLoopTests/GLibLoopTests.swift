// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GLibLoop
import LoopTestKit
import Testing

@Suite(.timeLimit(.minutes(1))) struct GLibLoopTests {
    @Test func `an actor on a loop runs on the loop's thread`() async {
        let here = OnLoop()
        #expect(await here.run { $0.loop.isIsolatingCurrentContext() } == true)
        #expect(here.loop.isIsolatingCurrentContext() == false)
    }

    @Test func `the main part of a program runs on a loop of the thread that called`() async {
        let outcome = Mailbox<Int32>()
        BackgroundThread.run(named: "main") {
            outcome.put(
                GLibLoop.run { _, loop in
                    // What comes from other threads comes back here.
                    await OnLoop().run { _ in }
                    return loop.isIsolatingCurrentContext() == true ? 7 : 1
                })
        }
        #expect(await outcome.next() == 7)
    }

    @Test func `a batch that ends with jobs waiting is followed by another`() async {
        // Each job appends one more while its own batch is unfinished.
        let here = OnLoop(batch: 2)
        let seen = Notes<Int>()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<1000 {
                group.addTask { await here.run { _ in seen.add(1) } }
            }
        }
        #expect(seen.all.count == 1000)
    }

    @Test func `jobs of one task run in the order they were sent`() async {
        let here = OnLoop(batch: 3)
        let order = Notes<Int>()
        for number in 0..<100 { await here.run { _ in order.add(number) } }
        #expect(order.all == Array(0..<100))
    }

    @Test func `what is to follow a turn comes after the jobs that wait, and after those that they bring`()
        async
    {
        let here = OnLoop()
        let order = Mailbox<String>()
        await here.run { here in
            here.loop.atEndOfTurn { order.put("end") }
            Task { [order] in
                await here.run { _ in }
                order.put("elsewhere")
            }
            order.put("job")
        }
        var seen: [String] = []
        while seen.count < 3 { seen.append(await order.next() ?? "nothing") }
        #expect(seen.first == "job" && Set(seen) == ["job", "end", "elsewhere"])
    }

    @Test func `what is to follow a turn comes where no job does`() async {
        let here = OnLoop()
        let ended = Mailbox<Bool>()
        await here.run { here in
            let loop = here.loop
            // Not from a job: from a source's call.
            here.keep(EventSource.after(.milliseconds(1)) { loop.atEndOfTurn { ended.put(true) } })
        }
        #expect(await ended.next() == true)
    }

    @Test func `a flood of jobs does not keep a timer from firing`() async {
        let here = OnLoop(batch: 16)
        let flowing = Mailbox<Bool>()
        let flood = Task {
            while !Task.isCancelled {
                await here.run { _ in }
                flowing.put(true)
            }
        }
        #expect(await flowing.next() == true)
        let fired = Mailbox<Bool>()
        await here.run { here in
            here.keep(EventSource.after(.milliseconds(1)) { fired.put(true) })
        }
        #expect(await fired.next() == true)
        flood.cancel()
        await flood.value
    }

    @Test func `sleep lasts at least as long as asked`() async throws {
        let here = OnLoop()
        let (before, after) = try await here.run { here in
            let before = MonotonicClock.nanoseconds
            try await here.loop.sleep(for: .milliseconds(5))
            #expect(here.loop.isIsolatingCurrentContext() == true)
            return (before, MonotonicClock.nanoseconds)
        }
        #expect(after - before >= 5_000_000)
    }

    @Test func `a cancelled sleep ends at once with an error`() async {
        let here = OnLoop()
        let sleeper = Task { try await here.run { try await $0.loop.sleep(for: .seconds(3600)) } }
        sleeper.cancel()
        await #expect(throws: CancellationError.self) { try await sleeper.value }
    }

    @Test func `a repeating source fires until it is destroyed`() async {
        let here = OnLoop()
        let ticks = Mailbox<Int>()
        await here.run { here in
            var count = 0
            here.keep(
                EventSource.repeating(every: .milliseconds(1)) {
                    count += 1
                    ticks.put(count)
                })
        }
        #expect(await ticks.first { $0 == 3 } == 3)
        await here.dropAll()
        let after = Mailbox<Bool>()
        await here.run { here in here.keep(EventSource.after(.milliseconds(5)) { after.put(true) }) }
        #expect(await after.next() == true)
    }

    @Test func `a source may be destroyed inside its own callback`() async {
        let here = OnLoop()
        let ticks = Mailbox<Int>()
        await here.run { here in
            var source: EventSource?
            source = EventSource.repeating(every: .milliseconds(1)) {
                source?.destroy()
                source = nil
                ticks.put(1)
            }
            here.keep(EventSource.after(.milliseconds(20)) { ticks.put(2) })
        }
        #expect(await ticks.next() == 1)
        #expect(await ticks.next() == 2)
    }

    @Test func `a UNIX signal comes to the loop`() async throws {
        let here = OnLoop()
        let signals = Mailbox<Int32>()
        await here.run { here in here.keep(EventSource.signal(10) { signals.put(10) }) }
        let exit = try await here.run { _ in
            try await ChildProcess(["sh", "-c", "kill -USR1 $PPID"]).wait()
        }
        #expect(exit == .status(0))
        #expect(await signals.next() == 10)
    }
}

@Suite(.timeLimit(.minutes(1))) struct InboxTests {
    @Test func `values of several threads are read on the loop, each thread's in order, none twice`() async {
        let here = OnLoop()
        let inbox = Inbox<(thread: Int, number: Int)>(on: here.loop, limit: 10_000)
        let read = Mailbox<(thread: Int, number: Int)>()
        await here.run { here in
            let loop = here.loop
            inbox.open {
                #expect(loop.isIsolatingCurrentContext() == true)
                read.put($0)
            }
        }
        for thread in 0..<4 {
            BackgroundThread.run(named: "writer") { for number in 0..<500 { inbox.yield((thread, number)) } }
        }
        var next = [0, 0, 0, 0]
        for _ in 0..<2000 {
            guard let (thread, number) = await read.next() else { break }
            #expect(number == next[thread])
            next[thread] += 1
        }
        #expect(next == [500, 500, 500, 500])
    }

    @Test func `a value that comes on the loop is read at once, one that comes while reading after it`() async
    {
        let here = OnLoop()
        let order = Notes<Int>()
        let last = Mailbox<Bool>()
        await here.run { here in
            let inbox = Inbox<Int>(on: here.loop, limit: 10)
            here.keep(inbox)
            inbox.open { value in
                order.add(value)
                if value == 1 { inbox.yield(2) }
                order.add(value * 10)
                if value == 2 { last.put(true) }
            }
            inbox.yield(1)
            #expect(order.all == [1, 10])
        }
        #expect(await last.next() == true)
        #expect(order.all == [1, 10, 2, 20])
    }

    @Test func `a full inbox drops what is new, and a closed one everything`() async {
        let here = OnLoop()
        let read = Notes<Int>()
        await here.run { here in
            let inbox = Inbox<Int>(on: here.loop, limit: 2)
            for value in 1...3 { inbox.yield(value) }
            inbox.open { read.add($0) }
            inbox.close()
            inbox.yield(4)
        }
        #expect(read.all == [1, 2])
    }
}
