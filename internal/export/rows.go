package export

import "chainexplorer/internal/felt"

// The rows of the families. The columns are what docs/export.md says they are: whoever
// changes one raises Format.
//
// Felts are text, 0x and lower-case hex digits without leading zeros, as everywhere in the
// API. What repeats within a file is encoded by a dictionary.

// place is the block of a row.
type place struct {
	BlockNumber int64
	BlockHash   felt.Felt
	Timestamp   int64
}

func (r *place) cells(c *cells) {
	c.int64("block_number", r.BlockNumber, dict)
	c.felt("block_hash", &r.BlockHash, dict)
	c.moment("timestamp", r.Timestamp, dict)
}

// txPlace is the transaction of a row.
type txPlace struct {
	TxIndex int32
	TxHash  felt.Felt
}

func (r *txPlace) cells(c *cells) {
	c.int32("tx_index", r.TxIndex, dict)
	c.felt("tx_hash", &r.TxHash, dict)
}

type blockRow struct {
	BlockNumber       int64
	BlockHash         felt.Felt
	ParentHash        felt.Felt
	Timestamp         int64
	StateRoot         felt.Felt
	Sequencer         *felt.Felt
	StarknetVersion   *string
	L1DAMode          *string
	TxCount           uint64
	EventCount        uint64
	MessageCount      uint64
	RevertedCount     uint64
	StateDiffLength   uint64
	L1GasPriceWei     *string
	L1GasPriceFri     *string
	L1DataGasPriceWei *string
	L1DataGasPriceFri *string
	L2GasPriceWei     *string
	L2GasPriceFri     *string
}

func (r *blockRow) cells(c *cells) {
	c.int64("block_number", r.BlockNumber, plain)
	c.felt("block_hash", &r.BlockHash, plain)
	c.felt("parent_hash", &r.ParentHash, plain)
	c.moment("timestamp", r.Timestamp, plain)
	c.felt("state_root", &r.StateRoot, plain)
	c.feltIf("sequencer_address", r.Sequencer, dict)
	c.textIf("starknet_version", r.StarknetVersion, dict)
	c.textIf("l1_data_availability_mode", r.L1DAMode, dict)
	c.uint64("tx_count", r.TxCount)
	c.uint64("event_count", r.EventCount)
	c.uint64("message_count", r.MessageCount)
	c.uint64("reverted_count", r.RevertedCount)
	c.uint64("state_diff_length", r.StateDiffLength)
	c.textIf("l1_gas_price_wei", r.L1GasPriceWei, plain)
	c.textIf("l1_gas_price_fri", r.L1GasPriceFri, plain)
	c.textIf("l1_data_gas_price_wei", r.L1DataGasPriceWei, plain)
	c.textIf("l1_data_gas_price_fri", r.L1DataGasPriceFri, plain)
	c.textIf("l2_gas_price_wei", r.L2GasPriceWei, plain)
	c.textIf("l2_gas_price_fri", r.L2GasPriceFri, plain)
}

type transactionRow struct {
	place
	TxIndex           int32
	TxHash            felt.Felt
	Type              string
	Version           felt.Felt
	From              *felt.Felt
	To                *felt.Felt
	Nonce             *felt.Felt
	Execution         string
	RevertReason      *string
	Fee               amount
	FeeUnit           string
	L1Gas             uint64
	L1DataGas         uint64
	L2Gas             uint64
	MaxFee            *string
	Tip               *uint64
	L1GasMaxAmount    *uint64
	L1GasMaxPrice     *string
	L1DataGasMax      *uint64
	L1DataGasMaxPrice *string
	L2GasMaxAmount    *uint64
	L2GasMaxPrice     *string
	ClassHash         *felt.Felt
	DeployedAddress   *felt.Felt
	Selector          *felt.Felt
	Calldata          []felt.Felt
	Signature         []felt.Felt
	EventCount        int32
	MessageCount      int32
}

func (r *transactionRow) cells(c *cells) {
	r.place.cells(c)
	c.int32("tx_index", r.TxIndex, plain)
	c.felt("tx_hash", &r.TxHash, plain)
	c.text("tx_type", r.Type, dict)
	c.felt("tx_version", &r.Version, dict)
	c.feltIf("from_address", r.From, dict)
	c.feltIf("to_address", r.To, dict)
	c.feltIf("nonce", r.Nonce, plain)
	c.text("execution_status", r.Execution, dict)
	c.textIf("revert_reason", r.RevertReason, plain)
	c.amount("actual_fee", &r.Fee)
	c.text("actual_fee_unit", r.FeeUnit, dict)
	c.uint64("l1_gas", r.L1Gas)
	c.uint64("l1_data_gas", r.L1DataGas)
	c.uint64("l2_gas", r.L2Gas)
	c.textIf("max_fee", r.MaxFee, plain)
	c.uint64If("tip", r.Tip)
	c.uint64If("l1_gas_max_amount", r.L1GasMaxAmount)
	c.textIf("l1_gas_max_price", r.L1GasMaxPrice, plain)
	c.uint64If("l1_data_gas_max_amount", r.L1DataGasMax)
	c.textIf("l1_data_gas_max_price", r.L1DataGasMaxPrice, plain)
	c.uint64If("l2_gas_max_amount", r.L2GasMaxAmount)
	c.textIf("l2_gas_max_price", r.L2GasMaxPrice, plain)
	c.feltIf("class_hash", r.ClassHash, dict)
	c.feltIf("deployed_address", r.DeployedAddress, plain)
	c.feltIf("entry_point_selector", r.Selector, dict)
	c.felts("calldata", r.Calldata, dict)
	c.felts("signature", r.Signature, plain)
	c.int32("event_count", r.EventCount, plain)
	c.int32("message_count", r.MessageCount, plain)
}

type eventRow struct {
	place
	txPlace
	TxType   string
	LogIndex int32
	Address  felt.Felt
	Keys     []felt.Felt
	Data     []felt.Felt
}

func (r *eventRow) cells(c *cells) {
	r.place.cells(c)
	r.txPlace.cells(c)
	c.text("tx_type", r.TxType, dict)
	c.int32("log_index", r.LogIndex, plain)
	c.felt("address", &r.Address, dict)
	c.felts("keys", r.Keys, dict)
	c.felts("data", r.Data, dict)
}

type transferRow struct {
	place
	txPlace
	LogIndex      int32
	TransferIndex int32
	Token         felt.Felt
	From          felt.Felt
	To            felt.Felt
	Standard      string
	Amount        *amount
	RawValue      *string
	TokenID       *string
}

func (r *transferRow) cells(c *cells) {
	r.place.cells(c)
	r.txPlace.cells(c)
	c.int32("log_index", r.LogIndex, plain)
	c.int32("transfer_index", r.TransferIndex, dict)
	c.felt("token_address", &r.Token, dict)
	c.felt("from_address", &r.From, dict)
	c.felt("to_address", &r.To, dict)
	c.text("standard", r.Standard, dict)
	c.amountIf("amount", r.Amount)
	c.textIf("raw_value", r.RawValue, plain)
	c.textIf("token_id", r.TokenID, plain)
}

type balanceRow struct {
	place
	Token  felt.Felt
	Holder felt.Felt
	Amount amount
	Units  int64
}

func (r *balanceRow) cells(c *cells) {
	r.place.cells(c)
	c.felt("token_address", &r.Token, dict)
	c.felt("holder_address", &r.Holder, dict)
	c.amount("amount_change", &r.Amount)
	c.int64("units_change", r.Units, dict)
}

type messageRow struct {
	place
	txPlace
	MessageIndex int32
	Direction    string
	Hash         string
	From         *felt.Felt
	To           felt.Felt
	Selector     *felt.Felt
	Nonce        *felt.Felt
	Reverted     bool
	Payload      []felt.Felt
}

func (r *messageRow) cells(c *cells) {
	r.place.cells(c)
	r.txPlace.cells(c)
	c.int32("message_index", r.MessageIndex, plain)
	c.text("direction", r.Direction, dict)
	c.text("message_hash", r.Hash, plain)
	c.feltIf("from_address", r.From, dict)
	c.felt("to_address", &r.To, dict)
	c.feltIf("selector", r.Selector, dict)
	c.feltIf("nonce", r.Nonce, plain)
	c.bool("reverted", r.Reverted)
	c.felts("payload", r.Payload, plain)
}

type contractRow struct {
	place
	Address   felt.Felt
	ClassHash felt.Felt
	Change    string
}

func (r *contractRow) cells(c *cells) {
	r.place.cells(c)
	c.felt("contract_address", &r.Address, plain)
	c.felt("class_hash", &r.ClassHash, dict)
	c.text("change", r.Change, dict)
}

type classRow struct {
	place
	ClassHash felt.Felt
	Compiled  *felt.Felt
	Change    string
}

func (r *classRow) cells(c *cells) {
	r.place.cells(c)
	c.felt("class_hash", &r.ClassHash, plain)
	c.feltIf("compiled_class_hash", r.Compiled, plain)
	c.text("change", r.Change, dict)
}

type tokenRow struct {
	Token       felt.Felt
	FirstBlock  int64
	Standard    string
	Name        *string
	Symbol      *string
	Decimals    *int32
	FromGenesis bool
}

func (r *tokenRow) cells(c *cells) {
	c.felt("token_address", &r.Token, plain)
	c.int64("first_block", r.FirstBlock, plain)
	c.text("standard", r.Standard, dict)
	c.textIf("name", r.Name, plain)
	c.textIf("symbol", r.Symbol, plain)
	c.int32If("decimals", r.Decimals)
	c.bool("from_genesis", r.FromGenesis)
}
