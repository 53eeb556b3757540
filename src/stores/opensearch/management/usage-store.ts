import { sumUsage } from '../../../management/usage/sum-usage.ts'
import type { UsageCounters, UsageStore } from '../../../management/usage/usage-store.ts'
import { sendWrites } from '../client/bulk/send-writes.ts'
import { purgeMatching } from '../client/bulk/write-matching.ts'
import {
  type IndexTarget,
  refreshIndex,
  searchHits,
  searchPages,
  searchRaw,
} from '../client/search/document-search.ts'
import { storedObject } from './stored-object.ts'

/** The document of one key on one day in one run of a process. */
interface UsageSource {
  account_id: string
  day: string
  key_id: string
  last_used_at: number
  counters: UsageCounters
}

const FIELDS = [
  'day',
  'keyId',
  'accountId',
  'requests',
  'byStatus',
  'rateLimited',
  'lastUsedAt',
] as const
const PAGE_SIZE = 1_000
/** More keys of one account than any has. */
const MAX_KEYS = 10_000

/**
 * The counters of keys in a cluster. A read refreshes the index, so it sees every earlier write.
 */
export function createOpenSearchUsageStore(target: IndexTarget): UsageStore {
  return {
    async save(counters) {
      const writes = counters.map((counted) => {
        const { day, keyId, accountId, processId, requests, lastUsedAt } = counted
        const source: UsageSource = {
          account_id: accountId,
          day,
          key_id: keyId,
          last_used_at: lastUsedAt,
          counters: counted,
        }
        // The requests as the version, because a save that arrives late would undo a later one.
        const version = { version: requests, version_type: 'external' }
        return { action: { index: { _id: `${day}:${keyId}:${processId}`, ...version } }, source }
      })
      if (writes.length > 0) await sendWrites(target, writes)
    },
    async list({ accountId, fromDay, toDay }) {
      await refreshIndex(target)
      const days = { range: { day: { gte: fromDay, lte: toDay } } }
      const query = { bool: { filter: [{ term: { account_id: accountId } }, days] } }
      const found = new Map<string, UsageCounters>()
      for await (const page of searchPages(target, { query, sort: [], pageSize: PAGE_SIZE })) {
        for (const document of page) {
          // One that is saved meanwhile is found again on a later page.
          const counted = storedObject<UsageCounters>(target, document, 'counters', FIELDS)
          found.set(document.id, counted)
        }
      }
      return sumUsage([...found.values()])
    },
    async lastUsedAt(accountId) {
      await refreshIndex(target)
      const aggs = {
        keys: {
          terms: { field: 'key_id', size: MAX_KEYS },
          aggs: { last: { max: { field: 'last_used_at' } } },
        },
      }
      const query = { term: { account_id: accountId } }
      const { aggregations } = await searchRaw(target, { size: 0, query, aggs })
      const { buckets = [] } = Object(aggregations?.['keys']) as LastUseBuckets
      return new Map(buckets.map(({ key, last }) => [key, last.value]))
    },
    async purge(beforeDay) {
      await refreshIndex(target)
      const query = { range: { day: { lt: beforeDay } } }
      const sort = [{ day: 'asc' }]
      const [oldest] = await searchHits(target, { size: 1, query, sort, _source: ['day'] })
      if (oldest === undefined) return
      await purgeMatching(target, { term: { day: (oldest.source as UsageSource).day } })
    },
  }
}

interface LastUseBuckets {
  buckets?: { key: string; last: { value: number } }[]
}
