import type { LoadRequest } from '../../measuring/load.ts'

/** Another search for the same page. */
interface SearchVariant {
  /** Derives it from the search of the service. */
  change(request: LoadRequest): LoadRequest
  /** Reads responses without the sources that the service reads. */
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
