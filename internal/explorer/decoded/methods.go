package decoded

import "chainexplorer/internal/felt"

// methodNames are functions whose selectors are well known: the standards of
// tokens and accounts, the universal deployers, and what exchanges, bridges and
// lenders have in common. A selector is the hash of a name, so that the name is
// certain; what a contract does under it is not.
var methodNames = func() map[felt.Felt]string {
	out := map[felt.Felt]string{}
	for _, name := range []string{
		// tokens
		"transfer", "transferFrom", "transfer_from", "approve", "increase_allowance", "increaseAllowance", "decrease_allowance", "decreaseAllowance",
		"mint", "burn", "permissioned_mint", "permissionedMint", "permissioned_burn", "permissionedBurn", "safe_mint", "safeMint",
		"safe_transfer_from", "safeTransferFrom", "safe_batch_transfer_from", "safeBatchTransferFrom", "set_approval_for_all", "setApprovalForAll",
		"balance_of", "balanceOf", "total_supply", "totalSupply", "permit", "delegate", "wrap", "unwrap",
		// accounts
		"__execute__", "__validate__", "__validate_deploy__", "__validate_declare__", "constructor", "initialize", "initializer", "upgrade",
		"set_public_key", "setPublicKey", "change_owner", "change_guardian", "trigger_escape_owner", "trigger_escape_guardian",
		"execute_from_outside", "execute_from_outside_v2", "execute_from_outside_v3", "execute", "execute_calls",
		// deployers
		"deployContract", "deploy_contract",
		// exchanges
		"swap", "multi_swap", "multihop_swap", "multi_multihop_swap", "multi_route_swap", "swap_exact_token_to", "clear", "clear_minimum",
		"swap_exact_tokens_for_tokens", "swap_tokens_for_exact_tokens", "swapExactTokensForTokens", "swapTokensForExactTokens",
		"add_liquidity", "addLiquidity", "remove_liquidity", "removeLiquidity", "withdraw_liquidity", "collect_fees", "lock", "locked",
		"mint_and_deposit", "mint_and_deposit_and_clear_both", "deposit_liquidity", "create_pool", "initialize_pool", "maybe_initialize_pool",
		// bridges
		"initiate_withdraw", "initiate_token_withdraw", "handle_deposit", "handle_token_deposit", "handle_deposit_with_message",
		"handle_token_deployment", "deposit_for_burn", "receive_message",
		// lending, staking, rewards
		"deposit", "withdraw", "withdraw_all", "redeem", "borrow", "repay", "repay_all", "supply", "liquidate", "modify_position",
		"enable_collateral", "disable_collateral", "flash_loan", "claim", "claim_rewards", "stake", "unstake", "unstake_intent", "unstake_action",
		"enter_delegation_pool", "add_to_delegation_pool", "exit_delegation_pool_intent", "exit_delegation_pool_action",
		"increase_stake", "harvest", "vote", "propose", "queue", "cancel",
		// roles
		"transfer_ownership", "transferOwnership", "renounce_ownership", "renounceOwnership", "accept_ownership", "grant_role", "grantRole",
		"revoke_role", "revokeRole", "pause", "unpause",
	} {
		out[felt.Selector(name)] = name
	}
	return out
}()
