import { inspect } from 'node:util'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { Unavailable } from '../../../../src/lib/errors/unavailable.ts'
import { RequestRejectedError } from '../../../../src/stores/opensearch/client/errors.ts'
import {
  type Connected,
  SHORT_MS,
  thrownBy,
  useScriptedNodes,
} from '../../../support/stores/scripted/scripted-nodes.ts'
import {
  type Behaviour,
  endInBody,
  reset,
  resetInBody,
  respondError,
  respondText,
  stall,
  stallAfterHeaders,
  stallInBody,
  unreachableUrl,
} from '../../../support/stores/scripted/scripted-server.ts'

const { serve, connect } = useScriptedNodes()
afterEach(() => {
  vi.restoreAllMocks()
})

/** Every read operation of the order store, and one write. */
const operations: [name: string, work: (connected: Connected) => Promise<unknown>][] = [
  ['a page', ({ findPage }) => findPage()],
  ['the last write', ({ latestWrite }) => latestWrite()],
  ['one order', ({ get }) => get()],
  ['a write', ({ write }) => write()],
]

/** Failures of the network, a node or a proxy; each becomes a 503. */
const silent: [name: string, behaviour: Behaviour][] = [
  ['stalls before the headers', stall],
  ['stalls after the headers', stallAfterHeaders],
  ['stalls in the middle of the body', stallInBody],
]
const failing: [name: string, behaviour: Behaviour][] = [
  ['resets the connection', reset],
  ['resets the connection in the middle of the body', resetInBody],
  ['closes the connection in the middle of the body', endInBody],
  ['responds with truncated JSON', respondText(200, '{"timed_out":false,"_sha')],
  ['responds with a page of HTML', respondText(200, '<html>It works!</html>', 'text/html')],
  ['responds with HTML for JSON', respondText(200, '<html>It works!</html>')],
  ['responds with nothing', respondText(200, '')],
  ['responds with null', respondText(200, 'null')],
  ['lacks the index', respondError(404, 'index_not_found_exception')],
  ['responds 429', respondError(429, 'rejected_execution_exception')],
  ['responds 500', respondError(500, 'null_pointer_exception')],
  ['responds 502 with a page', respondText(502, '<html>Bad gateway</html>', 'text/html')],
  ['responds 503', respondError(503, 'cluster_block_exception')],
  ['has closed the index', respondError(400, 'index_closed_exception')],
  ['responds 504 with nothing', respondText(504, '')],
]
const rejecting: [name: string, behaviour: Behaviour][] = [
  ['responds 400', respondError(400, 'parsing_exception')],
  ['responds 401', respondError(401, 'security_exception')],
  ['responds 401 with a text', respondText(401, 'Unauthorized', 'text/plain')],
  ['responds 403', respondError(403, 'security_exception')],
]

describe.each(operations)('%s', (_name, work) => {
  it.each(silent)(
    'the operation fails as unavailable within its deadline from a node that %s',
    async (_what, behaviour) => {
      const { url, received } = await serve(behaviour)
      const error = await thrownBy(work(connect([url], { deadlineMs: SHORT_MS })))
      expect(error).toBeInstanceOf(Unavailable)
      expect(String(error)).toContain(`no complete response in ${SHORT_MS} ms`)
      expect(received.length).toBeLessThanOrEqual(1)
    },
  )

  it.each(failing)(
    'the operation fails as unavailable from a node that %s',
    async (_what, behaviour) => {
      const { url } = await serve(behaviour)
      expect(await thrownBy(work(connect([url])))).toBeInstanceOf(Unavailable)
    },
  )

  it.each(rejecting)('the operation is rejected by a node that %s', async (_what, behaviour) => {
    const { url, received } = await serve(behaviour)
    expect(await thrownBy(work(connect([url])))).toBeInstanceOf(RequestRejectedError)
    expect(received).toHaveLength(1)
  })

  it('the operation fails as unavailable when no node listens', async () => {
    expect(await thrownBy(work(connect([await unreachableUrl()])))).toBeInstanceOf(Unavailable)
  })

  it.each([...silent, ...failing, ...rejecting])(
    'the error logs nothing and holds no credentials from a node that %s',
    async (_what, behaviour) => {
      const printed = vi.spyOn(process.stdout, 'write')
      const logged = vi.spyOn(console, 'log')
      const { url } = await serve(behaviour)
      const credentials = url.replace('//', '//us%40er:hunter2@')
      const error = await thrownBy(work(connect([credentials], { deadlineMs: SHORT_MS })))
      const text = inspect(error, { depth: 10, showHidden: true })
      const secrets = ['us@er', 'us%40er', 'hunter2', btoa('us@er:hunter2')]
      expect(secrets.filter((secret) => text.includes(secret))).toEqual([])
      expect([printed.mock.calls, logged.mock.calls]).toEqual([[], []])
    },
  )
})
