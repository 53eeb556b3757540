import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { startCommand, startInProcess } from '../../support/cli/command.ts'
import { type Backend, createBackend } from '../../support/stores/backend.ts'
import { elasticsearchRoot, respondByPath } from '../../support/stores/scripted/root-responses.ts'
import { type ScriptedServer, startServer } from '../../support/stores/scripted/scripted-server.ts'

const REFUSED =
  'OPENSEARCH_URL leads to Elasticsearch 9.2.0, and this service needs OpenSearch 2.19 or later: set OPENSEARCH_URL to the address of such a cluster\n'

let elasticsearch: ScriptedServer
let backend: Backend
let env: Record<string, string>
beforeAll(async () => {
  elasticsearch = await startServer([respondByPath({ '/': elasticsearchRoot('9.2.0') })])
  backend = createBackend()
  env = { ...backend.env, OPENSEARCH_URL: elasticsearch.url, PORT: '0', OPERATIONS_PORT: '0' }
})
afterAll(async () => {
  await elasticsearch.close()
  await backend.remove()
})

describe('a command on Elasticsearch', () => {
  it.each([
    [['serve']],
    [['serve', '--demo']],
    [['keys', 'create', '--account', 'acc_1']],
    [['keys', 'list', '--account', 'acc_1']],
    [['accounts', 'block', 'acc_1']],
    [['audit', 'list']],
    [['index', 'init']],
    [['index', 'init', '--after-loss']],
    [['index', 'load', '-']],
    [['index', 'watch']],
    [['index', 'reindex', '--rollback']],
    [['index', 'check']],
    [['index', 'status']],
    [['webhooks', 'deliver']],
  ])('the command %j ends with one sentence and writes nothing', async (args) => {
    const command = startInProcess(args, env)
    onTestFinished(() => command.sendSignal('SIGTERM')) // A service that starts would never end.
    await expect.poll(() => command.output().stderr).toContain(REFUSED)
    const { code, stdout, stderr } = await command.finished
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    // On a busy machine, Redis may exceed its deadline first, which the server logs.
    expect(stderr.slice(-REFUSED.length)).toBe(REFUSED)
    const methods = new Set(elasticsearch.received.map(({ method }) => method))
    expect([...methods].filter((method) => !['GET', 'HEAD'].includes(method))).toEqual([])
  })

  it('a server of several processes ends with the same sentence', async () => {
    const child = startCommand(['serve'], { ...env, WORKERS: '2' })
    onTestFinished(() => void child.kill())
    let stderr = ''
    child.stderr.on('data', (chunk) => (stderr += chunk))
    await expect.poll(() => stderr).toContain(REFUSED)
    if (child.exitCode === null) await once(child, 'exit')
    expect(child.exitCode).toBe(1)
  })
})
