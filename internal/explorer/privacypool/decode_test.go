package privacypool_test

import (
	"math/big"
	"slices"
	"strings"
	"testing"

	"chainexplorer/internal/explorer/privacypool"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/registry"
)

// event is an event of a pool: keys and data as hexadecimal numbers.
type event struct{ keys, data string }

func felts(t testing.TB, text string) (out []felt.Felt) {
	t.Helper()
	for _, s := range strings.Fields(text) {
		f, err := felt.Parse(s)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, f)
	}
	return out
}

// The selectors as they stand on chain.
const (
	selViewingKeySet     = "0x1321a492485b4f19851fb787ab3800a0030b595332cba93cd5fe40dfb5a4daf"
	selDeposit           = "0x9149d2123147c5f43d258257fef0b7b969db78269369ebcf5ebb9eef8592f2"
	selWithdrawal        = "0x2eed7e29b3502a726faf503ac4316b7101f3da813654e8df02c13449e03da8"
	selOpenNoteCreated   = "0x22330482fd296a27cf9096807b4a3622cd619d31cce42c1e55655914e8459ee"
	selOpenNoteDeposited = "0x25b6da03c4858d11cb0708d5cb6be79b190fb32eb7a7ce83804e07cbbb9bead"
	selEncNoteCreated    = "0x23c20207be8b1ef4430c25eef8ce779c9745ebe04139555ae81bd4f8fdd6ec5"
	selNoteUsed          = "0x247fc60d782e0094e7f98c47f277d92a3345d07a436f1f56b27a9b62be2322e"
	selInvoked           = "0xa8fb36d0894f5e87797c38533a55c4486a1f35e9e9eced10f995b9639a8955"
	selReplaced          = "0x34bb683f971572e1b0f230f3dd40f3dbcee94e0b3e3261dd0a91229a1adc4b7"
	strk                 = "0x4718f5a0fc34cc1af16a1cdee98ffb20c31f5cd61d6ab07201858f4287c938d"
)

// selectors are those of all events, as they were computed elsewhere.
var selectors = map[string]string{
	"viewing_key_set": selViewingKeySet, "deposit": selDeposit, "withdrawal": selWithdrawal, "open_note_created": selOpenNoteCreated,
	"open_note_deposited": selOpenNoteDeposited, "enc_note_created": selEncNoteCreated, "note_used": selNoteUsed, "external_contract_invoked": selInvoked,
	"auditor_public_key_set":         "0x1201d99a15f3d88fe402ca349f486e5d3f92bd6bf41c0990d74b48c0f7b2ea1",
	"screener_public_key_set":        "0x24a3c770102a21d765f1e5478b480aeb39ebc6f0a158cef07e722d74564009f",
	"fee_amount_set":                 "0x3a71cae33f889d328d50250566d1f55971af0792b89c5b3f5fbea1f7aafc4d7",
	"fee_collector_set":              "0x125aaf53a346c4e00244d4b9b35ef8366df1831e45931cd22d8d0211eea7347",
	"proof_validity_blocks_set":      "0x35ded6c81008684ea271437e09bf788dda262449efb89b0ef0ad492e0a81381",
	"open_note_depositor_block_set":  "0x1559ab4cffe5da273f7b9a981d025ee6ff6661f7b6f12f5e5e45c66b7a70b83",
	"open_note_screening_policy_set": "0xd341147ad7bc871a2e71db5882eefeaf935d28c361c507656bf3acd043424b",
	"paused":                         "0x2eb5248cf3d8cd81a5ba6d3cc6e1997df7b174eb894aac081867c1a2bc43c90",
	"unpaused":                       "0xece5baf71f670bcb771481fd7bd9efd6d6b8053246fe67b5a13db8bf5f50f1",
	"implementation_added":           "0x38a81c7fd04bac40e22e3eab2bcb3a09398bba67d0c5a263c6665c9c0b13a3",
	"implementation_removed":         "0x7633a8d8b49c5c6002a1329e2c9791ea2ced86e06e01e17b5d0d1d5312c792",
	"implementation_replaced":        selReplaced,
	"implementation_finalized":       "0xd1831486d8c46712712653f17d3414869aa50b4c16836d0b3d4afcfeafa024",
	"role_granted":                   "0x9d4a59b844ac9d98627ddba326ab3707a7d7e105fd03c777569d0f61a91f1e",
	"role_granted_with_delay":        "0xb98db20e520a01fe400ba29dc6ba0456c03a14c49b3b69e2158fb2d43c0e75",
	"role_revoked":                   "0x2842fd3b01bb0858fef6a2da51cdd9f995c7d36d7625fb68dd5d69fcc0a6d76",
	"role_admin_changed":             "0x2b23b0c08c7b22209aea4100552de1b7876a49f04ee5a4d94f83ad24bc4ec1c",
	"app_governor_added":             "0x1f9961b3744c1e017cbcfafecec635be98ae8c6aeb9f70be5b7e93f2f52e2e5",
	"app_governor_removed":           "0xf98c2e7c652ac3805eb73ff089b53a4b501f8e2d750a6131f474d71d49fef8",
	"app_role_admin_added":           "0x209ff368803f5de65188245078e888d4462f8d98697699c1dcdd8b02ffb250f",
	"app_role_admin_removed":         "0x198116a5c5421876feb02bdb0b472ace223bdde3dbd87f92db8d735a233fbb0",
	"governance_admin_added":         "0x3ae95723946e49d38f0cf844cef1fb25870e9a74999a4b96271625efa849b4c",
	"governance_admin_removed":       "0x2d8a82390cce552844e57407d23a1e48a38c4b979d525b1673171e503e116ab",
	"operator_added":                 "0x20e4d3438ce3d451a0b4c17cdcbdd5aef2ba11c5b28a2d65353f91db3eb26dd",
	"operator_removed":               "0xf73e08374e6098adb9600916577e3311612674306f1c2e3fe239a4576ad157",
	"security_admin_added":           "0x1d6c15800e6da7a5556b49a824ea4b70c1169d71092c1a4c5d80aaadc6636d1",
	"security_admin_removed":         "0x2eb7ab861b6ade361ff0e949e94d48fd5b2052639b40cfe9f796f2bb7864f45",
	"security_agent_added":           "0xde2aa78658531ebb6d1125461e139734c22e0d3045a3a44366066a2756070e",
	"security_agent_removed":         "0x2642a36e73652fddc2c8b6e54d2dd5396dd5385d190a121e2e1da5772dff325",
	"security_governor_added":        "0x15e96156a91c83e07ab5ad641305f1bf6432970793ccea9c6fcd83ddd9350f7",
	"security_governor_removed":      "0x3940d4026dbabd4dfb5a7e25cab9bcbda283fedc14baf7ee21812b5e9434753",
	"token_admin_added":              "0x36d743b501f1ce191c02b6bd687c6790def364974947f206de67805a5d0d794",
	"token_admin_removed":            "0xa3eac89d22258ea63a7f47b0be3c559c6177eb4d7fe6641b109da1e1272d60",
	"upgrade_governor_added":         "0x2143175c365244751ccde24dd8f54f934672d6bc9110175c9e58e1e73705531",
	"upgrade_governor_removed":       "0x25e2d538533284b9d61dfe45b9aaa563d33ef8374d9bb26d77a009b8e21f0de",
	"upgrade_agent_added":            "0x11c84c986b07dd49575ab86c00d84ee366841b977f8375a69245ee3609b7c6a",
	"upgrade_agent_removed":          "0x3ae1c03664fa0d90585d2c8e6fb05d79b10d0a0118fc0cc33fbf9db5818d244",
}

// TestSelectors: every event is known by its number on chain, and by its name.
func TestSelectors(t *testing.T) {
	names := privacypool.Names()
	if len(names) != len(selectors) {
		t.Errorf("%d names, want %d", len(names), len(selectors))
	}
	for _, name := range names {
		k, ok := privacypool.KindNamed(name)
		if want := selectors[name]; !ok || k.Selector().String() != want {
			t.Errorf("%s: %s, want %s", name, k.Selector(), want)
		}
		if f, s := privacypool.Decode(privacypool.UnknownClass, []felt.Felt{k.Selector()}, nil); f.Kind != k || f.Name != name || s != privacypool.NameOnly {
			t.Errorf("%s is found as %+v, %s", name, f, s)
		}
	}
	for _, name := range []string{"", "Deposit", privacypool.ProtocolEvent} {
		if k, ok := privacypool.KindNamed(name); ok || k != privacypool.Unknown {
			t.Errorf("%q is %d", name, k)
		}
	}
	if !privacypool.Unknown.Selector().IsZero() || !privacypool.Kind(255).Selector().IsZero() {
		t.Error("an unknown kind has a selector")
	}
}

const (
	v1  = privacypool.V1
	v2  = privacypool.V2
	v21 = privacypool.V21
)

// vectors are an event of every layout with what it says.
var vectors = []struct {
	name       string
	from, to   privacypool.Generation
	event      event
	group      privacypool.Group
	visibility privacypool.Visibility
	says       string
}{
	{"viewing_key_set", v1, v21, event{selViewingKeySet + " 0xa 0xb", "0xc 0xd 0xe"}, privacypool.Registration, privacypool.Partial, "actor=0xa viewingKey=0xb auditorKey=0xc"},
	{"deposit", v1, v21, event{selDeposit + " 0xa " + strk, "0x29a2241af62c0000"}, privacypool.ValueIn, privacypool.Public, "token=" + strk + " actor=0xa amount=3000000000000000000"},
	{"withdrawal", v1, v21, event{selWithdrawal + " 0xa 0xb", "0x1 0x2 0x3 0x7"}, privacypool.ValueOut, privacypool.Partial, "token=0xb to=0xa auditorKey=0x1 amount=7"},
	{"open_note_created", v1, v21, event{selOpenNoteCreated + " 0xa 0xb", "0x1 0x2 0x3"}, privacypool.Commitment, privacypool.Partial, "token=0xa note=0xb auditorKey=0x1"},
	{"open_note_deposited", v1, v21, event{selOpenNoteDeposited + " 0xa 0xb 0xc", "0xffffffffffffffffffffffffffffffff"}, privacypool.ValueIn, privacypool.Public,
		"token=0xb actor=0xa note=0xc amount=340282366920938463463374607431768211455"},
	{"enc_note_created", v1, v21, event{selEncNoteCreated + " 0xa", "0xb"}, privacypool.Commitment, privacypool.HiddenByDesign, "note=0xa value=0xb"},
	{"note_used", v1, v21, event{selNoteUsed + " 0xa", ""}, privacypool.Nullifier, privacypool.HiddenByDesign, "nullifier=0xa"},
	{"external_contract_invoked", v2, v21, event{selInvoked + " 0xa 0x402925cce9218828b3ac9a72ac249103f8448a1e1d73c3efaf5da992625043", ""}, privacypool.Interaction, privacypool.Public,
		"target=0xa selector=0x402925cce9218828b3ac9a72ac249103f8448a1e1d73c3efaf5da992625043"},
	{"auditor_public_key_set", v1, v21, event{selectors["auditor_public_key_set"], "0xa"}, privacypool.Config, privacypool.Public, "auditorKey=0xa"},
	{"screener_public_key_set", v2, v21, event{selectors["screener_public_key_set"], "0xa"}, privacypool.Config, privacypool.Public, "value=0xa"},
	{"fee_amount_set", v1, v21, event{selectors["fee_amount_set"], "0x0"}, privacypool.Config, privacypool.Public, "amount=0"},
	{"fee_collector_set", v1, v21, event{selectors["fee_collector_set"], "0xa"}, privacypool.Config, privacypool.Public, "value=0xa"},
	{"proof_validity_blocks_set", v1, v21, event{selectors["proof_validity_blocks_set"], "0x1c2"}, privacypool.Config, privacypool.Public, "value=0x1c2"},
	{"open_note_depositor_block_set", v2, v2, event{selectors["open_note_depositor_block_set"] + " 0xa", "0x1"}, privacypool.Config, privacypool.Public, "target=0xa value=0x1"},
	{"open_note_screening_policy_set", v21, v21, event{selectors["open_note_screening_policy_set"] + " 0xa", "0x2"}, privacypool.Config, privacypool.Public, "target=0xa value=0x2"},
	{"paused", v1, v21, event{selectors["paused"], "0xa"}, privacypool.Config, privacypool.Public, "actor=0xa"},
	{"unpaused", v1, v21, event{selectors["unpaused"], "0xa"}, privacypool.Config, privacypool.Public, "actor=0xa"},
	{"implementation_added", v1, v21, event{selectors["implementation_added"], "0xa 0x1 0x0"}, privacypool.Governance, privacypool.Public, "value=0xa"},
	{"implementation_removed", v1, v21, event{selectors["implementation_removed"], "0xa 0x0 0xe 0x2 0x5 0x6 0x1"}, privacypool.Governance, privacypool.Public, "value=0xa"},
	{"implementation_replaced", v1, v21, event{selReplaced, "0xa 0x0 0xe 0x0 0x0"}, privacypool.Governance, privacypool.Public, "value=0xa"},
	{"implementation_finalized", v1, v21, event{selectors["implementation_finalized"], "0xa"}, privacypool.Governance, privacypool.Public, "value=0xa"},
	{"role_granted", v1, v21, event{selectors["role_granted"], "0xa 0xb 0xc"}, privacypool.Governance, privacypool.Public, "actor=0xc to=0xb value=0xa"},
	{"role_granted_with_delay", v1, v21, event{selectors["role_granted_with_delay"], "0xa 0xb 0xc 0x3c"}, privacypool.Governance, privacypool.Public, "actor=0xc to=0xb value=0xa"},
	{"role_revoked", v1, v21, event{selectors["role_revoked"], "0xa 0xb 0xc"}, privacypool.Governance, privacypool.Public, "actor=0xc to=0xb value=0xa"},
	{"role_admin_changed", v1, v21, event{selectors["role_admin_changed"], "0xa 0xb 0xc"}, privacypool.Governance, privacypool.Public, "value=0xa"},
	{"app_role_admin_added", v1, v1, event{selectors["app_role_admin_added"], "0xa 0xb"}, privacypool.Governance, privacypool.Public, "actor=0xb to=0xa"},
	{"upgrade_agent_removed", v1, v1, event{selectors["upgrade_agent_removed"], "0xa 0xb"}, privacypool.Governance, privacypool.Public, "actor=0xb to=0xa"},
}

// says writes a fact's fields in a fixed order.
func says(f *privacypool.Fact) string {
	var out []string
	for _, x := range []struct {
		name string
		v    *felt.Felt
	}{{"token", f.Token}, {"actor", f.Actor}, {"to", f.To}, {"note", f.NoteID}, {"nullifier", f.Nullifier}, {"viewingKey", f.ViewingKey},
		{"auditorKey", f.AuditorKey}, {"target", f.Target}, {"selector", f.Selector}, {"value", f.Value}} {
		if x.v != nil {
			out = append(out, x.name+"="+x.v.String())
		}
	}
	if f.Amount != nil {
		out = append(out, "amount="+f.Amount.String())
	}
	return strings.Join(out, " ")
}

// TestDecode: every layout in every generation, whole and with a felt too few or
// too many.
func TestDecode(t *testing.T) {
	for _, v := range vectors {
		keys, data := felts(t, v.event.keys), felts(t, v.event.data)
		for _, g := range []privacypool.Generation{privacypool.UnknownClass, v1, v2, v21} {
			f, s := privacypool.Decode(g, keys, data)
			want, text := privacypool.NameOnly, ""
			if g >= v.from && g <= v.to {
				want, text = privacypool.Decoded, v.says
			}
			if s != want || says(&f) != text || f.Name != v.name || f.Group != v.group || f.Visibility != v.visibility {
				t.Errorf("%s in generation %d: %s, %q, %+v", v.name, g, s, says(&f), f)
			}
		}
		for _, broken := range [][2][]felt.Felt{
			{append(slices.Clone(keys), felt.FromUint64(1)), data},
			{keys, append(slices.Clone(data), felt.FromUint64(1))},
			{keys[:len(keys)-1], data},
			{keys, data[:max(0, len(data)-1)]},
		} {
			if len(broken[0]) == len(keys) && len(broken[1]) == len(data) {
				continue // there was nothing to take away
			}
			f, s := privacypool.Decode(v.from, broken[0], broken[1])
			if s == privacypool.Decoded || f.Amount != nil {
				t.Errorf("%s with %d keys and %d values: %s, %q", v.name, len(broken[0]), len(broken[1]), s, says(&f))
			}
			if len(broken[0]) == 0 && s != privacypool.NotAttributed {
				t.Errorf("an event without keys is %s", s)
			}
		}
	}
	f, s := privacypool.Decode(v2, felts(t, "0x1234 0x1"), felts(t, "0x2"))
	if s != privacypool.NotAttributed || f.Kind != privacypool.Unknown || f.Name != "protocol_event" || f.Group != privacypool.NoGroup || f.Visibility != privacypool.Partial || says(&f) != "" {
		t.Errorf("an unknown selector: %s, %+v", s, f)
	}
}

// TestValuesOutOfRange: a felt that its type cannot hold makes the event unread,
// and what the keys say of a missing amount stays.
func TestValuesOutOfRange(t *testing.T) {
	const (
		wide  = "0x100000000000000000000000000000000"
		noOne = "0x7ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff00"
	)
	for _, tt := range []struct {
		g    privacypool.Generation
		e    event
		says string
	}{
		{v1, event{selDeposit + " 0xa 0xb", wide}, "token=0xb actor=0xa"},
		{v1, event{selDeposit + " 0xa 0xb", ""}, "token=0xb actor=0xa"},
		{v1, event{selDeposit + " 0xa " + noOne, "0x1"}, ""},
		{v1, event{selWithdrawal + " 0xa 0xb", "0x1 0x2 0x3"}, "token=0xb to=0xa"},
		{v1, event{selWithdrawal + " 0xa 0xb", "0x1 0x2 0x3 " + wide}, "token=0xb to=0xa"},
		{v1, event{selOpenNoteDeposited + " 0xa 0xb 0xc", "0x1 0x0"}, "token=0xb actor=0xa note=0xc"},
		{v1, event{selectors["fee_amount_set"], wide}, ""},
		{v1, event{selectors["fee_collector_set"], noOne}, ""},
		{v1, event{selectors["proof_validity_blocks_set"], "0x10000000000000000"}, ""},
		{v2, event{selectors["open_note_depositor_block_set"] + " 0xa", "0x2"}, "target=0xa"},
		{v21, event{selectors["open_note_screening_policy_set"] + " 0xa", "0x3"}, "target=0xa"},
		{v1, event{selReplaced, "0xa 0x2 0x0"}, ""},
		{v1, event{selReplaced, "0xa 0x1 0x2"}, ""},
		{v1, event{selReplaced, "0xa 0x1"}, ""},
		{v1, event{selReplaced, "0xa 0x0 0xe"}, ""},
		{v1, event{selReplaced, "0xa 0x0 0xe 0x2 0x5 0x1"}, ""},
		{v1, event{selReplaced, "0xa 0x0 0xe 0xffffffffffffffff 0x1"}, ""},
		{v1, event{selReplaced, "0xa 0x0 0xe 0x10000000000000000 0x1"}, ""},
	} {
		f, s := privacypool.Decode(tt.g, felts(t, tt.e.keys), felts(t, tt.e.data))
		if s != privacypool.NameOnly || says(&f) != tt.says {
			t.Errorf("%s %s %s: %s, %q, want %q", f.Name, tt.e.keys[68:], tt.e.data, s, says(&f), tt.says)
		}
	}
}

// TestTransactions: transactions of the public networks, as far as they are known.
// Members that are not are written as small numbers.
func TestTransactions(t *testing.T) {
	for _, tt := range []struct {
		tx     string
		g      privacypool.Generation
		events []event
		want   []string
	}{
		{"0x701e056354f9e0e17e86b7d63d4403cb46e239e7061806e9f5e02ff47d65f49", v2, []event{
			{selViewingKeySet + " 0x11 0x12", "0x1d17f98be07e99713265714699a5c40ccbf7b50c950fb7a2abd81846fcdfbb2 0x13 0x14"},
			{selDeposit + " 0x11 " + strk, "0x29a2241af62c0000"},
			{selEncNoteCreated + " 0xce526b286fed962b9e3942771c5e519c69b8677dc24136ae380ba523a067ff", "0xcb93562e444a2f62b371b88d6be6350d7a019df3f3455fe4325ed78c514bb4"},
		}, []string{
			"viewing_key_set actor=0x11 viewingKey=0x12 auditorKey=0x1d17f98be07e99713265714699a5c40ccbf7b50c950fb7a2abd81846fcdfbb2",
			"deposit token=" + strk + " actor=0x11 amount=3000000000000000000",
			"enc_note_created note=0xce526b286fed962b9e3942771c5e519c69b8677dc24136ae380ba523a067ff value=0xcb93562e444a2f62b371b88d6be6350d7a019df3f3455fe4325ed78c514bb4",
		}},
		{"0x3d253f8a5ba1d84878b3d4c328e1c6d6fe5a95f163d654de6c9f8776a16f964", v21, []event{
			{selNoteUsed + " 0x6f3769425be9f731773213fb6917264bfda572b2eeda180513d5cf5cbb71662", ""},
			{selEncNoteCreated + " 0x21", "0x22"},
		}, []string{
			"note_used nullifier=0x6f3769425be9f731773213fb6917264bfda572b2eeda180513d5cf5cbb71662",
			"enc_note_created note=0x21 value=0x22",
		}},
		{"0x428d5947280d2c670162aa7a3d666bcaa4d5256e016fab460c1b7a560609578", v1, []event{
			{selDeposit + " 0x31 " + strk, "0x53444835ec580000"},
			{selWithdrawal + " 0x127021a1b5a52d3174c2ab077c2b043c80369250d29428cee956d76ee51584f " + strk, "0x1eed60b8d483b3bede62d1cc0f32874aea30747e6943437c858359b41801bf7 0x32 0x33 0x53444835ec580000"},
		}, []string{
			"deposit token=" + strk + " actor=0x31 amount=6000000000000000000",
			"withdrawal token=" + strk + " to=0x127021a1b5a52d3174c2ab077c2b043c80369250d29428cee956d76ee51584f auditorKey=0x1eed60b8d483b3bede62d1cc0f32874aea30747e6943437c858359b41801bf7 amount=6000000000000000000",
		}},
		{"0x4be26fa7600175c400d0a552ef5b21d46f1e103790e1580ce7de1563342ad36", v1, []event{
			{selectors["implementation_added"], "0x67dddd89d80fedadc06b6f160798f94800a4a70164e5a24301cd0d6076b554d 0x1 0x0"},
			{selReplaced, "0x67dddd89d80fedadc06b6f160798f94800a4a70164e5a24301cd0d6076b554d 0x1 0x0"},
		}, []string{
			"implementation_added value=0x67dddd89d80fedadc06b6f160798f94800a4a70164e5a24301cd0d6076b554d",
			"implementation_replaced value=0x67dddd89d80fedadc06b6f160798f94800a4a70164e5a24301cd0d6076b554d",
		}},
	} {
		for i, e := range tt.events {
			f, s := privacypool.Decode(tt.g, felts(t, e.keys), felts(t, e.data))
			if got := f.Name + " " + says(&f); s != privacypool.Decoded || got != tt.want[i] {
				t.Errorf("transaction %s, event %d: %s %s\nwant %s", tt.tx, i, s, got, tt.want[i])
			}
		}
	}
}

func TestGenerations(t *testing.T) {
	for word, want := range map[registry.PoolGeneration]privacypool.Generation{
		registry.PoolV1: v1, registry.PoolV2: v2, registry.PoolV21: v21, "v3": privacypool.UnknownClass, "": privacypool.UnknownClass,
	} {
		if got := privacypool.GenerationOf(word); got != want {
			t.Errorf("%q is %d", word, got)
		}
	}
	for s, want := range map[privacypool.Status]string{privacypool.Decoded: "decoded", privacypool.NameOnly: "name_only", privacypool.NotAttributed: "unknown"} {
		if s.String() != want {
			t.Errorf("%d is %q", s, s)
		}
	}
}

// FuzzDecode: whatever a contract emits is read or left alone, and what is read
// can be found in the event.
func FuzzDecode(f *testing.F) {
	for _, v := range vectors {
		var raw []byte
		keys, data := felts(f, v.event.keys), felts(f, v.event.data)
		for _, x := range slices.Concat(keys, data) {
			raw = append(raw, x[:]...)
		}
		f.Add(uint8(v.from), uint8(len(keys)), raw)
	}
	f.Fuzz(func(t *testing.T, g, split uint8, raw []byte) {
		var all []felt.Felt
		for ; len(raw) >= felt.Size && len(all) < 64; raw = raw[felt.Size:] {
			if x, err := felt.FromBytes(raw[:felt.Size]); err == nil {
				all = append(all, x)
			}
		}
		n := min(int(split), len(all))
		keys, data := all[:n], all[n:]
		fact, status := privacypool.Decode(privacypool.Generation(g), keys, data)
		if (status == privacypool.NotAttributed) != (fact.Kind == privacypool.Unknown) || fact.Name == "" || fact.Visibility == "" {
			t.Fatalf("%s: %+v", status, fact)
		}
		if (g == 0 || g > uint8(v21) || fact.Kind == privacypool.Unknown) && (status == privacypool.Decoded || says(&fact) != "") {
			t.Fatalf("generation %d: %s, %s", g, status, says(&fact))
		}
		for _, x := range []*felt.Felt{fact.Token, fact.Actor, fact.To, fact.NoteID, fact.Nullifier, fact.ViewingKey, fact.AuditorKey, fact.Target, fact.Selector, fact.Value} {
			if x != nil && !slices.Contains(all[1:], *x) {
				t.Fatalf("%s is not in the event", x)
			}
		}
		if fact.Amount != nil && (status != privacypool.Decoded || fact.Amount.Sign() < 0 || fact.Amount.Cmp(new(big.Int).Lsh(big.NewInt(1), 128)) >= 0) {
			t.Fatalf("%s: amount %s", status, fact.Amount)
		}
	})
}
