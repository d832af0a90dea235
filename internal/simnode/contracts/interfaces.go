package contracts

// The interfaces of the catalogue. They follow the contracts in the field in
// names, argument types and event layouts.

const accountLines = `
contract openzeppelin_presets::account::AccountUpgradeable
interface openzeppelin_account::interface::AccountABI
external __execute__(calls: array<call>) -> array<felt>
view __validate__(calls: array<call>) -> felt
view is_valid_signature(hash: felt, signature: array<felt>) -> felt
view supports_interface(interface_id: felt) -> bool
view __validate_declare__(class_hash: felt) -> felt
view __validate_deploy__(class_hash: felt, contract_address_salt: felt, public_key: felt) -> felt
view get_public_key() -> felt
external set_public_key(new_public_key: felt, signature: span<felt>)
interface openzeppelin_upgrades::interface::IUpgradeable
external upgrade(new_class_hash: class)
constructor(public_key: felt)
component openzeppelin_account::account::AccountComponent AccountEvent
event OwnerAdded(new_owner_guid: felt key)
event OwnerRemoved(removed_owner_guid: felt key)
component openzeppelin_upgrades::upgradeable::UpgradeableComponent UpgradeableEvent
event Upgraded(class_hash: class)
`

const accountCairo0Lines = `
contract account
view supportsInterface(interfaceId: felt) -> felt
view get_implementation() -> felt
external __execute__(call_array: array<felt>, calldata: array<felt>)
view __validate__(call_array: array<felt>, calldata: array<felt>)
view __validate_declare__(class_hash: felt)
view __validate_deploy__(class_hash: felt, contract_address_salt: felt, public_key: felt)
constructor(public_key: felt)
event account_created(account: felt, key: felt, guardian: felt)
event TransactionExecuted(hash: felt, response: array<felt>)
`

const erc20Functions = `
interface openzeppelin_token::erc20::interface::ERC20ABI
view total_supply() -> u256
view balance_of(account: address) -> u256
view allowance(owner: address, spender: address) -> u256
external transfer(recipient: address, amount: u256) -> bool
external transfer_from(sender: address, recipient: address, amount: u256) -> bool
external approve(spender: address, amount: u256) -> bool
view decimals() -> u8
view totalSupply() -> u256
view balanceOf(account: address) -> u256
external transferFrom(sender: address, recipient: address, amount: u256) -> bool
external mint(recipient: address, amount: u256)
external burn(amount: u256)
`

const erc20KeyedEvents = `
component openzeppelin_token::erc20::erc20::ERC20Component ERC20Event
event Transfer(from: address key, to: address key, value: u256)
event Approval(owner: address key, spender: address key, value: u256)
`

const upgradeLines = `
interface openzeppelin_upgrades::interface::IUpgradeable
external upgrade(new_class_hash: class)
component openzeppelin_upgrades::upgradeable::UpgradeableComponent UpgradeableEvent
event Upgraded(class_hash: class)
`

const erc20KeyedLines = `
contract openzeppelin_presets::erc20::ERC20Upgradeable` + erc20Functions + `
view name() -> bytes
view symbol() -> bytes
constructor(name: bytes, symbol: bytes, decimals: u8, initial_supply: u256, recipient: address)` + erc20KeyedEvents + upgradeLines

// Events directly in the contract, nothing keyed, short string names: what the
// bridged tokens look like.
const erc20LegacyLines = `
contract src::strk::erc20_lockable::ERC20Lockable` + erc20Functions + `
view name() -> felt
view symbol() -> felt
constructor(name: felt, symbol: felt, decimals: u8, initial_supply: u256, recipient: address)
component
event Transfer(from: address, to: address, value: u256)
event Approval(owner: address, spender: address, value: u256)
event Upgraded(class_hash: class)
interface openzeppelin_upgrades::interface::IUpgradeable
external upgrade(new_class_hash: class)
`

// Keyed events with short string names: the generation in between.
const erc20MiddleLines = `
contract openzeppelin::presets::erc20::ERC20` + erc20Functions + `
view name() -> felt
view symbol() -> felt
constructor(name: felt, symbol: felt, decimals: u8, initial_supply: u256, recipient: address)` + erc20KeyedEvents + upgradeLines

// The second version of an upgradeable token: keyed, byte arrays, and a
// function that the first did not have.
const erc20NextLines = `
contract openzeppelin_presets::erc20::ERC20UpgradeableV2` + erc20Functions + `
view name() -> bytes
view symbol() -> bytes
view version() -> felt
constructor(name: bytes, symbol: bytes, decimals: u8, initial_supply: u256, recipient: address)` + erc20KeyedEvents + upgradeLines

const erc20ProxyImplLines = `
contract token
view name() -> felt
view symbol() -> felt
view decimals() -> felt
view totalSupply() -> u256
view balanceOf(account: felt) -> u256
view allowance(owner: felt, spender: felt) -> u256
external transfer(recipient: felt, amount: u256) -> felt
external transferFrom(sender: felt, recipient: felt, amount: u256) -> felt
external approve(spender: felt, amount: u256) -> felt
event Transfer(from_: felt, to: felt, value: u256)
event Approval(owner: felt, spender: felt, value: u256)
`

const proxyLines = `
contract proxy
view get_implementation() -> felt
external __default__(selector: felt, calldata: array<felt>)
handler __l1_default__(selector: felt, calldata: array<felt>)
constructor(implementation_hash: felt, selector: felt, calldata: array<felt>)
event Upgraded(implementation: felt)
`

const erc721Functions = `
interface openzeppelin_token::erc721::interface::ERC721ABI
view balance_of(account: address) -> u256
view owner_of(token_id: u256) -> address
external safe_transfer_from(from: address, to: address, token_id: u256, data: span<felt>)
external transfer_from(from: address, to: address, token_id: u256)
external approve(to: address, token_id: u256)
external set_approval_for_all(operator: address, approved: bool)
view get_approved(token_id: u256) -> address
view is_approved_for_all(owner: address, operator: address) -> bool
view supports_interface(interface_id: felt) -> bool
view balanceOf(account: address) -> u256
view ownerOf(tokenId: u256) -> address
external transferFrom(from: address, to: address, tokenId: u256)
external mint(recipient: address, token_id: u256)
`

const erc721KeyedLines = `
contract openzeppelin_presets::erc721::ERC721Upgradeable` + erc721Functions + `
view name() -> bytes
view symbol() -> bytes
view token_uri(token_id: u256) -> bytes
constructor(name: bytes, symbol: bytes, base_uri: bytes, recipient: address)
component openzeppelin_token::erc721::erc721::ERC721Component ERC721Event
event Transfer(from: address key, to: address key, token_id: u256 key)
event Approval(owner: address key, approved: address key, token_id: u256 key)
event ApprovalForAll(owner: address key, operator: address key, approved: bool)
`

const erc721LegacyLines = `
contract ekubo::owned_nft::OwnedNFT` + erc721Functions + `
view name() -> felt
view symbol() -> felt
view tokenURI(token_id: u256) -> array<felt>
constructor(name: felt, symbol: felt)
component
event Transfer(from: address, to: address, token_id: u256)
event Approval(owner: address, approved: address, token_id: u256)
event ApprovalForAll(owner: address, operator: address, approved: bool)
`

const erc1155Functions = `
interface openzeppelin_token::erc1155::interface::ERC1155ABI
view balance_of(account: address, token_id: u256) -> u256
view balance_of_batch(accounts: span<felt>, token_ids: span<u256>) -> span<u256>
external safe_transfer_from(from: address, to: address, token_id: u256, value: u256, data: span<felt>)
external safe_batch_transfer_from(from: address, to: address, token_ids: span<u256>, values: span<u256>, data: span<felt>)
external set_approval_for_all(operator: address, approved: bool)
view is_approved_for_all(owner: address, operator: address) -> bool
view supports_interface(interface_id: felt) -> bool
view uri(token_id: u256) -> bytes
external mint(recipient: address, token_id: u256, value: u256)
`

const erc1155KeyedLines = `
contract openzeppelin_presets::erc1155::ERC1155Upgradeable` + erc1155Functions + `
constructor(base_uri: bytes)
component openzeppelin_token::erc1155::erc1155::ERC1155Component ERC1155Event
event TransferSingle(operator: address key, from: address key, to: address key, id: u256, value: u256)
event TransferBatch(operator: address key, from: address key, to: address key, ids: span<u256>, values: span<u256>)
event ApprovalForAll(owner: address key, operator: address key, approved: bool)
event URI(value: bytes, id: u256 key)
`

const erc1155LegacyLines = `
contract briq::erc1155::Collection` + erc1155Functions + `
constructor(base_uri: bytes)
component
event TransferSingle(operator: address, from: address, to: address, id: u256, value: u256)
event TransferBatch(operator: address, from: address, to: address, ids: span<u256>, values: span<u256>)
event ApprovalForAll(owner: address, operator: address, approved: bool)
`

const pairFactoryLines = `
contract jediswap::factory::FactoryC1
interface jediswap::factory::IFactoryC1
view get_pair(token0: address, token1: address) -> address
view get_num_of_pairs() -> u32
view get_fee_to() -> address
external create_pair(tokenA: address, tokenB: address) -> address
constructor(pair_class_hash: class, fee_to_setter: address)
event PairCreated(token0: address, token1: address, pair: address, total_pairs: u32)
`

const pairLines = `
contract jediswap::pair::PairC1` + erc20Functions + `
view name() -> felt
view symbol() -> felt
interface jediswap::pair::IPairC1
view token0() -> address
view token1() -> address
view get_reserves() -> felt
external swap(amount0Out: u256, amount1Out: u256, to: address, data: array<felt>)
external sync()
constructor(token0: address, token1: address)
event Transfer(sender: address, recipient: address, amount: u256)
event Approval(owner: address, spender: address, amount: u256)
event Mint(sender: address, amount0: u256, amount1: u256)
event Burn(sender: address, amount0: u256, amount1: u256, to: address)
event Swap(sender: address, amount0In: u256, amount1In: u256, amount0Out: u256, amount1Out: u256, to: address)
event Sync(reserve0: u256, reserve1: u256)
`

const pairRouterLines = `
contract jediswap::router::RouterC1
interface jediswap::router::IRouterC1
view factory() -> address
external add_liquidity(tokenA: address, tokenB: address, amountA: u256, amountB: u256, to: address)
external remove_liquidity(tokenA: address, tokenB: address, liquidity: u256, to: address)
external swap_exact_tokens_for_tokens(amountIn: u256, amountOutMin: u256, path: span<felt>, to: address, deadline: u64) -> span<u256>
constructor(factory: address)
`

const ekuboCoreLines = `
contract ekubo::core::Core
struct ekubo::types::keys::PoolKey(token0: address, token1: address, fee: u128, tick_spacing: u128, extension: address)
struct ekubo::types::i129::i129(mag: u128, sign: bool)
struct ekubo::types::delta::Delta(amount0: ekubo::types::i129::i129, amount1: ekubo::types::i129::i129)
struct ekubo::interfaces::core::SwapParameters(amount: ekubo::types::i129::i129, is_token1: bool, sqrt_ratio_limit: u256, skip_ahead: u128)
struct ekubo::types::bounds::Bounds(lower: ekubo::types::i129::i129, upper: ekubo::types::i129::i129)
struct ekubo::interfaces::core::UpdatePositionParameters(salt: felt, bounds: ekubo::types::bounds::Bounds, liquidity_delta: ekubo::types::i129::i129)
interface ekubo::interfaces::core::ICore
external maybe_initialize_pool(pool_key: ekubo::types::keys::PoolKey, initial_tick: ekubo::types::i129::i129)
external swap(pool_key: ekubo::types::keys::PoolKey, params: ekubo::interfaces::core::SwapParameters) -> ekubo::types::delta::Delta
external update_position(pool_key: ekubo::types::keys::PoolKey, params: ekubo::interfaces::core::UpdatePositionParameters) -> ekubo::types::delta::Delta
view get_pool_liquidity(pool_key: ekubo::types::keys::PoolKey) -> u128
constructor(owner: address)
event PoolInitialized(pool_key: ekubo::types::keys::PoolKey, initial_tick: ekubo::types::i129::i129, sqrt_ratio: u256)
event Swapped(locker: address, pool_key: ekubo::types::keys::PoolKey, params: ekubo::interfaces::core::SwapParameters, delta: ekubo::types::delta::Delta, sqrt_ratio_after: u256, tick_after: ekubo::types::i129::i129, liquidity_after: u128)
event PositionUpdated(locker: address, pool_key: ekubo::types::keys::PoolKey, params: ekubo::interfaces::core::UpdatePositionParameters, delta: ekubo::types::delta::Delta)
`

const bridgeLines = `
contract src::token_bridge::TokenBridge
interface src::token_bridge_interface::ITokenBridge
view get_l1_token(l2_token: address) -> eth
view get_l2_token(l1_token: eth) -> address
view get_identity() -> felt
external initiate_withdraw(l1_recipient: eth, amount: u256)
external initiate_token_withdraw(l1_token: eth, l1_recipient: eth, amount: u256)
handler handle_deposit(from_address: felt, l2_recipient: address, amount: u256)
handler handle_token_deposit(from_address: felt, l1_token: eth, depositor: eth, l2_recipient: address, amount: u256)
constructor(upgrade_delay: u64)
event DepositHandled(l1_token: eth key, l2_recipient: address key, amount: u256)
event deposit_handled(account: address, amount: u256)
event WithdrawInitiated(l1_token: eth key, l1_recipient: eth key, caller_address: address key, amount: u256)
event withdraw_initiated(l1_recipient: eth, amount: u256, caller_address: address)
`

const udcLines = `
contract openzeppelin_presets::universal_deployer::UniversalDeployer
interface openzeppelin_utils::deployments::interface::UniversalDeployerABI
external deploy_contract(class_hash: class, salt: felt, not_from_zero: bool, calldata: span<felt>) -> address
external deployContract(classHash: class, salt: felt, notFromZero: bool, calldata: span<felt>) -> address
event ContractDeployed(address: address, deployer: address, not_from_zero: bool, class_hash: class, calldata: span<felt>, salt: felt)
`

const udcMiddleLines = `
contract openzeppelin::presets::universal_deployer::UniversalDeployer
interface openzeppelin::utils::interfaces::IUniversalDeployer
external deploy_contract(class_hash: class, salt: felt, from_zero: bool, calldata: span<felt>) -> address
event ContractDeployed(address: address, deployer: address, from_zero: bool, class_hash: class, calldata: span<felt>, salt: felt)
`

const udcLegacyLines = `
contract UniversalDeployer
external deployContract(classHash: felt, salt: felt, unique: felt, calldata: array<felt>) -> felt
event ContractDeployed(address: felt, deployer: felt, unique: felt, classHash: felt, calldata: array<felt>, salt: felt)
`

const poolTypes = `
struct privacy::events::EncUserAddr(auditor_public_key: felt, ephemeral_pubkey: felt, enc_user_addr: felt)
struct privacy::events::EncPrivateKey(auditor_public_key: felt, ephemeral_pubkey: felt, enc_private_key: felt)
struct starkware_utils::replaceability::EICData(eic_hash: class, eic_init_data: span<felt>)
enum core::option::Option::<starkware_utils::replaceability::EICData>(Some: starkware_utils::replaceability::EICData, None)
struct starkware_utils::replaceability::ImplementationData(impl_hash: class, eic_data: core::option::Option::<starkware_utils::replaceability::EICData>, final: bool)
struct privacy::actions::WriteOnce(storage_address: felt, values: span<felt>)
struct privacy::actions::Append(recipient_addr: address, ephemeral_pubkey: felt, enc_channel_key: felt, enc_sender_addr: felt)
struct privacy::actions::TransferFrom(from_addr: address, token: address, amount: u128)
struct privacy::actions::TransferTo(to_addr: address, token: address, amount: u128)
struct privacy::actions::EmitViewingKeySet(user_addr: address, public_key: felt, enc_private_key: privacy::events::EncPrivateKey)
struct privacy::actions::EmitWithdrawal(enc_user_addr: privacy::events::EncUserAddr, to_addr: address, token: address, amount: u128)
struct privacy::actions::EmitDeposit(user_addr: address, token: address, amount: u128)
struct privacy::actions::EmitOpenNoteCreated(enc_recipient_addr: privacy::events::EncUserAddr, token: address, note_id: felt)
struct privacy::actions::EmitEncNoteCreated(note_id: felt, packed_value: felt)
struct privacy::actions::Invoke(contract_address: address, calldata: span<felt>)
`

const poolActions = `WriteOnce: privacy::actions::WriteOnce, Append: privacy::actions::Append, TransferFrom: privacy::actions::TransferFrom, ` +
	`TransferTo: privacy::actions::TransferTo, EmitViewingKeySet: privacy::actions::EmitViewingKeySet, EmitWithdrawal: privacy::actions::EmitWithdrawal, ` +
	`EmitDeposit: privacy::actions::EmitDeposit, EmitOpenNoteCreated: privacy::actions::EmitOpenNoteCreated, ` +
	`EmitEncNoteCreated: privacy::actions::EmitEncNoteCreated, EmitNoteUsed: felt, Invoke: privacy::actions::Invoke`

const poolFunctions = `
interface privacy::interface::IPrivacyPool
view get_fee_amount() -> u128
view get_fee_collector() -> address
view get_version() -> felt
view get_proof_validity_blocks() -> u64
view is_paused() -> bool
view get_public_key(user_addr: address) -> felt
view nullifier_exists(nullifier: felt) -> bool
view get_note(note_id: felt) -> felt
external set_fee_amount(fee_amount: u128)
external set_fee_collector(fee_collector: address)
external pause()
external unpause()
external replace_to(implementation_data: starkware_utils::replaceability::ImplementationData)
constructor(governance_admin: address, auditor_public_key: felt)
`

const poolEventsV1 = `
event ViewingKeySet(user_addr: address key, public_key: felt key, enc_private_key: privacy::events::EncPrivateKey)
event Deposit(user_addr: address key, token: address key, amount: u128)
event Withdrawal(to_addr: address key, token: address key, enc_user_addr: privacy::events::EncUserAddr, amount: u128)
event OpenNoteCreated(token: address key, note_id: felt key, enc_recipient_addr: privacy::events::EncUserAddr)
event OpenNoteDeposited(depositor: address key, token: address key, note_id: felt key, amount: u128)
event EncNoteCreated(note_id: felt key, packed_value: felt)
event NoteUsed(nullifier: felt key)
event AuditorPublicKeySet(auditor_public_key: felt)
event FeeAmountSet(fee_amount: u128)
event FeeCollectorSet(fee_collector: address)
event ProofValidityBlocksSet(proof_validity_blocks: u64)
`

const poolComponents = `
component starkware_utils::components::pausable::PausableComponent PausableEvent
event Paused(account: address)
event Unpaused(account: address)
component starkware_utils::components::replaceability::ReplaceabilityComponent ReplaceabilityEvent
event ImplementationAdded(implementation_data: starkware_utils::replaceability::ImplementationData)
event ImplementationReplaced(implementation_data: starkware_utils::replaceability::ImplementationData)
component openzeppelin_access::accesscontrol::AccessControlComponent AccessControlEvent
event RoleGranted(role: felt, account: address, sender: address)
event RoleRevoked(role: felt, account: address, sender: address)
component
`

const poolV1Lines = `
contract privacy::privacy::Privacy` + poolTypes + poolFunctions + `
enum privacy::actions::ServerAction(` + poolActions + `)
external apply_actions(actions: span<action>)` + poolEventsV1 + poolComponents

const poolV2Lines = `
contract privacy::privacy::Privacy` + poolTypes + poolFunctions + `
struct privacy::screening::ScreeningAttestation(issued_at: u64, sig_r: felt, sig_s: felt)
enum core::option::Option::<privacy::screening::ScreeningAttestation>(Some: privacy::screening::ScreeningAttestation, None)
enum privacy::actions::ServerAction(` + poolActions + `, InvokeWithComputation: privacy::actions::Invoke)
external apply_actions(actions: span<action>, screening: core::option::Option::<privacy::screening::ScreeningAttestation>)` + poolEventsV1 + `
event ExternalContractInvoked(contract_address: address key, selector: felt key)
event ScreenerPublicKeySet(screener_public_key: felt)
event OpenNoteDepositorBlockSet(depositor: address key, blocked: bool)` + poolComponents

const poolV21Lines = `
contract privacy::privacy::Privacy` + poolTypes + poolFunctions + `
enum privacy::events::OpenNoteScreeningPolicy(Required, Exempt, Delegated)
struct privacy::screening::ScreeningAttestation(issued_at: u64, sig_r: felt, sig_s: felt)
enum core::option::Option::<privacy::screening::ScreeningAttestation>(Some: privacy::screening::ScreeningAttestation, None)
enum privacy::actions::ServerAction(` + poolActions + `, InvokeWithComputation: privacy::actions::Invoke)
external apply_actions(actions: span<action>, screening: core::option::Option::<privacy::screening::ScreeningAttestation>)` + poolEventsV1 + `
event ExternalContractInvoked(contract_address: address key, selector: felt key)
event ScreenerPublicKeySet(screener_public_key: felt)
event OpenNoteScreeningPolicySet(depositor: address key, policy: privacy::events::OpenNoteScreeningPolicy)` + poolComponents

const swapHelperLines = `
contract privacy_helpers::swap::SwapHelper
interface privacy_helpers::swap::IPrivacyInvoke
external privacy_invoke(calldata: span<felt>) -> span<felt>
`

// A contract without any standard, whose events look like a token's.
const junkLines = `
contract curious::emitter::Emitter
interface curious::emitter::IEmitter
external emit_anything(keys: span<felt>, data: span<felt>)
view owner() -> address
constructor(owner: address)
event Anything(value: felt)
`
