// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

// The receiver's own page: a sender like any other, by the route protocol (Docs/protocols/route.md). It looks without a route, and opens one when
// somebody presses something. All texts of others are set as text, never as markup.

"use strict";

const element = (id) => document.getElementById(id);
const LONGEST_PAUSE = 10_000;

// RFC 7396.
function merge(target, patch) {
    if (patch === null || typeof patch !== "object" || Array.isArray(patch)) return patch;
    const result = target !== null && typeof target === "object" && !Array.isArray(target) ? { ...target } : {};
    for (const [key, value] of Object.entries(patch)) {
        if (value === null) delete result[key];
        else result[key] = merge(result[key], value);
    }
    return result;
}

const seconds = (time) => (time && time.timescale ? time.value / time.timescale : time?.name === "positiveInfinity" ? Infinity : 0);
const time = (value) => ({ value: Math.round(value * 1000), timescale: 1000 });

function clockText(value) {
    if (!Number.isFinite(value)) return "";
    const whole = Math.max(0, Math.floor(value)), rest = String(whole % 60).padStart(2, "0");
    const minutes = Math.floor(whole / 60) % 60, hours = Math.floor(whole / 3600);
    return hours ? `${hours}:${String(minutes).padStart(2, "0")}:${rest}` : `${minutes}:${rest}`;
}

class Receiver {
    #socket = null; #number = 0; #waiting = new Map(); #pause = 500; #route = null; #token = null; #version = 0;
    state = null;
    // Milliseconds of this page at which the receiver's clock shows 0.
    origin = null;

    constructor(changed) {
        this.changed = changed;
        this.#connect();
    }

    get isConnected() { return this.state !== null && this.#socket?.readyState === WebSocket.OPEN; }

    // Seconds of the receiver's clock.
    now() { return this.origin === null ? null : (performance.now() - this.origin) / 1000; }

    #connect() {
        const socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/v1/route`);
        this.#socket = socket;
        socket.onopen = () => this.#opened();
        socket.onmessage = (message) => { if (typeof message.data === "string") this.#take(JSON.parse(message.data)); };
        socket.onclose = () => {
            for (const { refuse } of this.#waiting.values()) refuse(new Error("the connection was lost"));
            this.#waiting.clear();
            [this.#route, this.state] = [null, null];
            this.changed();
            setTimeout(() => this.#connect(), this.#pause);
            this.#pause = Math.min(this.#pause * 2, LONGEST_PAUSE);
        };
    }

    async #opened() {
        try {
            const answer = await this.#call("state.subscribe", {});
            [this.state, this.#version, this.#pause] = [answer.state, answer.version, 500];
            const asked = performance.now();
            const clock = await this.#call("clock.ping", {});
            this.origin = (asked + performance.now()) / 2 - clock.received / 1e6;
            this.changed();
        } catch { this.#socket.close(); }
    }

    #call(method, params) {
        const id = ++this.#number;
        this.#socket.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
        return new Promise((take, refuse) => this.#waiting.set(id, { take, refuse }));
    }

    #take(message) {
        if (message.id !== undefined) {
            const waiting = this.#waiting.get(message.id);
            this.#waiting.delete(message.id);
            if (message.error) waiting?.refuse(new Error(message.error.message));
            else waiting?.take(message.result);
            return;
        }
        if (message.method === "route.ended") this.#route = null;
        if (message.method !== "state.changed" || this.state === null) return;
        if (message.params.base === this.#version) {
            this.#renew(merge(this.state, message.params.patch), message.params.version);
        } else {
            this.#call("state.get", {}).then((answer) => this.#renew(answer.state, answer.version), () => {});
        }
    }

    #renew(state, version) {
        if (version < this.#version) return;
        [this.state, this.#version] = [state, version];
        this.changed();
    }

    // Asks for something, by a route that is opened for it.
    async ask(method, params = {}) {
        if (!this.isConnected) throw new Error("There is no connection to the receiver.");
        this.#route ??= this.#activate();
        await this.#route;
        return this.#call(method, params);
    }

    async #activate() {
        const sender = { id: identity(), name: "Web page" };
        const open = (resume) => this.#call("route.activate", { version: 1, sender, ...(resume ? { resume } : {}) });
        try {
            const answer = await open(this.#token).catch((error) => {
                if (!this.#token) throw error;
                return open(null);
            });
            this.#token = answer.resumeToken;
            this.#renew(answer.state, answer.version);
        } catch (error) {
            this.#route = null;
            throw error;
        }
    }
}

// The same for as long as the browser keeps it.
function identity() {
    const fresh = () => {
        const bytes = crypto.getRandomValues(new Uint8Array(16));
        [bytes[6], bytes[8]] = [bytes[6] & 0x0f | 0x40, bytes[8] & 0x3f | 0x80];
        const text = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
        return text.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
    };
    try {
        const known = localStorage.getItem("sender") ?? fresh();
        localStorage.setItem("sender", known);
        return known;
    } catch { return fresh(); }
}

const receiver = new Receiver(() => show());
let complaint = null, complaintEnd = null;

function complain(error) {
    complaint = error.message;
    clearTimeout(complaintEnd);
    complaintEnd = setTimeout(() => { complaint = null; show(); }, 8000);
    show();
}

const ask = (method, params) => receiver.ask(method, params).catch(complain);

// What plays, of an application or of a sender.
function playing() {
    const { state } = receiver;
    const session = state?.player?.session;
    return session ? { id: session, ...state.sessions?.[session] } : null;
}

// Where a session is heard now, in seconds.
function place(session) {
    const { position, clockTime, rate } = session.position ?? {};
    const now = receiver.now();
    const moved = now === null || !rate ? 0 : (now - clockTime / 1e9) * rate;
    return seconds(position) + moved;
}

function text(id, value) {
    const target = element(id);
    if (target.textContent !== value) target.textContent = value;
}

function activity(session) {
    if (session.isHeard === false) return "waits: another source is heard";
    if (session.phase === "loading") return "loading …";
    if (!session.isPlaying) return "paused";
    if (session.isBuffering) return "buffering …";
    const speed = session.state === "scanning" ? session.scanSpeed : session.speed;
    return speed && speed !== 1 ? `playing at ${speed} ×` : "playing";
}

function showNow(session) {
    const item = session?.queue?.items?.[session.queue.current];
    const metadata = session?.metadata ?? {};
    text("title", session ? metadata.title ?? item?.title ?? item?.name ?? "Untitled" : "Nothing plays");
    text("subtitle", [metadata.subtitle, metadata.album, metadata.station].filter(Boolean).join(" · "));
    text("activity", session ? activity(session) : "");
    const fault = complaint ?? session?.error?.message ?? null;
    element("error").hidden = fault === null;
    text("error", fault ?? "");
    const picture = metadata.artwork?.[0]?.url ?? null;
    element("artwork").hidden = picture === null;
    if (picture !== null && element("artwork").getAttribute("src") !== picture) element("artwork").src = picture;
    text("toggle", session?.isPlaying ? "Pause" : "Play");
    element("toggle").disabled = element("stop").disabled = !session;
    element("next").hidden = element("previous").hidden = (session?.queue?.order?.length ?? 0) < 2;
}

let isSeeking = false;

function showProgress() {
    const session = playing();
    const range = session?.timeRange;
    const [start, length] = [seconds(range?.start), seconds(range?.duration)];
    const isKnown = session !== null && Number.isFinite(length) && length > 0 && !session.isLive;
    element("progress").hidden = !isKnown;
    if (!isKnown) return;
    const now = Math.min(Math.max(place(session), start), start + length);
    if (!isSeeking) element("position").value = (now - start) / length * 1000;
    element("position").disabled = Array.isArray(session.seekableRanges) && session.seekableRanges.length === 0;
    text("elapsed", clockText(isSeeking ? element("position").value / 1000 * length : now - start));
    text("duration", clockText(length));
}

// Fills a list with one entry for each of the items; `fill` sets it up.
function list(id, items, fill) {
    element(id).replaceChildren(...items.map((item) => {
        const entry = document.createElement("li");
        fill(entry, item);
        return entry;
    }));
}

function button(entry, label, action) {
    const made = document.createElement("button");
    made.type = "button";
    made.textContent = label;
    made.onclick = action;
    entry.append(made);
}

let shownQueue = null;

function showQueue(session) {
    const queue = session?.queue;
    const order = queue?.order ?? [];
    element("queue").hidden = order.length < 2;
    const key = JSON.stringify([queue?.current, order, queue?.items]);
    if (key === shownQueue) return;
    shownQueue = key;
    list("items", order, (entry, id) => {
        const item = queue.items[id] ?? {};
        entry.textContent = item.title ?? item.name ?? "Untitled";
        if (item.error) entry.textContent += ` (${item.error.message})`;
        entry.classList.toggle("current", id === queue.current);
        if (id !== queue.current) button(entry, "Play", () => ask("queue.jump", { item: id }));
        button(entry, "Remove", () => ask("queue.remove", { items: [id] }));
    });
}

function showSources(accessory) {
    element("sources").hidden = !accessory;
    if (!accessory) return;
    list("known", Object.entries(accessory.sources ?? {}), (entry, [address, source]) => {
        const isHeard = address === accessory.active;
        entry.textContent = `${source.name || source.kind}: ${source.fault ?? source.state}${isHeard ? ", heard" : ""}`;
        entry.classList.toggle("current", isHeard);
        if (!isHeard && source.state !== "unavailable") button(entry, "Hear", () => ask("sources.take", { source: address }));
    });
    const pairing = accessory.pairing ?? { state: "closed" };
    const who = pairing.name ?? pairing.source ?? "a phone";
    text("pairing", {
        open: "Phones may be paired now.",
        asked: `${who} wants to be paired${pairing.passkey ? `, and shows ${pairing.passkey}` : ""}.`,
        paired: `${who} is paired.`, failed: `Pairing failed: ${pairing.reason ?? "no reason was given"}.`,
    }[pairing.state] ?? (accessory.bluetooth?.state === "ready" ? "" : accessory.bluetooth?.reason ?? ""));
    const isAsked = pairing.state === "asked";
    element("pair").hidden = isAsked || accessory.bluetooth?.state !== "ready";
    text("pair", pairing.state === "open" ? "Pair no more" : "Pair a phone");
    element("pair").onclick = () => ask("sources.pair", { seconds: pairing.state === "open" ? 0 : 120 });
    for (const [id, accept] of [["accept", true], ["refuse", false]]) {
        element(id).hidden = !isAsked;
        element(id).onclick = () => ask("sources.confirm", { source: pairing.source, accept });
    }
}

function showGroup(group) {
    element("group").hidden = !group?.members;
    if (!group?.members) return;
    text("party", `In step: ${group.name}`);
    list("members", Object.values(group.members), (entry, member) => {
        const why = member.suspensions?.length ? `, ${member.suspensions.join(", ")}` : member.isReady ? ", ready" : "";
        entry.textContent = `${member.name}${why}`;
    });
}

const outputs = {
    null: "(there is no sound device)", closed: "(not in use)", open: "(in use)", lost: "(gone, sought again)", busy: "(others have it)",
};

function showDevice(device) {
    text("name", device?.name ?? "Linnet");
    document.title = device?.name ?? "Linnet";
    const output = device?.output;
    text("output", output ? `Sound output: ${output.state === "null" ? "none" : output.device ?? ""} ${outputs[output.state] ?? output.state}` : "");
    const fault = output?.reason ?? device?.storageFault ?? null;
    element("fault").hidden = fault === null;
    text("fault", fault ?? "");
    const canSet = device !== undefined && device.volumeMode !== "none";
    element("volume").disabled = !canSet;
    element("mute").disabled = !device?.canMute;
    if (device && document.activeElement !== element("volume")) element("volume").value = Math.round(device.volume * 100);
    text("level", device ? `${Math.round(device.volume * 100)} %${device.muted ? ", muted" : ""}` : "");
    text("mute", device?.muted ? "Unmute" : "Mute");
}

function show() {
    const { state } = receiver;
    element("submit").disabled = !receiver.isConnected;
    text("connection", receiver.isConnected ? state.device.model ?? "" : "not connected …");
    const session = playing();
    showDevice(state?.device);
    showNow(session);
    showProgress();
    showQueue(session);
    showSources(state?.accessory);
    showGroup(state?.group);
}

element("toggle").onclick = () => ask("playback.setPlaying", { playing: !playing()?.isPlaying });
element("stop").onclick = () => ask("session.stop");
element("next").onclick = () => ask("queue.next", { from: playing()?.queue?.current });
element("previous").onclick = () => ask("queue.previous", { from: playing()?.queue?.current });
element("mute").onclick = () => ask("device.setMuted", { muted: "toggle" });
element("position").oninput = () => { isSeeking = true; showProgress(); };
element("position").onchange = async () => {
    const range = playing()?.timeRange;
    const wanted = seconds(range?.start) + element("position").value / 1000 * seconds(range?.duration);
    await ask("playback.seek", { position: time(wanted) });
    isSeeking = false;
};
// While somebody drags, one request at a time.
let isSetting = false, wantedVolume = null;
element("volume").oninput = async () => {
    wantedVolume = element("volume").value / 100;
    if (isSetting) return;
    isSetting = true;
    while (wantedVolume !== null) {
        const volume = wantedVolume;
        wantedVolume = null;
        await ask("device.setVolume", { volume });
    }
    isSetting = false;
};
element("volume").onchange = () => element("volume").blur();
element("open").onsubmit = async (event) => {
    event.preventDefault();
    await ask("session.start", { url: element("url").value, mode: "player" });
};
setInterval(showProgress, 500);
