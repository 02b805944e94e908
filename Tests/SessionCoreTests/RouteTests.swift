// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import SessionCore
import Testing

struct RouteTests {
    @Test func `a sender gets a route of its own`() {
        var scene = Scene()
        let effects = scene.joins(1, .anna)
        #expect(effects.answer == .activated(RouteID("route 1"), ResumeToken("token 1"), resumed: false))
        #expect(effects.commands == [.warmUp])
        #expect(scene.state.routes.count == 1)
        #expect(scene.state.lastOrigin == .sender(RouteID("route 1"), name: "Anna's phone"))
    }

    @Test func `a second route on a connection is refused`() {
        var scene = Scene()
        scene.joins(1, .anna)
        #expect(scene.activates(1, .anna).refusal == .invalidParams)
        #expect(scene.state.routes.count == 1)
    }

    @Test func `every write needs a route`() {
        var scene = Scene()
        scene.happens(.connectionOpened(ConnectionID(1)))
        #expect(scene.starts(1).refusal == .routeRequired)
        #expect(scene.stops(1).refusal == .routeRequired)
        #expect(scene.asks(.setPlaying(true)).refusal == .routeRequired)
        #expect(scene.asks(device: .toggleMute).refusal == .routeRequired)
        #expect(scene.happens(.deactivationRequested(scene.request(1))).refusal == .routeRequired)
    }

    @Test func `a request of a lost connection is refused`() {
        var scene = Scene()
        #expect(scene.activates(9, .anna).refusal == .routeRequired)
        #expect(scene.state.routes.isEmpty)
    }

    @Test func `a lost connection leaves the route for the grace time, and the session plays on`() {
        var scene = Scene.playing()
        let route = scene.route
        let effects = scene.loses(1)
        #expect(effects == [.armGraceTimer(RouteID("route 1"), generation: 1)])
        #expect(scene.session?.route == route)
        #expect(scene.state.lastOrigin == .device)
    }

    @Test func `the same sender has its route and session back with the token`() {
        var scene = Scene()
        let token = scene.joins(1, .anna).token
        scene.starts(1)
        let player = scene.player
        scene.loses(1)
        let effects = scene.joins(2, .anna, resume: token)
        #expect(effects.answer == .activated(RouteID("route 1"), ResumeToken("token 3"), resumed: true))
        #expect(scene.player == player)
        #expect(scene.state.lastOrigin == .sender(RouteID("route 1"), name: "Anna's phone"))
        #expect(scene.happens(.graceExpired(RouteID("route 1"), generation: 1)).isEmpty)
        #expect(scene.state.routes.count == 1)
    }

    @Test func `a token is good once`() {
        var scene = Scene()
        let token = scene.joins(1, .anna).token
        scene.joins(2, .anna, resume: token)
        #expect(scene.joins(3, .anna, resume: token).refusal == .routeUnknown)
    }

    @Test func `a token of another sender is unknown`() {
        var scene = Scene()
        let token = scene.joins(1, .anna).token
        scene.loses(1)
        #expect(scene.joins(2, .ben, resume: token).refusal == .routeUnknown)
        #expect(scene.joins(3, .anna, resume: ResumeToken("guess")).refusal == .routeUnknown)
    }

    @Test func `a resume while the old connection stands takes the route over`() {
        var scene = Scene()
        let token = scene.joins(1, .anna).token
        let effects = scene.joins(2, .anna, resume: token)
        #expect(effects.contains(.announceRouteEnd(ConnectionID(1), RouteID("route 1"), .resumedElsewhere)))
        #expect(scene.loses(1).isEmpty)
        #expect(scene.state.routes[RouteID("route 1")]?.connection == ConnectionID(2))
        #expect(scene.starts(1).refusal == .routeRequired)
    }

    @Test func `after the grace time the session goes on without a route`() {
        var scene = Scene.playing()
        scene.loses(1)
        #expect(scene.happens(.graceExpired(RouteID("route 1"), generation: 1)).isEmpty)
        #expect(scene.state.routes.isEmpty)
        #expect(scene.session?.route == nil)
        #expect(scene.session != nil)
    }

    @Test func `after the grace time the session ends where the policy says so`() {
        var scene = Scene.playing(.init(keepsPlaying: false))
        scene.loses(1)
        let effects = scene.happens(.graceExpired(RouteID("route 1"), generation: 1))
        #expect(effects.ends == [.routeEnded])
        #expect(effects.commands == [.stop(scene.load)])
        #expect(scene.session == nil)
    }

    @Test func `an old grace timer ends nothing`() {
        var scene = Scene()
        let token = scene.joins(1, .anna).token
        scene.loses(1)
        scene.joins(2, .anna, resume: token)
        scene.loses(2)
        #expect(scene.happens(.graceExpired(RouteID("route 1"), generation: 1)).isEmpty)
        #expect(scene.state.routes.count == 1)
        scene.happens(.graceExpired(RouteID("route 1"), generation: 3))
        #expect(scene.state.routes.isEmpty)
    }

    @Test func `deactivation ends the route's session at once`() {
        var scene = Scene.playing()
        let effects = scene.happens(.deactivationRequested(scene.request(1)))
        #expect(effects.answer == .accepted)
        #expect(effects.ends == [.routeEnded])
        #expect(effects.contains(.announceRouteEnd(ConnectionID(1), RouteID("route 1"), .deactivated)))
        #expect(scene.state.lastOrigin == .sender(RouteID("route 1"), name: "Anna's phone"))
        #expect(scene.session == nil && scene.state.routes.isEmpty)
        #expect(scene.activates(1, .anna).answer != nil)
    }

    @Test func `the limit refuses a route when all are attached`() {
        var scene = Scene(.init(routeLimit: 2))
        scene.joins(1, .anna)
        scene.joins(2, .ben)
        #expect(scene.joins(3, .anna).refusal == .limitReached)
    }

    @Test func `at the limit the route that was left first makes room`() {
        var scene = Scene(.init(routeLimit: 2))
        scene.joins(1, .anna)
        scene.joins(2, .ben)
        scene.loses(2)
        scene.loses(1)
        #expect(scene.joins(3, .ben).answer != nil)
        #expect(Set(scene.state.routes.keys) == [RouteID("route 1"), RouteID("route 3")])
    }

    @Test func `shutdown ends everything and takes nothing on`() {
        var scene = Scene.playing()
        scene.joins(2, .ben)
        let effects = scene.happens(.shutdownRequested)
        #expect(effects.ends == [.shutdown])
        #expect(effects.commands == [.stop(scene.load)])
        #expect(effects.contains(.announceRouteEnd(ConnectionID(1), RouteID("route 1"), .shutdown)))
        #expect(effects.contains(.announceRouteEnd(ConnectionID(2), RouteID("route 3"), .shutdown)))
        #expect(scene.activates(1, .anna).refusal == .limitReached)
        #expect(scene.happens(.shutdownRequested).isEmpty)
    }
}
