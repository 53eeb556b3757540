import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { parseConfig } from '../../../../src/config/config.ts'
import { Unavailable } from '../../../../src/lib/errors/unavailable.ts'
import { openServices } from '../../../../src/services.ts'
import { assertSupportedVersion } from '../../../../src/stores/opensearch/client/supported-version.ts'
import { UnsupportedStore } from '../../../../src/stores/unsupported-store.ts'
import { createBackend } from '../../../support/stores/backend.ts'
import {
  compatibilityRoot,
  elasticsearchRoot,
  openSearchRoot,
  respondByPath,
} from '../../../support/stores/scripted/root-responses.ts'
import {
  GENEROUS_MS,
  thrownBy,
  useScriptedNodes,
} from '../../../support/stores/scripted/scripted-nodes.ts'
import {
  type Behaviour,
  reset,
  respond,
  respondError,
  respondText,
} from '../../../support/stores/scripted/scripted-server.ts'

const NEEDED = 'this service needs OpenSearch 2.19 or later'
const OTHER_ADDRESS = `${NEEDED}: set OPENSEARCH_URL to the address of such a cluster`
const UPGRADE = `${NEEDED}: upgrade the cluster, or set OPENSEARCH_URL to a newer one`

const { serve, connect } = useScriptedNodes()

/** Checks a node with this behaviour. */
async function check(behaviour: Behaviour): Promise<unknown> {
  const { url } = await serve(behaviour)
  return await thrownBy(assertSupportedVersion(connect([url]).client, GENEROUS_MS))
}

const nodes = (...versions: string[]) => ({
  '/': compatibilityRoot,
  '/_nodes/process': {
    nodes: Object.fromEntries(versions.map((version, at) => [`node-${at}`, { version }])),
  },
})

describe('the version of the cluster', () => {
  it('the cluster of these tests is supported', async () => {
    const backend = createBackend()
    const services = await openServices(parseConfig(backend.env))
    await services.assertSupported()
    await services.close()
    await backend.remove()
  })

  it.each(['2.19.0', '2.19.6', '2.20.0', '3.0.0', '3.9.0-SNAPSHOT', '4.0.0', '10.0.1'])(
    'OpenSearch %s is supported',
    async (number) => {
      expect(await check(respond(200, openSearchRoot(number)))).toBeUndefined()
    },
  )

  it.each([
    ['Elasticsearch 9.2.0', elasticsearchRoot('9.2.0'), OTHER_ADDRESS],
    ['Elasticsearch 8.19.8', elasticsearchRoot('8.19.8'), OTHER_ADDRESS],
    ['Elasticsearch 7.10.2', elasticsearchRoot('7.10.2'), OTHER_ADDRESS],
    ['OpenSearch 2.18.0', openSearchRoot('2.18.0'), UPGRADE],
    ['OpenSearch 1.3.20', openSearchRoot('1.3.20'), UPGRADE],
    ['another service', {}, OTHER_ADDRESS],
    ['another service', { version: '3.8.0', tagline: 5 }, OTHER_ADDRESS],
    ['OpenSearch of an unknown version', openSearchRoot(undefined), UPGRADE],
    ['OpenSearch of an unknown version', openSearchRoot('1.0.0\n\u001b[31mfalse'), UPGRADE],
  ])('%s is rejected in one sentence with the next step', async (found, root, step) => {
    const error = await check(respond(200, root))
    expect(error).toBeInstanceOf(UnsupportedStore)
    expect(error).toHaveProperty('message', `OPENSEARCH_URL leads to ${found}, and ${step}`)
  })

  it('a cluster that hides its version is judged by its oldest node', async () => {
    expect(await check(respondByPath(nodes('2.19.4', '3.8.0')))).toBeUndefined()
    const error = await check(respondByPath(nodes('2.19.4', '1.3.20')))
    expect(error).toHaveProperty(
      'message',
      `OPENSEARCH_URL leads to OpenSearch 1.3.20, and ${UPGRADE}`,
    )
  })

  it.each([
    ['401', respondError(401, 'security_exception')],
    ['403', respondError(403, 'security_exception')],
    ['404', respondError(404, 'not_found')],
  ])(
    'a cluster that responds %s does not reveal its version and is not rejected',
    async (_status, behaviour) => {
      expect(await check(behaviour)).toBeUndefined()
    },
  )

  it.each([
    ['resets connections', reset],
    ['has no cluster manager', respondError(503, 'cluster_block_exception')],
    ['is behind a proxy with an error page', respondText(200, '<html>', 'text/html')],
  ])('a cluster that %s is unavailable and not rejected', async (_what, behaviour) => {
    expect(await check(behaviour)).toBeInstanceOf(Unavailable)
  })
})

describe('a process that started while OpenSearch was unavailable', () => {
  let root: Behaviour
  let backend: ReturnType<typeof createBackend>
  beforeEach(() => {
    root = reset
    backend = createBackend()
  })
  afterEach(() => backend.remove())

  async function open() {
    const node = await serve((response, request) => root(response, request))
    const services = await openServices(parseConfig({ ...backend.env, OPENSEARCH_URL: node.url }))
    const versionRequests = () => node.received.filter(({ path }) => path === '/').length
    return { services, versionRequests }
  }

  it('its readiness and its writer reject a store that turns out to be Elasticsearch', async () => {
    const { services } = await open()
    expect(await thrownBy(services.keys.ping())).toBeInstanceOf(Unavailable)
    root = respondByPath({ '/': elasticsearchRoot('8.19.8') })
    expect(await thrownBy(services.keys.ping())).toBeInstanceOf(UnsupportedStore)
    expect(await thrownBy(services.openIndex())).toBeInstanceOf(UnsupportedStore)
    await services.close()
  })

  it('its readiness reads the version until it is known, and never again', async () => {
    const { services, versionRequests } = await open()
    expect(await thrownBy(services.keys.ping())).toBeInstanceOf(Unavailable)
    const failed = versionRequests()
    root = (response, request) => {
      const isRoot = request.path === '/'
      const found = isRoot ? respond(200, openSearchRoot('3.8.0')) : respond(404, { found: false })
      found(response, request)
    }
    await services.keys.ping()
    await services.keys.ping()
    expect(versionRequests()).toBe(failed + 1)
    await services.close()
  })
})
