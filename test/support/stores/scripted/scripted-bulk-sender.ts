import { BULK_FILTER_PATH } from '../../../../src/stores/opensearch/client/bulk/bulk-response.ts'
import type { BulkItem } from '../../../../src/stores/opensearch/write/bulk-item.ts'
import { createBulkSender } from '../../../../src/stores/opensearch/write/bulk-sender.ts'
import {
  type BulkTarget,
  createOptimisticConcurrency,
} from '../../../../src/stores/opensearch/write/optimistic-concurrency.ts'
import { createWrittenStates } from '../../../../src/stores/opensearch/write/written-states.ts'
import { acceptedItem, actionsOf } from './scripted-cluster.ts'
import { GENEROUS_MS, names, type ScriptedNodes, useScriptedNodes } from './scripted-nodes.ts'
import { type Behaviour, type ReceivedRequest, respond } from './scripted-server.ts'

/** The query of each bulk. */
export const QUERY = `require_alias=true&filter_path=${encodeURIComponent(BULK_FILTER_PATH.join())}`
export const FIRST_WRITE_TIMESTAMP = 1_000

/**
 * Registers the hooks that stop the scripted nodes of each test, and returns a function that starts
 * a bulk sender to one.
 */
export function useBulkSenders() {
  const nodes = useScriptedNodes()
  return (targets: string[], ...behaviours: Behaviour[]) =>
    startBulkSender(nodes, targets, behaviours)
}

/** A bulk sender with a lease of epoch 3 for these indices, to a scripted node. */
async function startBulkSender(
  { serve, connect }: ScriptedNodes,
  targets: string[],
  behaviours: Behaviour[],
) {
  const { url, received } = await serve(...behaviours)
  let writeTimestamp = FIRST_WRITE_TIMESTAMP - 1
  /** A test adds the indices of version records of a reindex. */
  const recordTargets: string[] = []
  const lease = {
    epoch: () => 3,
    writeTargets: () => targets,
    versionRecordTargets: () => recordTargets,
    hasPendingTargets: () => false,
    nextWriteTimestamp: async () => ++writeTimestamp,
    hasLiveWrites: () => false,
    recordLiveWrites: async () => {},
    lastWriteTimestamp: () => 0,
    fence: async () => {},
    release: async () => {},
  }
  const { client } = connect([url])
  const states = createOptimisticConcurrency()
  const known = createWrittenStates()
  const delays: string[] = []
  const sender = createBulkSender({
    client,
    names,
    lease,
    written: known,
    deadlineMs: GENEROUS_MS,
    onDelay: (reason) => delays.push(reason),
  })
  const send = (target: BulkTarget, items: readonly BulkItem[]) =>
    sender.send(target, items, states)
  return { send, lastWrite: sender.lastWrite, states, known, delays, received, recordTargets }
}

/** An item that contains its write timestamp; `padding` makes it larger. */
export const put = (_id: string, padding = ''): BulkItem => ({
  orderId: _id,
  address: { _id },
  source: (writeTimestamp) => JSON.stringify({ writeTimestamp, padding }),
})
export const remove = (_id: string): BulkItem => ({ orderId: _id, address: { _id } })

/** The sent items in order: id and write timestamp, negative for a tombstone. */
export function sent({ body }: ReceivedRequest): string[] {
  return body.split('\n').flatMap((line) => {
    if (line === '') return []
    const { writeTimestamp, removed_key: removedKey } = JSON.parse(line)
    if (removedKey !== undefined) return [`@-${removedKey}`]
    return writeTimestamp === undefined
      ? actionsOf({ body: line }).map(({ _id }) => _id)
      : [`@${writeTimestamp}`]
  })
}

export const written = (_id: string) => acceptedItem({ name: 'create', _id })
export const failed = (_id: string, status: number, type: string) => ({
  create: { _id, status, error: { type, reason: `why ${type}` } },
})
export const items = (...of: object[]) => respond(200, { took: 1, errors: true, items: of })
