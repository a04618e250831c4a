/* The line to the server: questions, orders, and a stream of messages that all tabs share.
 *
 * A browser keeps at most six connections to a server, so one tab holds the stream, under a lock, and hands each
 * message on. If that tab is closed, another takes over. */

const KEY = "studio";
const AGAIN_MS = 1000;
const REFUSED = 403;

export class Wire extends EventTarget {
    constructor() {
        super();
        if (location.hash.length > 20) {
            sessionStorage.setItem(KEY, location.hash.slice(1));
            history.replaceState(null, "", location.pathname); // out of sight, and of the history
        }
        // Tabs of a studio that has ended have another token, and do not keep this one's tabs from the stream.
        this.name = `${KEY} ${sessionStorage.getItem(KEY)}`;
        this.others = new BroadcastChannel(this.name);
        this.others.addEventListener("message", ({ data }) => this.#hear(data));
    }

    get #headers() {
        return { authorization: `Bearer ${sessionStorage.getItem(KEY) ?? ""}` };
    }

    /** Ask something without an effect; an answer with `error` says why there is none. */
    ask(name, fields = {}) {
        return this.#send(`/ask/${name}`, fields);
    }

    /** Order something; an answer with `error` says why it was refused. */
    order(name, fields = {}) {
        return this.#send(`/do/${name}`, fields);
    }

    /** Send [name, file] as one body, whose first line lists them; returns its `answer`, and what can `stop` it. */
    drop(files, sent) {
        const request = new XMLHttpRequest(); // since fetch does not count what was sent
        const list = JSON.stringify(files.map(([name, { size }]) => [name, size]));
        const answer = new Promise((resolve) => {
            const failed = () => resolve({ error: "The files could not be read, or the studio does not run anymore; drop them again" });
            request.onload = () => resolve(JSON.parse(request.responseText));
            request.onerror = failed;
            request.onabort = () => resolve({});
        });
        request.upload.onprogress = ({ loaded, total }) => sent(loaded / total);
        request.open("PUT", "/drop");
        request.setRequestHeader("authorization", this.#headers.authorization);
        request.send(new Blob([`${list}\n`, ...files.map(([, file]) => file)]));
        return { answer, stop: () => request.abort() };
    }

    #send(path, fields) {
        return this.#fetch(path, { method: "POST", body: JSON.stringify(fields) });
    }

    async #fetch(path, request) {
        let answer = { error: "the studio does not run anymore; start it again with: protonn-edge studio" };
        try {
            const response = await fetch(path, { ...request, headers: this.#headers });
            answer = await response.json();
            if (response.status === 409) {
                this.#hear({ changed: true });
            }
        } catch {}
        return answer;
    }

    /** Call a function with each message that has a key. */
    on(key, heard) {
        this.addEventListener(key, ({ detail }) => heard(detail));
    }

    #hear(message) {
        for (const key of Object.keys(message)) {
            this.dispatchEvent(new CustomEvent(key, { detail: message }));
        }
    }

    listen() {
        navigator.locks.request(this.name, () => this.#lead());
        this.#hear({ connected: true });
    }

    async #lead() {
        for (;;) {
            try {
                if ((await this.#read()) === REFUSED) {
                    return;
                }
            } catch {}
            this.#share({ connected: false });
            await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
        }
    }

    async #read() {
        const response = await fetch("/messages", { headers: this.#headers });
        if (!response.ok) {
            this.#share({ refused: (await response.json()).error });
            return response.status;
        }
        this.#share({ connected: true });
        const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
        let rest = "";
        for (;;) {
            const { value, done } = await reader.read();
            if (done) {
                return;
            }
            const lines = (rest + value).split("\n");
            rest = lines.pop();
            lines.filter(Boolean).forEach((line) => this.#share(JSON.parse(line)));
        }
    }

    #share(message) {
        this.#hear(message);
        this.others.postMessage(message);
    }
}
