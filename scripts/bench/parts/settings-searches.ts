import type { LoadRequest } from '../measuring/request.ts'

/** Another search for the same page. */
interface SearchVariant {
  /** Derives it from the search of the service. */
  change(request: LoadRequest): LoadRequest
  /** Reads responses that are not the JSON that the service reads. */
  readIds?(response: Buffer): string[]
}

/** The baseline: the search of the service, byte for byte. */
export const AS_THE_SERVICE = 'as the service searches'

/** The compared searches. The last repeats the baseline, so its difference is noise. */
export const searchVariants: Readonly<Record<string, SearchVariant>> = {
  [AS_THE_SERVICE]: { change: (request) => request },
  'no preference': { change: withQuery({ preference: undefined }) },
  'preference=_primary': { change: withQuery({ preference: '_primary' }) },
  'preference=_local': { change: withQuery({ preference: '_local' }) },
  'preference=account': { change: withQuery({ preference: 'account-acc_large' }) },
  'filter_path, what is read': {
    change: withQuery({ filter_path: 'hits.hits._source,hits.hits.sort,_shards,timed_out' }),
  },
  'filter_path=-took': { change: withQuery({ filter_path: '-took' }) },
  '_source, fields named': {
    change: withBody({ _source: ['account_id', 'id', 'shape', 'updated_key', 'order'] }),
  },
  'nothing stored, ids alone': {
    change: withBody({ stored_fields: '_none_', docvalue_fields: ['id'] }),
    readIds: sortIds,
  },
  'no range beside search_after': { change: withoutBound },
  track_total_hits: { change: withBody({ track_total_hits: true }) },
  'request_cache, all repeated': { change: withQuery({ request_cache: 'true' }) },
  'timeout=2s': { change: withQuery({ timeout: '2s' }) },
  CBOR: { change: withHeader('accept', 'application/cbor'), readIds: cborIds },
  'the same once more': { change: (request) => request },
}

/** Sets parameters of the path, or removes those that are undefined. */
function withQuery(changes: Readonly<Record<string, string | undefined>>) {
  return (request: LoadRequest): LoadRequest => {
    const [path = '', query] = request.path.split('?')
    const parameters = new URLSearchParams(query)
    for (const [name, value] of Object.entries(changes)) {
      if (value === undefined) parameters.delete(name)
      else parameters.set(name, value)
    }
    return { ...request, path: `${path}?${parameters}` }
  }
}

function withHeader(name: string, value: string) {
  return (request: LoadRequest): LoadRequest => {
    return { ...request, headers: { ...request.headers, [name]: value } }
  }
}

function withBody(changes: object) {
  return (request: LoadRequest) => rewritten(request, (body) => ({ ...body, ...changes }))
}

interface Body {
  query: { bool: { filter: readonly object[] } }
}

/** Leaves the position to `search_after`: OpenSearch then visits every order of the account. */
function withoutBound(request: LoadRequest): LoadRequest {
  return rewritten(request, (body) => {
    const filter = body.query.bool.filter.filter((clause) => !('range' in clause))
    return { ...body, query: { bool: { filter } } }
  })
}

function rewritten(request: LoadRequest, change: (body: Body) => object): LoadRequest {
  const body: Body = JSON.parse(`${request.body}`)
  return { ...request, body: Buffer.from(JSON.stringify(change(body))) }
}

function sortIds(response: Buffer): string[] {
  const { hits }: { hits: { hits: { sort: [number, string] }[] } } = JSON.parse(`${response}`)
  return hits.hits.map(({ sort: [, id] }) => id)
}

/** CBOR encodes a key as its length and its letters; this one occurs once in a hit. */
const DOCUMENT_ID = Buffer.from('\x63_id', 'latin1')
const SHORT_TEXT = 0x60
const TEXT_WITH_LENGTH = 0x78

/** Order ids from the `_id` of each hit, `account:order`, without decoding the rest. */
export function cborIds(answer: Buffer): string[] {
  const ids: string[] = []
  for (let at = answer.indexOf(DOCUMENT_ID); at >= 0; at = answer.indexOf(DOCUMENT_ID, at + 1)) {
    const head = at + DOCUMENT_ID.length
    const long = answer[head] === TEXT_WITH_LENGTH
    const length = long ? answer.readUInt8(head + 1) : answer.readUInt8(head) - SHORT_TEXT
    const start = head + (long ? 2 : 1)
    const id = answer.toString('utf8', start, start + length)
    ids.push(id.slice(id.indexOf(':') + 1))
  }
  return ids
}
