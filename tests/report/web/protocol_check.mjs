/* Frame requests and read replies with the page's protocol: a line of JSON in, one out. */
import { readFileSync } from "node:fs";
import { stdin, stdout } from "node:process";

import { frameOf, helloRequest, readHello, readScores } from "../../../protonn_edge/extensions/page/scripts/protocol.js";

const hex = (bytes) => Buffer.from(bytes).toString("hex");
const bytes = (text) => Uint8Array.from(Buffer.from(text, "hex"));
const tried = (read, frame, sequence) => {
    try {
        return read(bytes(frame), sequence);
    } catch (error) {
        return error.message;
    }
};

const { requests, hello, scores } = JSON.parse(readFileSync(stdin.fd, "utf8"));
const answer = {
    hello: hex(helloRequest(0)),
    frames: requests.map(([type, sequence, payload]) => hex(frameOf(type, sequence, bytes(payload)))),
    helloReplies: hello.map(([frame, sequence]) => tried(readHello, frame, sequence)),
    scoresReplies: scores.map(([frame, sequence]) => tried(readScores, frame, sequence)),
};
stdout.write(JSON.stringify(answer));
