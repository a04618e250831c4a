/* The host's side of the wire protocol, version 2; firmware/PROTOCOL.md specifies it. */

const VERSION = 2;
const HELLO = 0x01;
const SCORES = 0x03;
const REPLY = 0x80;
const ERROR = 0xff;
const ERRORS = {
    1: "no request has this type",
    2: "the payload is too short or too long",
    3: "a feature is larger than the maximum of the model's inputs",
};

/** Return the frame, with a zero before it, that asks who is there. */
export const helloRequest = (sequence) => Uint8Array.of(0, ...frameOf(HELLO, sequence, []));

/** Return the frame that asks for the class and the scores of features. */
export const scoresRequest = (sequence, features) => frameOf(SCORES, sequence, features);

/** Return the device's description of itself. */
export function readHello(frame, sequence) {
    const payload = payloadOf(frame, HELLO, sequence);
    const version = payload.getUint8(0);
    if (version !== VERSION) {
        throw new Error(`the firmware speaks version ${version} of the protocol, not ${VERSION}`);
    }
    const hash = Array.from({ length: 8 }, (_, i) => payload.getUint8(6 + i));
    return {
        features: payload.getUint16(2, true),
        classes: payload.getUint16(4, true),
        modelHash: hash.map((byte) => byte.toString(16).padStart(2, "0")).join(""),
    };
}

/** Return the class, the cycles and the scores of a prediction. */
export function readScores(frame, sequence) {
    const payload = payloadOf(frame, SCORES, sequence);
    const count = (payload.byteLength - 5) / 4;
    return {
        label: payload.getUint8(0),
        cycles: payload.getUint32(1, true),
        scores: Array.from({ length: count }, (_, i) => payload.getInt32(5 + 4 * i, true)),
    };
}

export function frameOf(type, sequence, payload) {
    const body = [type, sequence, ...payload];
    const crc = crcOf(body);
    return encode([...body, crc >> 8, crc & 0xff]);
}

function payloadOf(frame, type, sequence) {
    const body = decode(frame);
    if (body.length < 4 || crcOf(body) !== 0) {
        throw new Error("the reply is damaged");
    }
    if (body[0] === ERROR) {
        throw new Error(`the firmware refused the request: ${ERRORS[body[2]] ?? `error ${body[2]}`}`);
    }
    if (body[0] !== (type | REPLY) || body[1] !== sequence) {
        throw new Error("the reply belongs to another request");
    }
    return new DataView(body.buffer, 2, body.length - 4);
}

/** CRC-16/XMODEM. */
function crcOf(bytes) {
    let crc = 0;
    for (const byte of bytes) {
        crc ^= byte << 8;
        for (let bit = 0; bit < 8; bit++) {
            crc = ((crc << 1) ^ (crc & 0x8000 ? 0x1021 : 0)) & 0xffff;
        }
    }
    return crc;
}

/** Return bytes without a zero in them, and one at the end (COBS). */
function encode(body) {
    const out = [0];
    let code = 0; // where the block's length belongs
    const close = () => {
        out[code] = out.length - code;
        code = out.push(0) - 1;
    };
    body.forEach((byte, i) => {
        if (byte === 0) {
            close();
        } else {
            out.push(byte);
            if (out.length - code === 0xff && i < body.length - 1) {
                close();
            }
        }
    });
    out[code] = out.length - code;
    return Uint8Array.from([...out, 0]);
}

function decode(frame) {
    const out = [];
    let at = 0;
    while (at < frame.length && frame[at] !== 0) {
        const code = frame[at];
        out.push(...frame.subarray(at + 1, at + code));
        at += code;
        if (code < 0xff && frame[at] !== 0) {
            out.push(0);
        }
    }
    return Uint8Array.from(out);
}
