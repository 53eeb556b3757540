import { type Behaviour, type ReceivedRequest, respond, respondError } from './scripted-server.ts'

/** The time of the writer's clock. */
export const NOON = Date.parse('2026-03-01T12:00:00Z')

/** A bulk action on a document, with the expected sequence number and term. */
export interface BulkAction {
  name: 'index' | 'create'
  _id: string
  routing?: string
  if_seq_no?: number
  if_primary_term?: number
}

const NAMES: readonly string[] = ['index', 'create'] satisfies BulkAction['name'][]

/** The actions of a bulk in order. */
export function actionsOf({ body }: Pick<ReceivedRequest, 'body'>): BulkAction[] {
  return body.split('\n').flatMap((line) => {
    const [[name, address] = ['', {}]] = Object.entries(Object(JSON.parse(line || '{}')))
    return NAMES.includes(name) ? [{ name, ...Object(address) }] : []
  })
}

/** The read aliases. */
const READ = { 'orders-v1': { aliases: { orders: {}, 'orders-filterable': {} } } }

const VERSION_RECORDS = { 'order-heads-v1': { aliases: { 'order-heads': {} } } }

/** No document lacks a key. */
const COUNTED = { count: 0, _shards: { total: 1, successful: 1, failed: 0 } }

/** The response to a search in an empty index. */
const EMPTY = {
  timed_out: false,
  _shards: { total: 1, successful: 1, skipped: 0, failed: 0 },
  hits: { total: { value: 0 }, hits: [] },
  aggregations: { newest: { value: null } },
}

/**
 * The response to a written item, without its state: the cluster reports every document as missing.
 */
export const acceptedItem = ({ name, _id }: Pick<BulkAction, 'name' | '_id'>) => ({
  [name]: { _id, status: 200 },
})

/** Reports every document as missing. */
const respondNotFound: Behaviour = (response, request) => {
  const { docs } = JSON.parse(request.body) as { docs: { _id: string }[] }
  respond(200, { docs: docs.map(({ _id }) => ({ _id, found: false })) })(response, request)
}

/** Accepts every item of a bulk. */
export const acceptAll: Behaviour = (response, request) => {
  respond(200, { items: actionsOf(request).map(acceptedItem) })(response, request)
}

/**
 * A cluster that accepts every request of a writer; its bulks follow the script one by one.
 * It records bulks and fences.
 */
export function createScriptedCluster(bulks: Behaviour[]) {
  const events: string[] = []
  let lease: object | undefined
  let sequence = 0

  const replaceLease = (record: object) => {
    lease = record
    sequence += 1
    return respond(200, { _seq_no: sequence, _primary_term: 1 })
  }
  const writeLease: Behaviour = (response, request) => {
    const { searchParams } = new URL(request.path, 'http://x')
    const isKnown = Number(searchParams.get('if_seq_no') ?? 0) === sequence
    const reply = isKnown
      ? replaceLease(JSON.parse(request.body))
      : respondError(409, 'version_conflict_engine_exception')
    reply(response, request)
  }
  const readLease: Behaviour = (response, request) => {
    const found = { found: true, _seq_no: sequence, _primary_term: 1, _source: lease }
    const reply = lease === undefined ? respond(404, { found: false }) : respond(200, found)
    reply(response, request)
  }
  const bulk: Behaviour = (response, request) => {
    const behave = bulks.shift() ?? acceptAll
    events.push(`${request.path.split('/')[1]}: ${summary(request.body)}`)
    behave(response, request)
  }
  const swap: Behaviour = (response, request) => {
    events.push('fence')
    respond(200, { acknowledged: true })(response, request)
  }

  const behaviour: Behaviour = (response, request) => {
    const { method, path } = request
    if (path.includes('/_bulk')) return bulk(response, request)
    if (path.includes('/_mget')) return respondNotFound(response, request)
    if (path.startsWith('/writer')) {
      return method === 'GET' ? readLease(response, request) : writeLease(response, request)
    }
    if (path === '/_aliases') return swap(response, request)
    if (/^\/orders(-filterable)?\/_alias\//.test(path)) return respond(200, READ)(response, request)
    if (path.startsWith('/order-heads/_alias/'))
      return respond(200, VERSION_RECORDS)(response, request)
    if (path.includes('/_count')) return respond(200, COUNTED)(response, request)
    if (path.includes('/_refresh'))
      return respond(200, { _shards: { total: 1, successful: 1, failed: 0 } })(response, request)
    if (path.startsWith('/_nodes')) {
      return respond(200, { nodes: { n1: { timestamp: NOON } } })(response, request)
    }
    if (path.startsWith('/orders/_search')) return respond(200, EMPTY)(response, request)
    const body = path.startsWith('/_tasks') ? { nodes: { n1: { tasks: {} } } } : {}
    return respond(200, body)(response, request)
  }
  return {
    behaviour,
    events,
    lease: () => lease,
    /** Another process becomes the writer. */
    takeOver: () => replaceLease({ ...lease, holder: 'another writer' }),
  }
}

/** The items of a bulk: ids and write timestamps in ms after noon, negative for tombstones. */
function summary(body: string): string {
  const parts = body.split('\n').map((line) => {
    const {
      index,
      create,
      written_key: writtenKey,
      removed_key: removedKey,
    } = JSON.parse(line || '{}')
    const put = index ?? create
    if (put) return put._id
    if (removedKey !== undefined) return `@-${removedKey - NOON}`
    return writtenKey === undefined ? '' : `@${writtenKey - NOON}`
  })
  return parts.filter(Boolean).join(' ')
}
