package export

// The rows of the families. The columns are what docs/export.md says they are: whoever
// changes one raises Format.
//
// Felts are text, 0x and lower-case hex digits without leading zeros, as everywhere in the
// API. What repeats within a file is encoded by a dictionary. Encodings are the plain ones
// that every reader has.

// place is the block of a row.
type place struct {
	BlockNumber int64  `parquet:"block_number,dict"`
	BlockHash   string `parquet:"block_hash,dict"`
	Timestamp   int64  `parquet:"timestamp,timestamp(millisecond),dict"`
}

// txPlace is the transaction of a row.
type txPlace struct {
	TxIndex int32  `parquet:"tx_index,dict"`
	TxHash  string `parquet:"tx_hash,dict"`
}

type blockRow struct {
	BlockNumber       int64   `parquet:"block_number"`
	BlockHash         string  `parquet:"block_hash"`
	ParentHash        string  `parquet:"parent_hash"`
	Timestamp         int64   `parquet:"timestamp,timestamp(millisecond)"`
	StateRoot         string  `parquet:"state_root"`
	Sequencer         *string `parquet:"sequencer_address,optional,dict"`
	StarknetVersion   *string `parquet:"starknet_version,optional,dict"`
	L1DAMode          *string `parquet:"l1_data_availability_mode,optional,dict"`
	TxCount           uint64  `parquet:"tx_count"`
	EventCount        uint64  `parquet:"event_count"`
	MessageCount      uint64  `parquet:"message_count"`
	RevertedCount     uint64  `parquet:"reverted_count"`
	StateDiffLength   uint64  `parquet:"state_diff_length"`
	L1GasPriceWei     *string `parquet:"l1_gas_price_wei,optional"`
	L1GasPriceFri     *string `parquet:"l1_gas_price_fri,optional"`
	L1DataGasPriceWei *string `parquet:"l1_data_gas_price_wei,optional"`
	L1DataGasPriceFri *string `parquet:"l1_data_gas_price_fri,optional"`
	L2GasPriceWei     *string `parquet:"l2_gas_price_wei,optional"`
	L2GasPriceFri     *string `parquet:"l2_gas_price_fri,optional"`
}

type transactionRow struct {
	place
	TxIndex           int32   `parquet:"tx_index"`
	TxHash            string  `parquet:"tx_hash"`
	Type              string  `parquet:"tx_type,dict"`
	Version           string  `parquet:"tx_version,dict"`
	From              *string `parquet:"from_address,optional,dict"`
	To                *string `parquet:"to_address,optional,dict"`
	Nonce             *string `parquet:"nonce,optional"`
	Execution         string  `parquet:"execution_status,dict"`
	RevertReason      *string `parquet:"revert_reason,optional"`
	Fee               string  `parquet:"actual_fee"`
	FeeE0             low     `parquet:"actual_fee_e0,decimal(0:26)"`
	FeeE26            low     `parquet:"actual_fee_e26,decimal(0:26),dict"`
	FeeE52            high    `parquet:"actual_fee_e52,decimal(0:38),dict"`
	FeeUnit           string  `parquet:"actual_fee_unit,dict"`
	L1Gas             uint64  `parquet:"l1_gas"`
	L1DataGas         uint64  `parquet:"l1_data_gas"`
	L2Gas             uint64  `parquet:"l2_gas"`
	MaxFee            *string `parquet:"max_fee,optional"`
	Tip               *uint64 `parquet:"tip,optional"`
	L1GasMaxAmount    *uint64 `parquet:"l1_gas_max_amount,optional"`
	L1GasMaxPrice     *string `parquet:"l1_gas_max_price,optional"`
	L1DataGasMax      *uint64 `parquet:"l1_data_gas_max_amount,optional"`
	L1DataGasMaxPrice *string `parquet:"l1_data_gas_max_price,optional"`
	L2GasMaxAmount    *uint64 `parquet:"l2_gas_max_amount,optional"`
	L2GasMaxPrice     *string `parquet:"l2_gas_max_price,optional"`
	ClassHash         *string `parquet:"class_hash,optional,dict"`
	DeployedAddress   *string `parquet:"deployed_address,optional"`
	Selector          *string `parquet:"entry_point_selector,optional,dict"`

	Calldata     []string `parquet:"calldata,list" parquet-element:",dict"`
	Signature    []string `parquet:"signature,list"`
	EventCount   int32    `parquet:"event_count"`
	MessageCount int32    `parquet:"message_count"`
}

type eventRow struct {
	place
	txPlace
	TxType   string   `parquet:"tx_type,dict"`
	LogIndex int32    `parquet:"log_index"`
	Address  string   `parquet:"address,dict"`
	Keys     []string `parquet:"keys,list" parquet-element:",dict"`
	Data     []string `parquet:"data,list" parquet-element:",dict"`
}

type transferRow struct {
	place
	txPlace
	LogIndex      int32   `parquet:"log_index"`
	TransferIndex int32   `parquet:"transfer_index,dict"`
	Token         string  `parquet:"token_address,dict"`
	From          string  `parquet:"from_address,dict"`
	To            string  `parquet:"to_address,dict"`
	Standard      string  `parquet:"standard,dict"`
	Amount        *string `parquet:"amount,optional"`
	AmountE0      *low    `parquet:"amount_e0,optional,decimal(0:26)"`
	AmountE26     *low    `parquet:"amount_e26,optional,decimal(0:26),dict"`
	AmountE52     *high   `parquet:"amount_e52,optional,decimal(0:38),dict"`
	RawValue      *string `parquet:"raw_value,optional"`
	TokenID       *string `parquet:"token_id,optional"`
}

type balanceRow struct {
	place
	Token     string `parquet:"token_address,dict"`
	Holder    string `parquet:"holder_address,dict"`
	Amount    string `parquet:"amount_change"`
	AmountE0  low    `parquet:"amount_change_e0,decimal(0:26)"`
	AmountE26 low    `parquet:"amount_change_e26,decimal(0:26),dict"`
	AmountE52 high   `parquet:"amount_change_e52,decimal(0:38),dict"`
	Units     int64  `parquet:"units_change,dict"`
}

type messageRow struct {
	place
	txPlace
	MessageIndex int32    `parquet:"message_index"`
	Direction    string   `parquet:"direction,dict"`
	Hash         string   `parquet:"message_hash"`
	From         *string  `parquet:"from_address,optional,dict"`
	To           string   `parquet:"to_address,dict"`
	Selector     *string  `parquet:"selector,optional,dict"`
	Nonce        *string  `parquet:"nonce,optional"`
	Reverted     bool     `parquet:"reverted"`
	Payload      []string `parquet:"payload,list"`
}

type contractRow struct {
	place
	Address   string `parquet:"contract_address"`
	ClassHash string `parquet:"class_hash,dict"`
	Change    string `parquet:"change,dict"`
}

type classRow struct {
	place
	ClassHash string  `parquet:"class_hash"`
	Compiled  *string `parquet:"compiled_class_hash,optional"`
	Change    string  `parquet:"change,dict"`
}

type tokenRow struct {
	Token       string  `parquet:"token_address"`
	FirstBlock  int64   `parquet:"first_block"`
	Standard    string  `parquet:"standard,dict"`
	Name        *string `parquet:"name,optional"`
	Symbol      *string `parquet:"symbol,optional"`
	Decimals    *int32  `parquet:"decimals,optional"`
	FromGenesis bool    `parquet:"from_genesis"`
}
