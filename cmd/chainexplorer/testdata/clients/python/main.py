"""Calls the API through a client that was generated from its document."""

import json
import os

from explorer.api.blocks import get_block
from explorer.api.events import search_events
from explorer.api.status import get_status
from explorer.api.tokens import get_token
from explorer.api.transactions import get_transaction
from explorer.client import AuthenticatedClient
from explorer.models import Block, Envelope, EventPage, Status, TokenSummary, Tx
from explorer.models.get_block_chain import GetBlockChain
from explorer.models.get_status_chain import GetStatusChain
from explorer.models.get_token_chain import GetTokenChain
from explorer.models.get_transaction_chain import GetTransactionChain
from explorer.models.search_events_chain import SearchEventsChain
from explorer.types import UNSET


def expect(answer, kind):
    if not isinstance(answer, kind):
        raise SystemExit(f"not a {kind.__name__}: {answer}")
    return answer


chain, token = os.environ["SERVICE_CHAIN"], os.environ["TOKEN"]
client = AuthenticatedClient(
    base_url=os.environ["SERVICE_BASE_URL"],
    token=os.environ["SERVICE_API_KEY"],
    prefix="",
    auth_header_name="X-Service-Api-Key",
    raise_on_unexpected_status=True,
)

status = expect(get_status.sync(GetStatusChain(chain), client=client), Status)
head = status.latest_indexed_block_number
block = expect(get_block.sync(GetBlockChain(chain), str(head), client=client, tx_limit=2), Block)
hashes = [tx.tx_hash for tx in block.transactions]
tx = expect(get_transaction.sync(GetTransactionChain(chain), hashes[0], client=client), Tx)
first = tx.logs[0]

events, cursor = [], UNSET
for _ in range(2):
    page = search_events.sync(
        SearchEventsChain(chain),
        client=client,
        address=[token, first.address],
        topic0=[first.topic0],
        limit=2,
        cursor=cursor,
    )
    page = expect(page, EventPage)
    events += [[e.tx_hash, e.log_index, e.event_name] for e in page.items]
    cursor = page.next_cursor
summary = expect(get_token.sync(GetTokenChain(chain), token, client=client), TokenSummary)
unknown = expect(get_transaction.sync(GetTransactionChain(chain), "0x1", client=client), Envelope)

print(
    json.dumps(
        {
            "chain": status.chain_id,
            "head": head,
            "lastFork": status.last_fork,
            "blockHash": block.block_hash,
            "time": int(block.timestamp_iso.timestamp()),
            "transactions": hashes,
            "fee": tx.receipt.actual_fee_amount,
            "type": tx.tx_type,
            "logs": tx.log_count,
            "events": events,
            "token": summary.token_address,
            "newest": summary.latest_transfer_block,
            "transfers": summary.transfer_count,
            "unknown": unknown.code,
        }
    )
)
