// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

// Companion applications of a Linnet receiver that are web pages. The protocol is Docs/protocols/application.md of the receiver.
//
//     const application = new LinnetApplication({
//         opened(session) { … }, message(session, bytes) { … }, closed(session, reason) { … },
//     });
//     await application.start();
//
// `message` may return a promise: the message is acknowledged when it is fulfilled, and refused when it is rejected, with `reason` and
// `message` of the error. Messages of a session are handed over one at a time, in order.

"use strict";

const MESSAGE = 1, ACKNOWLEDGED = 2, REFUSED = 3;
const WINDOW_MESSAGES = 16, WINDOW_BYTES = 2 << 20, MEMORY = 64, PAUSE = 50;
// Refusals after which a message goes again.
const LATER = new Set(["busy", "tooManyMessages", "outOfOrder"]);

class LinnetRefusal extends Error {
    constructor(reason, message = "") {
        super(message || reason);
        this.reason = reason;
    }
}

class LinnetSession {
    #application; #next = 1n; #last = 0n; #sent = new Map(); #bytes = 0; #room = () => {}; #retries = new Set();
    #pending = new Set(); #answers = new Map(); #incoming = []; #handling = false; #closed = false; #turn = Promise.resolve();

    constructor(application, params) {
        this.#application = application;
        this.id = params.session;
        this.channel = params.channel;
        this.url = params.url;
        this.sender = params.sender;
        this.attached = params.attached ?? true;
    }

    // Sends text or bytes; fulfilled when the sender has taken it, rejected with a LinnetRefusal when it does not.
    async send(payload) {
        const bytes = typeof payload === "string" ? new TextEncoder().encode(payload) : new Uint8Array(payload);
        // One after the other, so that the order is that of the calls.
        const posted = this.#turn.then(() => this.#post(bytes));
        this.#turn = posted.catch(() => {});
        return (await posted).answer;
    }

    // Sends when there is room. The answer is wrapped, so that waiting for the one is not waiting for the other.
    async #post(bytes) {
        while (!this.#closed && this.#sent.size > 0
            && (this.#sent.size >= WINDOW_MESSAGES || this.#bytes + bytes.length > WINDOW_BYTES)) {
            await new Promise((room) => { this.#room = room; });
        }
        if (this.#closed) throw new LinnetRefusal("channelUnknown", "the session is over");
        const number = this.#next++;
        const answer = new Promise((take, refuse) => this.#sent.set(number, { bytes, take, refuse }));
        this.#bytes += bytes.length;
        this.#application.write(MESSAGE, this.channel, number, bytes);
        return { answer };
    }

    // Ends the session: it has finished, or, with a code, failed.
    end(code, message = "") {
        return this.#application.request("application.endSession", {
            session: this.id, ...(code === undefined ? {} : { error: { code, message } }),
        });
    }

    received(kind, number, payload) {
        if (kind === MESSAGE) return this.#take(number, payload);
        const sent = this.#sent.get(number);
        if (!sent) return;
        if (kind === REFUSED) {
            const words = parsed(payload);
            if (LATER.has(words.reason)) {
                if (this.#retries.size === 0) setTimeout(() => this.#again(), PAUSE);
                this.#retries.add(number);
                return;
            }
            sent.refuse(new LinnetRefusal(words.reason ?? "refused", words.message));
        } else {
            sent.take();
        }
        this.#sent.delete(number);
        this.#bytes -= sent.bytes.length;
        this.#room();
    }

    #again() {
        const numbers = [...this.#retries].sort((a, b) => (a < b ? -1 : 1));
        this.#retries.clear();
        for (const number of numbers) {
            const sent = this.#sent.get(number);
            if (sent) this.#application.write(MESSAGE, this.channel, number, sent.bytes);
        }
    }

    #take(number, payload) {
        if (this.#pending.has(number)) return;
        const answer = this.#answers.get(number);
        if (answer) return this.#application.write(answer.kind, this.channel, number, answer.payload);
        if (this.#last !== 0n && number !== this.#last + 1n) return this.#refuse(number, "outOfOrder");
        if (this.#pending.size >= WINDOW_MESSAGES) return this.#refuse(number, "tooManyMessages");
        this.#last = number;
        this.#pending.add(number);
        this.#incoming.push({ number, payload });
        if (!this.#handling) this.#handle();
    }

    #refuse(number, reason, message = "") {
        this.#application.write(REFUSED, this.channel, number, refusal(reason, message));
    }

    async #handle() {
        this.#handling = true;
        while (this.#incoming.length > 0 && !this.#closed) {
            const { number, payload } = this.#incoming.shift();
            let answer = { kind: ACKNOWLEDGED, payload: new Uint8Array() };
            try {
                const handler = this.#application.handlers.message;
                if (!handler) throw new LinnetRefusal("noHandler", "this application takes no messages");
                await handler(this, payload);
            } catch (error) {
                answer = { kind: REFUSED, payload: refusal(error.reason ?? "failed", String(error.message ?? error)) };
            }
            if (this.#closed) break;
            this.#pending.delete(number);
            this.#answers.set(number, answer);
            if (this.#answers.size > MEMORY) this.#answers.delete(this.#answers.keys().next().value);
            this.#application.write(answer.kind, this.channel, number, answer.payload);
        }
        this.#handling = false;
    }

    close() {
        this.#closed = true;
        for (const { refuse } of this.#sent.values()) refuse(new LinnetRefusal("channelUnknown", "the session is over"));
        this.#sent.clear();
        this.#room();
    }
}

class LinnetApplication {
    #socket; #requests = new Map(); #count = 0;

    constructor(handlers = {}) {
        this.handlers = handlers;
        this.sessions = new Map();
    }

    // Connects to the receiver; fulfilled with what hello tells.
    start() {
        const token = new URLSearchParams(location.search).get("token") ?? "";
        const scheme = location.protocol === "https:" ? "wss" : "ws";
        const socket = new WebSocket(`${scheme}://${location.host}/v1/application?token=${encodeURIComponent(token)}`);
        socket.binaryType = "arraybuffer";
        this.#socket = socket;
        return new Promise((take, refuse) => {
            socket.onopen = () => this.request("application.hello", { version: 1, library: "web 1" }).then(take, refuse);
            socket.onmessage = ({ data }) => (typeof data === "string" ? this.#text(JSON.parse(data)) : this.#data(data));
            socket.onclose = () => {
                refuse(new Error("the receiver closed the connection"));
                for (const session of this.sessions.values()) session.close();
                this.sessions.clear();
                this.handlers.ended?.();
            };
        });
    }

    // Asks the receiver for something of its protocol.
    request(method, params = {}) {
        const id = ++this.#count;
        this.#socket.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
        return new Promise((take, refuse) => this.#requests.set(id, { take, refuse }));
    }

    write(kind, channel, number, payload) {
        if (this.#socket.readyState !== WebSocket.OPEN) return;
        const frame = new Uint8Array(16 + payload.length);
        const view = new DataView(frame.buffer);
        view.setUint8(0, 1);
        view.setUint8(1, kind);
        view.setUint32(4, channel);
        view.setBigUint64(8, number);
        frame.set(payload, 16);
        this.#socket.send(frame);
    }

    #data(buffer) {
        const view = new DataView(buffer);
        if (buffer.byteLength < 16 || view.getUint8(0) !== 1) return;
        const [kind, channel, number] = [view.getUint8(1), view.getUint32(4), view.getBigUint64(8)];
        const payload = new Uint8Array(buffer, 16 + view.getUint16(2));
        const session = [...this.sessions.values()].find((session) => session.channel === channel);
        if (session) session.received(kind, number, payload);
        else if (kind === MESSAGE) this.write(REFUSED, channel, number, refusal("channelUnknown", "there is no such channel"));
    }

    #text({ id, method, params = {}, result, error }) {
        if (method === undefined) {
            const waiting = this.#requests.get(id);
            this.#requests.delete(id);
            if (error) waiting?.refuse(Object.assign(new Error(error.message), { reason: error.data?.reason }));
            else waiting?.take(result);
        } else if (method === "session.opened") {
            const session = new LinnetSession(this, params);
            this.sessions.set(session.id, session);
            this.handlers.opened?.(session);
        } else if (method === "session.closed") {
            const session = this.sessions.get(params.session);
            this.sessions.delete(params.session);
            session?.close();
            if (session) this.handlers.closed?.(session, params.reason);
        } else if (method === "session.attached") {
            const session = this.sessions.get(params.session);
            if (session) session.attached = params.attached;
        } else {
            this.handlers.notified?.(method, params);
        }
    }
}

function refusal(reason, message) {
    return new TextEncoder().encode(JSON.stringify({ reason, message }));
}

function parsed(payload) {
    try {
        return JSON.parse(new TextDecoder().decode(payload)) ?? {};
    } catch {
        return {};
    }
}
