import type { Behaviour } from './scripted-server.ts'
import { respond, respondError } from './scripted-server.ts'

/** What a node of OpenSearch returns for `GET /`. */
export const openSearchRoot = (number: unknown) => ({
  name: 'node-1',
  cluster_name: 'orders',
  version: { distribution: 'opensearch', number, build_type: 'tar', lucene_version: '10.5.0' },
  tagline: 'The OpenSearch Project: https://opensearch.org/',
})

/** What a node of Elasticsearch returns for `GET /`. */
export const elasticsearchRoot = (number: string) => ({
  name: 'node-1',
  cluster_name: 'orders',
  version: { number, build_flavor: 'default', build_type: 'docker', lucene_version: '9.12.0' },
  tagline: 'You Know, for Search',
})

/** What OpenSearch returns for `GET /` with `compatibility.override_main_response_version`. */
export const compatibilityRoot = {
  name: 'node-1',
  cluster_name: 'orders',
  version: { number: '7.10.2', build_type: 'tar', lucene_version: '9.12.1' },
  tagline: 'The OpenSearch Project: https://opensearch.org/',
}

/** Returns these bodies by path, without the query; other paths have no index. */
export const respondByPath =
  (bodies: Readonly<Record<string, unknown>>): Behaviour =>
  (response, request) => {
    const body = bodies[request.path.replace(/\?.*/s, '')]
    const behaviour =
      body === undefined ? respondError(404, 'index_not_found_exception') : respond(200, body)
    behaviour(response, request)
  }
