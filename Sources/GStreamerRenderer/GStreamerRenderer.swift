// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import AudioOutput
package import GLibLoop
import GStreamer
package import MediaModel
import MediaSource
import Soup

/// Plays media with GStreamer into the output stage, one item at a time.
///
/// Commands return at once. Everything that may take long is done by workers and streaming threads, and comes
/// back through one queue, whose consumer is the only writer of the state.
package actor GStreamerRenderer {
    /// Commands, messages and answers that wait at most. A pipeline in trouble sends some dozens.
    static let queueLimit = 4096

    /// What the state depends on, in the order in which it happened.
    enum Input: Sendable {
        case command(RendererCommand)
        case message(pipeline: UInt64, PipelineMessage)
        case output(AudioOutputEvent)
        /// The first frames after the beginning or a flush came out of the pipeline.
        case arrived(pipeline: UInt64, StreamFeed.Arrival)
        /// What holds once the cue is reached.
        case news(pipeline: UInt64, cue: Int, StreamFeed.News)
        case metadataDue(LoadID)
        /// More is known of the streams of the item.
        case streamsTold(pipeline: UInt64)
        case seekAnswered(pipeline: UInt64, number: UInt64, accepted: Bool)
        case seekIsSlow(pipeline: UInt64, number: UInt64)
        case asked(pipeline: UInt64, MediaPipeline.Facts)
        case askAgain(pipeline: UInt64)
        case adaptiveFound
        case endDue
        case beginningDue(pipeline: UInt64, reads: Int)
        case freezeDue(pipeline: UInt64, seek: UInt64)
        case recoveryDue(LoadID, attempt: Int)
        case troubleOver(LoadID, skipped: Int)
        case serverDue(pipeline: UInt64)
        case pluginsAdded(LoadID)
        case examined(LoadID, Finding)
        case pictures(pipeline: UInt64, PictureFeed.News)
        case screenLost(String)
        case handed(SharedDescriptor, token: UInt64)
        case handedDue(token: UInt64, number: UInt64)
        case capture(StreamID, CaptureFeed.Event)
        case heard(InputWatch.Event)
        case tick(UInt64)
        case scanTick(UInt64)
        case quit
    }

    nonisolated let loop: GLibLoop
    package nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

    nonisolated let inputs: Inbox<Input>
    nonisolated let configuration: RendererConfiguration
    nonisolated let output: AudioOutput
    /// Fetches what is on servers of HTTP; made for the first load, since a thread belongs to it.
    lazy var fetcher = startFetching()
    private var isFetching = false
    nonisolated let report: @Sendable (RendererEvent) -> Void

    var outputStatus: OutputStatus?
    /// The device that was last wanted in place of the configured one, and the one that is in use otherwise.
    var otherDevice: String?
    var usualDevice: String?
    /// The rates of the device for which pipelines were made.
    var knownRates: [Int32] = []
    /// How the group's clock is read by this machine's.
    var groupClock: ClockLine?
    /// How much later than the card says sound is heard, in nanoseconds.
    var outputTrim: Int64 = 0
    var playback: Playback?
    var pipelineCount: UInt64 = 0
    /// Shared by the elements of all pipelines, such as the HTTP session.
    var contexts: [Context] = []
    var hasAddedPlugins = false
    /// Which ticking is the newest; ticks of others are late.
    var ticking: UInt64 = 0
    var isTicking = false
    var scanCount: UInt64 = 0
    /// Pipelines that are over and are not ready for it, with the time, in nanoseconds, until which that is waited for.
    var ending: [(pipeline: MediaPipeline, until: Int64)] = []
    /// Answers for segments that are not there.
    var standIn: Server?
    /// Where pictures are shown, once there were any to show.
    var screen: Screen?
    var lostScreens = 0
    /// The announcement that is under way, and the one that follows when it has faded.
    var announcing: Announcing?
    var nextAnnouncing: Announcing?
    /// Descriptors that were handed over and wait for their load, by token, with a number that never comes again.
    var handed: [UInt64: (descriptor: SharedDescriptor, number: UInt64)] = [:]
    var handedCount: UInt64 = 0
    /// Listens to inputs and jacks, once there were any to listen to.
    var inputWatch: InputWatch?

    /// Starts GStreamer and the output. `report` is called in order, on the loop's thread. Nil if the system has
    /// no threads or descriptors left.
    package init?(
        loop: GLibLoop, configuration: RendererConfiguration,
        report: @escaping @Sendable (RendererEvent) -> Void
    ) {
        Library.start()
        PluginFolder.leaveReadingDecoders()
        if configuration.video != .none { PluginFolder.useLightDecodersOnly() }
        ByteSourceElement.register()
        let inputs = Inbox<Input>(on: loop, limit: Self.queueLimit)
        guard
            let output = AudioOutput(
                configuration: configuration.output, report: { inputs.yield(.output($0)) })
        else { return nil }
        (self.loop, self.inputs) = (loop, inputs)
        (self.configuration, self.output, self.report) = (configuration, output, report)
    }

    /// Tells the renderer something. Returns at once; from any thread.
    package nonisolated func send(_ command: RendererCommand) { inputs.yield(.command(command)) }

    /// Ends `run`, the current load and the output.
    package nonisolated func shutDown() { inputs.yield(.quit) }

    /// Works until `shutDown`.
    package func run() async {
        await untilShutDown()
        giveUp()
        giveUpAnnouncements()
        handed = [:]
        inputWatch?.shutDown()
        if isFetching { fetcher.shutDown() }
        for one in ending { one.pipeline.tearDown() }
        output.shutDown()
    }

    // Apart and not isolated: the compiler of Swift 6.2.3 ends where such a closure is isolated to this actor.
    private nonisolated func untilShutDown() async {
        await withCheckedContinuation { quitter in
            inputs.open { [weak self] input in self?.assumeIsolated { $0.read(input, quitter) } }
        }
    }

    private func startFetching() -> MediaFetcher {
        var patience = MediaFetcher.Patience()
        patience.outage = configuration.outageLimit
        let fetcher = MediaFetcher(patience: patience)
        isFetching = true
        Task { await self.fetch(fetcher) }
        return fetcher
    }

    private func fetch(_ fetcher: MediaFetcher) async { await fetcher.run() }

    private func read(_ input: Input, _ quitter: CheckedContinuation<Void, Never>) {
        guard case .quit = input else { return handle(input) }
        inputs.close()
        quitter.resume()
    }

    func handle(_ input: Input) {
        if let number = input.pipeline, number != playback?.pipeline?.number {
            if number == announcing?.pipeline?.number { return handleAnnouncement(input) }
            return handleNext(input, of: number)
        }
        switch input {
        case .command(let command): handle(command)
        case .output(let event): handle(event)
        case .message(_, let message): handle(message)
        case .arrived(_, let arrival):
            switch arrival {
            case .frames(let flushes): framesArrived(flushes: flushes)
            case .astray(let flushes, let position): guessAgain(flushes: flushes, found: position)
            }
        case .news(_, let cue, let news): keep(news, cue: cue)
        case .metadataDue(let load): metadataDue(load)
        case .seekAnswered(_, let number, let accepted): seekAnswered(number, accepted: accepted)
        case .seekIsSlow(_, let number): if playback?.seek?.number == number { setBuffering(true) }
        case .streamsTold: streamsTold()
        case .asked(_, let facts): learn(facts)
        case .askAgain:
            if playback?.phase == .loading { startSeeking() } else { askPipeline() }
        case .adaptiveFound: openStandIn()
        case .endDue: endReadyOnes()
        case .beginningDue(_, let reads): beginAgainIfStuck(reads: reads)
        case .freezeDue(_, let seek): endFreeze(seek: seek)
        case .recoveryDue(let load, let attempt):
            if playback?.id == load, playback?.outage?.attempt == attempt { tryToRecover() }
        case .troubleOver(let load, let skipped):
            if playback?.id == load, playback?.skipped == skipped, playback?.outage == nil {
                report(.errorChanged(load, nil))
            }
        case .serverDue: watchServer()
        case .examined(let load, let finding): examined(load, finding)
        case .pluginsAdded(let load):
            hasAddedPlugins = true
            if playback?.id == load { startPipeline() }
            if announcing?.load == load { startAnnouncement() }
        case .pictures(_, let news): handle(news)
        case .screenLost(let reason): screenLost(reason)
        case .handed(let descriptor, let token): keep(descriptor, token: token)
        case .handedDue(let token, let number): giveUpHanded(token, number: number)
        case .capture(let stream, let event): captured(stream, event)
        case .heard(let event): heard(event)
        case .tick(let number): tick(number)
        case .scanTick(let number): scanTick(number)
        case .quit: break
        }
    }

    private func handle(_ command: RendererCommand) {
        if isRefused(command) { return }
        switch command {
        case .load(let id, let item, let playing): load(id, item, playing: playing)
        case .setPlaying(let id, let playing):
            if isCurrent(id), playback?.bond == nil { setPlaying(playing) }
        case .seek(let id, let seek, let position, let tolerance):
            if isCurrent(id) { self.seek(seek, to: position, tolerance: tolerance) }
        case .setSpeed(let id, let speed): if isCurrent(id), playback?.bond == nil { setSpeed(speed) }
        case .setScan(let id, let rate): if isCurrent(id), playback?.bond == nil { setScan(rate) }
        case .selectTrack(let id, let kind, let identifier):
            if isCurrent(id) { selectTrack(kind, identifier) }
        case .setMediaVolume(let id, let volume):
            if isCurrent(id), let stream = playback?.stream {
                playback?.volume = volume
                output.setMediaVolume(volume, for: stream)
            }
        case .setOutputVolume(let volume): output.setVolume(volume)
        case .stop(let id):
            if isCurrent(id) { giveUp() }
            report(.stopped(id))
        case .warmUp: warmUp()
        case .prepareNext(let id, let upcoming): if isCurrent(id) { prepareNext(upcoming) }
        case .announce(let id, let announcement): announce(id, announcement)
        case .cancelAnnouncement(let id): cancelAnnouncement(id)
        case .setGroupClock(let line): setGroupClock(line)
        case .bind(let id, let anchor): if isCurrent(id) { bind(to: anchor) }
        case .unbind(let id): if isCurrent(id) { unbind() }
        case .setOutputTrim(let nanoseconds): setOutputTrim(nanoseconds)
        case .setCardDrift(let device, let drift): output.setCardDrift(drift, of: device)
        case .setOutputDevice(let device):
            otherDevice = device ?? otherDevice
            output.setDevice(device)
        case .loadCapture(let id, let source, let playing): loadCapture(id, source, playing: playing)
        case .watchCapture(let watches): watch(watches)
        }
    }

    private func isCurrent(_ id: LoadID) -> Bool { playback?.id == id }

    /// True of the stream of the current pipeline. What is still said of one that was given up, such as that it gave no
    /// sound, is late.
    private func isPlayed(_ stream: StreamID) -> Bool {
        playback?.stream == stream && (playback?.pipeline != nil || playback?.capture != nil)
    }

    private func handle(_ event: AudioOutputEvent) {
        switch event {
        case .statusChanged(let status):
            let before = outputStatus
            outputStatus = status
            report(before == nil ? .started(status) : .outputChanged(status))
            followJacks(status, before: before)
            followRates()
        case .volumeChanged(let volume): report(.outputVolumeChanged(volume))
        case .soundingChanged(let stream, let isSounding):
            guard isPlayed(stream) else { return }
            playback?.isSounding = isSounding
            playback?.pipeline?.pictures?.feed.wake()
            if isSounding {
                setBuffering(false)
                forgetTrouble()
                playback?.freezes = 0
            }
            reportPosition()
            updateTicking()
        case .starvationChanged(let stream, let isStarved):
            guard isPlayed(stream) else { return }
            if isStarved, let failure = playback?.failure { return fail(failure) }
            setBuffering(isStarved)
            if isStarved {
                outputRanDry()
                watchForFreeze()
                watchServer()
            }
        case .drained(let stream):
            guard isPlayed(stream) else { return }
            drained()
        case .readinessChanged(let stream, let isReady): if isPlayed(stream) { readinessChanged(isReady) }
        case .syncChanged(let stream, let report):
            if isPlayed(stream), let id = playback?.id { self.report(.syncChanged(id, report)) }
        case .strayed(let stream, let wanted, let first):
            if isPlayed(stream) { strayed(wanted: wanted, first: first) }
        case .cueReached(let stream, let cue): cueReached(cue, in: stream)
        case .advanced(let old, let new): advanced(from: old, to: new)
        case .overlayBegan(let stream): overlayBegan(stream)
        case .overlayEnded(let stream): overlayEnded(stream)
        }
    }

    // MARK: Ticks

    /// Starts or ends the report of the position each second.
    func updateTicking() {
        let wanted = playback?.isSounding == true
        guard wanted != isTicking else { return }
        (isTicking, ticking) = (wanted, ticking + 1)
        if wanted { later(.seconds(1), .tick(ticking)) }
    }

    private func tick(_ number: UInt64) {
        guard number == ticking, isTicking, let playback else { return }
        reportPosition(isDue: true)
        reportHoles()
        considerNext()
        if playback.timeline.isLive || playback.timeline.range == .empty { askPipeline() }
        later(.seconds(1), .tick(ticking))
    }

    /// Gives `input` to itself after `delay`.
    func later(_ delay: Duration, _ input: Input) {
        EventSource.once(after: delay) { [inputs] in inputs.yield(input) }
    }
}
