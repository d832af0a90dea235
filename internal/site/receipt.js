// Checks a verification receipt in the browser, with WebCrypto and nothing else: no code of the service, no network.
// The rules are those of docs/verification.md.
"use strict";
(() => {
  const check = (ok, why) => { if (!ok) throw new Error(why); };
  const PRIME = 2n ** 251n + 17n * 2n ** 192n + 1n;
  const is = (constant) => (v) => v === constant;
  const like = (pattern) => (v) => typeof v === "string" && pattern.test(v);
  const felt = (v) => like(/^0x[1-9a-f][0-9a-f]{0,62}$/)(v) && BigInt(v) < PRIME;
  const digest = like(/^sha256:[0-9a-f]{64}$/);
  const bytesOf = (text) => Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
  const base64 = (size) => (v) => { // one spelling: no padding, no bits that mean nothing
    if (!like(/^[A-Za-z0-9_-]+$/)(v) || v.length !== Math.ceil(size * 4 / 3)) return false;
    const back = btoa(String.fromCharCode(...bytesOf(v))).replace(/=+$/, "").replaceAll("+", "-").replaceAll("/", "_");
    return back === v && bytesOf(v).length === size;
  };
  const integer = (least) => (v) => Number.isSafeInteger(v) && v >= least;
  const time = (v) => {
    const m = typeof v === "string" && /^(\d{4}-\d\d-\d\d)T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/.exec(v);
    return m && !isNaN(new Date(m[1])) && new Date(m[1]).toISOString().startsWith(m[1]); // no 30 February
  };
  const optional = (rule) => (v) => v === null || rule(v);
  const keyId = like(/^[A-Za-z0-9._:-]{1,128}$/);
  const never = ["security", "audit", "official_attribution", "deployment_configuration", "current_address_class"];
  const exactly = (rules) => (v) => {
    check(v && typeof v === "object" && Object.getPrototypeOf(v) === null, "not an object");
    check(Object.keys(v).length === Object.keys(rules).length, "members are missing or do not belong there");
    for (const name in rules) check(name in v && rules[name](v[name]), `${name} is not what it must be`);
    return true;
  };
  const receiptRules = exactly({
    schemaVersion: is("service-portable-verification-receipt-v1"), algorithm: is("Ed25519"), keyId, signature: base64(64),
    evidence: exactly({
      jobId: like(/^vrf_[a-z0-9]{24,40}$/), chainId: like(/^SN_(MAIN|SEPOLIA)$/), classHash: felt, receiptId: integer(1), verification: is("verified_exact"),
      sourceArchiveDigest: digest, toolchainPolicyId: is("service-exact-v25"), candidateDigest: digest, issuedAt: time,
      declaration: exactly({ blockNumber: integer(0), blockHash: felt, transactionHash: felt, compiledClassHash: felt }),
      proofScope: is("exact_source_rebuild_equals_finalized_declared_class"),
      notProofOf: (v) => Array.isArray(v) && v.length === 5 && never.every((n) => v.includes(n)),
    }),
  });
  const keyRules = exactly({ keyId, algorithm: is("Ed25519"), publicKey: base64(32), notBefore: time, notAfter: optional(time), revokedAt: optional(time) });
  const trustRules = exactly({
    schemaVersion: is("service-receipt-trust-root-v1"),
    keys: (v) => Array.isArray(v) && v.length > 0 && v.length <= 64 && v.every(keyRules) && new Set(v.map((k) => k.keyId)).size === v.length,
  });

  // number is exact, so that 1.00000000000000000001 is not 1.
  const number = (t) => {
    const m = /^(\d+)(?:\.(\d+))?(?:[eE](.+))?$/.exec(t);
    check(m && t.length <= 64, "not a whole number, or too long");
    const [, whole, fraction = "", power = "0"] = m, digits = (whole + fraction).replace(/^0+/, ""), places = Number(power) - fraction.length;
    check(digits === "" || (places >= -64 && places <= 64 && !/[1-9]/.test(digits.slice(places < 0 ? places : digits.length))), "not a whole number");
    return digits === "" ? 0 : Number(BigInt(places < 0 ? digits.slice(0, places) : digits + "0".repeat(places)));
  };
  // parse is JSON.parse that sees members which are there twice and rounds no number.
  const parse = (text, limit) => {
    check(new TextEncoder().encode(text).length <= limit, "too long");
    JSON.parse(text); // is it JSON at all?
    const tokens = text.match(/"(?:[^"\\]|\\.)*"|[[\]{},:]|[^\s[\]{},:"]+/g);
    let at = 0;
    const value = (depth) => {
      check(depth < 17, "nested too deep");
      const t = tokens[at++];
      if (t === "[") {
        const list = [];
        while (tokens[at] !== "]") { list.push(value(depth + 1)); if (tokens[at] === ",") at++; }
        at++;
        return list;
      }
      if (t !== "{") return /^[-\d]/.test(t) ? number(t) : JSON.parse(t);
      const object = Object.create(null);
      while (tokens[at] !== "}") {
        const name = JSON.parse(tokens[at]);
        check(!(name in object), `${name} is there twice`);
        at += 2; // the name and the colon
        object[name] = value(depth + 1);
        if (tokens[at] === ",") at++;
      }
      at++;
      return object;
    };
    return value(0);
  };
  // canonical is RFC 8785 for what evidence holds: texts without escapes, integers, arrays and objects.
  const canonical = (v) => Array.isArray(v) ? `[${v.map(canonical)}]`
    : v && typeof v === "object" ? `{${Object.keys(v).sort().map((k) => `${JSON.stringify(k)}:${canonical(v[k])}`)}}` : JSON.stringify(v);

  globalThis.verifyReceipt = async (receiptText, trustText, now = new Date()) => {
    const receipt = parse(receiptText, 16384), trust = parse(trustText, 65536);
    receiptRules(receipt);
    trustRules(trust);
    const key = trust.keys.find((k) => k.keyId === receipt.keyId), issued = new Date(receipt.evidence.issuedAt);
    check(key, "the trust document has no key of that id");
    const imported = await crypto.subtle.importKey("raw", bytesOf(key.publicKey), { name: "Ed25519" }, false, ["verify"]);
    const message = new TextEncoder().encode(canonical(receipt.evidence));
    check(await crypto.subtle.verify({ name: "Ed25519" }, imported, bytesOf(receipt.signature), message), "the signature does not fit");
    check(key.revokedAt === null, "the key was revoked: none of its receipts counts");
    check(issued >= new Date(key.notBefore) && (key.notAfter === null || issued < new Date(key.notAfter)), "the key was not valid when it was issued");
    check(issued - now <= 600_000, "it was issued in the future, as this machine's clock has it");
    return receipt.evidence;
  };

  const outcome = document.querySelector("#receipt-outcome"), put = (id) => document.querySelector(id).value;
  document.querySelector("#receipt-check")?.addEventListener("click", async () => {
    outcome.textContent = "";
    try {
      check(crypto.subtle, "this browser gives a page cryptography over https, or on this machine, alone");
      const e = await verifyReceipt(put("#receipt"), put("#trust"));
      outcome.textContent = `Believed, if the trust document is the right one. The source archive ${e.sourceArchiveDigest}, built under ${e.toolchainPolicyId}, gives exactly the class `
        + `${e.classHash} of ${e.chainId}, declared in block ${e.declaration.blockNumber}. It is no proof of: ${e.notProofOf.join(", ").replaceAll("_", " ")}. It was not shown to be in the transparency log.`;
    } catch (error) {
      outcome.textContent = `Not believed: ${error.message}`;
    }
  });
  // A file that is dropped on a field is read into it, and goes nowhere else.
  for (const field of document.querySelectorAll("#receipt, #trust")) {
    field.addEventListener("dragover", (event) => event.preventDefault());
    field.addEventListener("drop", async (event) => {
      const file = event.dataTransfer.files[0];
      if (!file) return; // text, which the browser puts in
      event.preventDefault();
      const large = file.size > 65536;
      outcome.textContent = large ? "Not read: the file is larger than a receipt or a trust document can be." : "";
      if (!large) field.value = await file.text();
    });
  }
})();
