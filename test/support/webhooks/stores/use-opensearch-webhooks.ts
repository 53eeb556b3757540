import { afterAll, afterEach, beforeEach } from 'vitest'
import { type Backend, createBackend, opensearch } from '../../stores/backend.ts'
import { openOpenSearchWebhooks } from './opensearch-webhooks.ts'

type Opened = Awaited<ReturnType<typeof openOpenSearchWebhooks>>

/** Empty stores for webhooks, before each test of the file. */
export interface EachTestWebhooks {
  readonly stores: Opened
  /** The prefix of the name of every index. */
  readonly prefix: string
  /** Stops the periodic refreshes of an index, so that searches see its current content only. */
  freezeSearches(index: string): Promise<void>
  /** The ids of all documents that match, as a search finds them. */
  search(index: string, query: object): Promise<string[]>
  /** Changes a document with a script, and makes the change searchable. */
  damage(index: string, id: string, script: string): Promise<void>
}

/** Registers the hooks of {@link EachTestWebhooks}; the tests share a set of indices. */
export function useOpenSearchWebhooks(): EachTestWebhooks {
  let backend: Backend | undefined
  let stores: Opened
  const prefix = () => `${backend?.env['INDEX_PREFIX']}`
  const setRefreshInterval = (index: string, refresh_interval: string) =>
    opensearch('PUT', `${prefix()}${index}/_settings`, { index: { refresh_interval } })
  let frozen: string[] = []

  beforeEach(async () => {
    backend ??= createBackend()
    stores = await openOpenSearchWebhooks(backend)
  })
  afterEach(async () => {
    for (const index of frozen) await setRefreshInterval(index, '200ms')
    frozen = []
    await stores.close()
  })
  afterAll(async () => backend?.remove())

  return {
    get stores() {
      return stores
    },
    get prefix() {
      return prefix()
    },
    async freezeSearches(index) {
      await opensearch('POST', `${prefix()}${index}/_refresh`)
      await setRefreshInterval(index, '-1')
      frozen.push(index)
    },
    async search(index, query) {
      const { hits } = await opensearch<{ hits: { hits: { _id: string }[] } }>(
        'POST',
        `${prefix()}${index}/_search`,
        { size: 1_000, query },
      )
      return hits.hits.map(({ _id }) => _id).sort((one, other) => one.localeCompare(other))
    },
    async damage(index, id, source) {
      const path = `${prefix()}${index}/_update/${encodeURIComponent(id)}?refresh=true`
      await opensearch('POST', path, { script: { source } })
    },
  }
}
