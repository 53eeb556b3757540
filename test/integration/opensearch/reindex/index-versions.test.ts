import { expect, it } from 'vitest'
import { createIndexVersions } from '../../../../src/stores/opensearch/reindex/index-versions.ts'
import {
  GENEROUS_MS,
  names,
  useScriptedNodes,
} from '../../../support/stores/scripted/scripted-nodes.ts'
import { respond } from '../../../support/stores/scripted/scripted-server.ts'

const { serve, connect } = useScriptedNodes()

async function create(acknowledged: boolean): Promise<void> {
  const created = { acknowledged, shards_acknowledged: false, index: 'orders-v2' }
  const { url } = await serve(respond(200, created))
  const { client } = connect([url])
  await createIndexVersions({ client, names, deadlineMs: GENEROUS_MS }).create('orders-v2', 1)
}

// OpenSearch waits for no shard of an index that a frozen node has not acknowledged.
it.each([
  [false, 'a node of OpenSearch did not acknowledge orders-v2 in 10 s, and no writer writes to it'],
  [true, 'OpenSearch has not started every primary shard of orders-v2 in 10 s'],
])(
  'a new index that is not ready (acknowledged: %s) is reported with its reason',
  async (acknowledged, reason) => {
    await expect(create(acknowledged)).rejects.toThrow(reason)
  },
)
