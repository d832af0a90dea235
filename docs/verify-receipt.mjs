// Checks a verification receipt offline, with nothing but Node (18 or newer) and a trust document that you pinned:
//   node verify-receipt.mjs receipt.json trust.json
// It shares no code with the service. docs/verification.md says what a receipt proves, and what not.
import { createPublicKey, verify as verifySignature } from "node:crypto";
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const check = (ok, why) => { if (!ok) throw new Error(why); };
const PRIME = 2n ** 251n + 17n * 2n ** 192n + 1n;
const is = (constant) => (v) => v === constant;
const like = (pattern) => (v) => typeof v === "string" && pattern.test(v);
const felt = (v) => like(/^0x[1-9a-f][0-9a-f]{0,62}$/)(v) && BigInt(v) < PRIME;
const digest = like(/^sha256:[0-9a-f]{64}$/);
const base64 = (size) => (v) => like(/^[A-Za-z0-9_-]+$/)(v) && Buffer.from(v, "base64url").length === size && Buffer.from(v, "base64url").toString("base64url") === v;
const integer = (least) => (v) => Number.isSafeInteger(v) && v >= least;
const time = (v) => {
  const m = typeof v === "string" && /^(\d{4}-\d\d-\d\d)T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/.exec(v);
  return m && !isNaN(new Date(m[1])) && new Date(m[1]).toISOString().startsWith(m[1]); // no 30 February
};
const optional = (rule) => (v) => v === null || rule(v);
const never = ["security", "audit", "official_attribution", "deployment_configuration", "current_address_class"];
const exactly = (rules) => (v) => {
  check(v && Object.getPrototypeOf(v) === null, "not an object");
  check(Object.keys(v).length === Object.keys(rules).length, "members are missing or do not belong there");
  for (const name in rules) check(name in v && rules[name](v[name]), `${name} is not what it must be`);
  return true;
};
const receiptRules = exactly({
  schemaVersion: is("service-portable-verification-receipt-v1"), algorithm: is("Ed25519"), keyId: like(/^[A-Za-z0-9._:-]{1,128}$/), signature: base64(64),
  evidence: exactly({
    jobId: like(/^vrf_[a-z0-9]{24,40}$/), chainId: like(/^SN_(MAIN|SEPOLIA)$/), classHash: felt, receiptId: integer(1), verification: is("verified_exact"),
    sourceArchiveDigest: digest, toolchainPolicyId: is("service-exact-v25"), candidateDigest: digest, issuedAt: time,
    declaration: exactly({ blockNumber: integer(0), blockHash: felt, transactionHash: felt, compiledClassHash: felt }),
    proofScope: is("exact_source_rebuild_equals_finalized_declared_class"),
    notProofOf: (v) => Array.isArray(v) && v.length === 5 && never.every((n) => v.includes(n)),
  }),
});
const keyRules = exactly({ keyId: like(/^[A-Za-z0-9._:-]{1,128}$/), algorithm: is("Ed25519"), publicKey: base64(32), notBefore: time, notAfter: optional(time), revokedAt: optional(time) });
const trustRules = exactly({ schemaVersion: is("service-receipt-trust-root-v1"), keys: (v) => Array.isArray(v) && v.every(keyRules) && new Set(v.map((k) => k.keyId)).size === v.length });

// parse is JSON.parse that sees members which are there twice and rounds no number.
function parse(bytes, limit) {
  check(bytes.length <= limit, "too long");
  const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  JSON.parse(text); // is it JSON at all?
  const tokens = text.match(/"(?:[^"\\]|\\.)*"|[[\]{},:]|[^\s[\]{},:"]+/g);
  const value = (depth) => {
    check(depth < 17, "nested too deep");
    const t = tokens.shift();
    if (t === "[") { const a = []; while (tokens[0] !== "]") { a.push(value(depth + 1)); if (tokens[0] === ",") tokens.shift(); } tokens.shift(); return a; }
    if (t !== "{") return /^[-\d]/.test(t) ? number(t) : JSON.parse(t);
    const o = Object.create(null);
    for (; tokens[0] !== "}"; tokens[0] === "," && tokens.shift()) {
      const name = JSON.parse(tokens.shift());
      check(!(name in o), `${name} is there twice`);
      tokens.shift(); // the colon
      o[name] = value(depth + 1);
    }
    tokens.shift();
    return o;
  };
  return value(0);
}
function number(t) { // exact, so that 1.00000000000000000001 is not 1
  const [, whole, fraction = "", power = "0"] = /^(\d+)(?:\.(\d+))?(?:[eE](.+))?$/.exec(t) ?? check(false, "a negative number");
  const digits = (whole + fraction).replace(/^0+/, ""), places = Number(power) - fraction.length;
  check(t.length <= 64 && (digits === "" || (places >= -64 && places <= 64 && !/[1-9]/.test(digits.slice(places < 0 ? places : digits.length)))), "not an integer, or too long");
  return digits === "" ? 0 : Number(BigInt(places < 0 ? digits.slice(0, places) : digits + "0".repeat(places)));
}
// canonical is RFC 8785 for what evidence holds: texts without escapes, integers, arrays and objects.
const canonical = (v) => Array.isArray(v) ? `[${v.map(canonical)}]` : v && typeof v === "object" ? `{${Object.keys(v).sort().map((k) => `${JSON.stringify(k)}:${canonical(v[k])}`)}}` : JSON.stringify(v);

export function verify(receiptBytes, trustBytes, now = new Date()) {
  const receipt = parse(receiptBytes, 16384), trust = parse(trustBytes, 65536);
  receiptRules(receipt);
  trustRules(trust);
  const key = trust.keys.find((k) => k.keyId === receipt.keyId), issued = new Date(receipt.evidence.issuedAt);
  check(key, "no trusted key of that id");
  const publicKey = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x: key.publicKey }, format: "jwk" });
  check(verifySignature(null, Buffer.from(canonical(receipt.evidence)), publicKey, Buffer.from(receipt.signature, "base64url")), "the signature does not fit");
  check(key.revokedAt === null, "the key was revoked");
  check(issued >= new Date(key.notBefore) && (key.notAfter === null || issued < new Date(key.notAfter)), "the key was not valid when it was issued");
  check(issued - now <= 600_000, "issued in the future");
  return receipt.evidence;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  try {
    console.log(JSON.stringify(verify(readFileSync(process.argv[2]), readFileSync(process.argv[3])), null, 2));
  } catch (e) {
    console.error(`not believed: ${e.message}`);
    process.exitCode = 1;
  }
}
