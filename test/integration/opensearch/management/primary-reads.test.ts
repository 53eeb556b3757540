import { describe, expect, it } from 'vitest'
import { connectOpenSearch } from '../../../../src/stores/opensearch/client/client.ts'
import type { IndexTarget } from '../../../../src/stores/opensearch/client/search/document-search.ts'
import { createOpenSearchIdempotencyStore } from '../../../../src/stores/opensearch/management/idempotency-store.ts'
import { createOpenSearchSandboxStore } from '../../../../src/stores/opensearch/management/sandbox-store.ts'
import { GENEROUS_MS, useScriptedNodes } from '../../../support/stores/scripted/scripted-nodes.ts'
import { respond } from '../../../support/stores/scripted/scripted-server.ts'

const { serve } = useScriptedNodes()

const REQUEST = { id: 'i', bodyDigest: 'd', createdAt: 1, response: null }

const reads: [name: string, read: (target: IndexTarget) => Promise<unknown>][] = [
  ['an order of a sandbox', (target) => createOpenSearchSandboxStore(target).find('acc_1', 'o_1')],
  [
    'an idempotent request',
    (target) =>
      createOpenSearchIdempotencyStore(target).begin(REQUEST, { completed: 0, inProgress: 0 }),
  ],
]

describe('a read that decides a change', () => {
  it.each(reads)(
    'of %s is from the primary, since a replica may lack the write of a conflict',
    async (_what, read) => {
      const { url, received } = await serve(respond(404, { found: false }))
      const client = connectOpenSearch({ urls: [url] })
      // The write that follows a read is rejected.
      await Promise.allSettled([read({ client, index: 'documents', deadlineMs: GENEROUS_MS })])
      await client.close()
      const [request] = received
      expect(new URL(request?.path ?? '', url).searchParams.get('preference')).toBe('_primary')
    },
  )
})
